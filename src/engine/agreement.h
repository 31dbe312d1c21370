// How ranks agree: one all-reduce on the run's private communicator, the same for every kind of
// call, so that ranks in different calls meet in it and learn so instead of waiting for each other
// for ever.
//
// A failure met by one rank between agreements is handed in at the next one and thrown there on
// all. Nothing here takes memory from the heap: an agreement must be reached, and come out the same
// on all ranks, where one of them has none left.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/handles.h"

namespace anadrome::engine {

enum class Call : std::int64_t {
  kBegin = 1,
  kAnchor,
  kRestore,
  kTurn,
  kDone,
  kRewind,
  kClose,
  kAdjoint
};

class Agreement {
 public:
  /// Duplicates `comm`. Collective.
  explicit Agreement(MPI_Comm comm);

  /// What a rank brings.
  struct Input {
    Call call = Call::kBegin;
    Failure failure;                     ///< what this rank met since the last agreement
    bool stop = false;                   ///< anadrome_request_stop
    std::int64_t equal = 0;              ///< must be the same on all ranks ...
    const char* equal_name = "";         ///< ... being this
    std::array<double, 6> largest = {};  ///< not negative; the maximum over ranks comes back
    std::int64_t smallest = 0;           ///< the minimum over ranks comes back
    enum class Commit : std::int64_t { kNotDue, kDue, kBusy };
    Commit commit = Commit::kNotDue;  ///< the largest comes back
    std::int64_t committed = 0;       ///< the smallest comes back
    bool hold_stop = false;           ///< a stop comes back instead of being thrown
    Failure lost = {};  ///< what this rank could not store or restore: no failure of the call
  };
  struct Output {
    Input::Commit commit = Input::Commit::kNotDue;
    std::int64_t committed = 0;
    bool stop = false;
    Failure lost;  ///< of the lowest rank that lost something, with that rank
    std::array<double, 6> largest = {};
    std::int64_t smallest = 0;
  };

  /// Collective. Throws the same Error on every rank if any rank brought a failure (its status, and
  /// its message with the rank), a stop, another call (ERR_PEER) or another value of `equal`.
  Output agree(const Input& input);

  /// Ranks were in different calls: no communication is possible any more.
  bool broken() const { return broken_; }
  std::int64_t count() const { return count_; }
  double seconds() const { return seconds_; }
  MPI_Comm comm() const { return comm_.get(); }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  Error error_of(int rank, const Failure& mine);
  [[noreturn]] void throw_different_calls(Call call, const std::array<std::int64_t, 2>& extremes);

  Communicator comm_;
  int rank_ = 0;
  int size_ = 1;
  bool broken_ = false;
  std::int64_t count_ = 0;
  double seconds_ = 0;
};

}  // namespace anadrome::engine
