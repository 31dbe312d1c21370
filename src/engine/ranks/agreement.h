// SPDX-License-Identifier: BSD-2-Clause
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
#include <functional>
#include <optional>
#include <vector>

#include "base/error.h"
#include "engine/ranks/ranks.h"
#include "store/directory/process_identity.h"

namespace anadrome::engine {

enum class Call : std::int64_t {
  kBegin = 1,
  kAnchor,
  kRestore,
  kTurn,
  kDone,
  kRewind,
  kPass,
  kClose,
  kAdjoint,
  kGoOn,
  kCheck,
  kAudit,
  kPreflight,
  kSolve
};

class Agreement {
 public:
  /// Duplicates `comm`. Collective.
  explicit Agreement(MPI_Comm comm);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  /// An agreement of other ranks than MPI's, which outlive it: nobody is named who is late.
  explicit Agreement(Ranks& ranks) : ranks_(&ranks) {}

  /// The numbers that a sweep agrees on, in the order of AgreedNumbers.
  using Numbers = std::array<double, 17>;

  /// One rank's part of an agreement.
  struct Input {
    Call call = Call::kBegin;
    Failure failure;              ///< the failure of this rank since the last agreement
    bool stop = false;            ///< anadrome_request_stop
    std::int64_t equal = 0;       ///< must be the same on all ranks ...
    const char* equal_name = "";  ///< ... being this
    Numbers largest = {};         ///< not negative; the maximum over ranks comes back
    std::int64_t smallest = 0;    ///< the minimum over ranks comes back
    enum class Commit : std::int64_t { kNotDue, kDue, kBusy };
    Commit commit = Commit::kNotDue;  ///< the largest comes back
    std::int64_t committed = 0;       ///< the smallest comes back
    bool hold_stop = false;           ///< a stop comes back instead of being thrown
    Failure lost = {};  ///< why this rank could not store or restore: no failure of the call
  };
  struct Output {
    Input::Commit commit = Input::Commit::kNotDue;
    std::int64_t committed = 0;
    bool stop = false;
    Failure lost;  ///< the loss of the lowest rank that has one, with that rank
    Numbers largest = {};
    std::int64_t smallest = 0;
  };

  /// Collective. Throws the same Error on every rank if any rank brought a failure (its status, and
  /// its message with the rank, and its host where there are several), a stop, another call
  /// (ERR_PEER) or another value of `equal`.
  Output agree(const Input& input);

  /// From now on call_roll says who is late: the rank above it in a tree (of rank 0, rank 1) calls
  /// `late` from time to time with each rank that is not there after `seconds`, until that returns
  /// true, and then once more when it came. 0: nobody does.
  using Late = std::function<bool(int rank, double seconds, bool came)>;
  void set_patience(double seconds, Late late);
  /// Wait until the ranks below this one are here. Collective; the first agreement begins with it.
  void call_roll();

  /// Ranks were in different calls: no communication is possible any more.
  bool broken() const { return broken_; }
  std::int64_t count() const { return count_; }
  double seconds() const { return seconds_; }
  MPI_Comm comm() const { return mpi_ ? mpi_->comm() : MPI_COMM_NULL; }
  MPI_Comm node() { return mpi_ ? mpi_->node() : MPI_COMM_NULL; }
  /// For what all ranks reckon together beside agreements.
  Ranks& ranks() { return *ranks_; }
  int rank() const { return ranks_->rank(); }
  int size() const { return ranks_->size(); }
  /// The process of another rank, where it is known: rank 0 knows all, the others rank 0 and those
  /// that they wait for. Any thread may ask.
  store::ProcessIdentity process_of(int rank) const;

 private:
  /// A rank as rank 0 knows each: small, for there may be many.
  struct Process {
    std::uint64_t machine;
    std::int64_t pid, start;
    std::array<char, 40> host;
    std::int64_t several_hosts;  ///< rank 0's says whether the ranks are on several
  };

  void introduce();
  void introduce_below(const Process& mine);
  void name_the_late();
  Error error_of(int whose, const Failure& mine);
  [[noreturn]] void throw_different_calls(Call call, const std::array<std::int64_t, 2>& extremes);

  std::optional<MpiRanks> mpi_;  ///< in place: a rank without memory must get as far as the others
  Ranks* ranks_;
  bool broken_ = false;
  std::int64_t count_ = 0;
  double seconds_ = 0;
  double patience_ = 0;
  Late late_;
  store::ProcessIdentity self_;
  bool several_hosts_ = false;
  std::vector<Process> processes_;  ///< of all, on rank 0; of rank 0 and those below on the others
  // call_roll's, made beforehand: it must not lack memory where the others wait.
  struct Awaited {
    int rank;
    MPI_Request arrival;
    bool named;
  };
  std::vector<Awaited> awaited_;
};

}  // namespace anadrome::engine
