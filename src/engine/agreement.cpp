#include "engine/agreement.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "base/clock.h"

namespace anadrome::engine {
namespace {

const char* name_of(std::int64_t call) {
  switch (static_cast<Call>(call)) {
    case Call::kBegin:
      return "anadrome_begin";
    case Call::kRewind:
      return "anadrome_rewind";
    case Call::kClose:
      return "anadrome_close";
    case Call::kAnchor:
    case Call::kRestore:
    case Call::kTurn:
    case Call::kDone:
      return "anadrome_next";
  }
  return "another call";
}

const char* moment_of(std::int64_t call) {
  switch (static_cast<Call>(call)) {
    case Call::kAnchor:
      return " (at an anchor)";
    case Call::kRestore:
      return " (at a restore)";
    case Call::kTurn:
      return " (at TURN)";
    case Call::kDone:
      return " (at DONE)";
    default:
      return "";
  }
}

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ANADROME_ERR_PEER, std::string(what) + " failed: " + text);
}

}  // namespace

Agreement::Agreement(MPI_Comm comm) {
  MPI_Comm duplicate = MPI_COMM_NULL;
  require(MPI_Comm_dup(comm, &duplicate), "MPI_Comm_dup");
  comm_ = Communicator(duplicate);
  MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN);
  MPI_Comm_rank(duplicate, &rank_);
  MPI_Comm_size(duplicate, &size_);
}

Agreement::Output Agreement::agree(const Input& input) {
  if (broken_) {
    throw Error(ANADROME_ERR_PEER,
                "the ranks of this run were in different calls; only close is left");
  }
  const AddTime time(seconds_);
  ++count_;
  // One maximum serves all: the minimum of a value is the maximum of its complement, the order of
  // non-negative doubles is that of their bits, and the lowest failing rank has the highest size -
  // rank.
  enum Slot {
    kCall,
    kNotCall,
    kEqual,
    kNotEqual,
    kStop,
    kFailing,
    kLost,
    kCommit,
    kNotCommitted,
    kLargest,
    kSmallest = kLargest + std::tuple_size_v<decltype(Input::largest)>,
    kSlots
  };
  std::array<std::int64_t, kSlots> slots{};
  slots[kCall] = static_cast<std::int64_t>(input.call);
  slots[kNotCall] = ~slots[kCall];
  slots[kEqual] = input.equal;
  slots[kNotEqual] = ~input.equal;
  slots[kStop] = input.stop ? 1 : 0;
  slots[kFailing] = input.failure ? size_ - rank_ : 0;
  slots[kCommit] = static_cast<std::int64_t>(input.commit);
  slots[kNotCommitted] = ~input.committed;
  slots[kLost] = input.lost ? size_ - rank_ : 0;
  for (std::size_t i = 0; i < input.largest.size(); ++i) {
    slots[kLargest + i] = std::bit_cast<std::int64_t>(std::max(input.largest[i], 0.0));
  }
  slots[kSmallest] = ~input.smallest;
  require(MPI_Allreduce(MPI_IN_PLACE, slots.data(), kSlots, MPI_INT64_T, MPI_MAX, comm_.get()),
          "MPI_Allreduce");

  if (slots[kCall] != ~slots[kNotCall]) throw_different_calls(input.call);
  if (slots[kFailing] > 0) {
    const Failure failure = failure_of(size_ - static_cast<int>(slots[kFailing]), input.failure);
    throw Error(failure.status, failure.message);
  }
  if (slots[kEqual] != ~slots[kNotEqual]) {
    throw Error(ANADROME_ERR_ARGUMENT,
                std::string(input.equal_name) + " differs between ranks: from " +
                    std::to_string(~slots[kNotEqual]) + " to " + std::to_string(slots[kEqual]));
  }
  if (slots[kStop] > 0 && !input.hold_stop) {
    throw Error(ANADROME_STOPPED, "stopped: a rank called anadrome_request_stop");
  }
  Output output;
  for (std::size_t i = 0; i < output.largest.size(); ++i) {
    output.largest[i] = std::bit_cast<double>(slots[kLargest + i]);
  }
  output.smallest = ~slots[kSmallest];
  output.stop = slots[kStop] > 0;
  output.commit = static_cast<Input::Commit>(slots[kCommit]);
  output.committed = ~slots[kNotCommitted];
  if (slots[kLost] > 0) {
    output.lost = failure_of(size_ - static_cast<int>(slots[kLost]), input.lost);
  }
  return output;
}

// One rank's, with its number, for all.
Failure Agreement::failure_of(int rank, const Failure& mine) {
  struct Wire {
    std::int32_t status;
    char text[700];
  } wire{};
  if (rank == rank_) {
    wire.status = mine.status;
    std::strncpy(wire.text, mine.message.c_str(), sizeof wire.text - 1);
  }
  require(MPI_Bcast(&wire, sizeof wire, MPI_BYTE, rank, comm_.get()), "MPI_Bcast");
  const std::string where = size_ > 1 ? "rank " + std::to_string(rank) + ": " : "";
  return {static_cast<anadrome_status>(wire.status), where + wire.text};
}

// Every rank is here, because every rank saw the same maximum.
void Agreement::throw_different_calls(Call call) {
  broken_ = true;
  std::vector<std::int64_t> calls(static_cast<std::size_t>(size_));
  auto mine = static_cast<std::int64_t>(call);
  require(MPI_Allgather(&mine, 1, MPI_INT64_T, calls.data(), 1, MPI_INT64_T, comm_.get()),
          "MPI_Allgather");
  const auto other =
      std::find_if(calls.begin(), calls.end(), [&](std::int64_t c) { return c != mine; });
  throw Error(ANADROME_ERR_PEER, "rank " + std::to_string(other - calls.begin()) + " is in " +
                                     name_of(*other) + moment_of(*other) + " while rank " +
                                     std::to_string(rank_) + " is in " + name_of(mine) +
                                     moment_of(mine));
}

}  // namespace anadrome::engine
