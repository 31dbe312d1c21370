#include "engine/agreement.h"

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <limits>

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
    case Call::kAdjoint:
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
    case Call::kAdjoint:
      return " (after an adjoint step)";
    default:
      return "";
  }
}

// What is said between collective calls takes no memory that could be lacking.
struct Line {
  char line[900];
};
[[gnu::format(printf, 1, 2)]] Line text(const char* format, ...) {
  Line result;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(result.line, sizeof result.line, format, arguments);
  va_end(arguments);
  return result;
}

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char said[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, said, &length);
  throw Error(ANADROME_ERR_PEER, text("%s failed: %s", what, static_cast<const char*>(said)).line);
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

  if (slots[kCall] != ~slots[kNotCall]) {
    throw_different_calls(input.call, {~slots[kNotCall], slots[kCall]});
  }
  if (slots[kFailing] > 0) {
    throw error_of(size_ - static_cast<int>(slots[kFailing]), input.failure);
  }
  if (slots[kEqual] != ~slots[kNotEqual]) {
    throw Error(
        ANADROME_ERR_ARGUMENT,
        text("%s differs between ranks: from %lld to %lld", input.equal_name,
             static_cast<long long>(~slots[kNotEqual]), static_cast<long long>(slots[kEqual]))
            .line);
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
    output.lost = Failure(error_of(size_ - static_cast<int>(slots[kLost]), input.lost));
  }
  return output;
}

// One rank's, with its number, for all.
Error Agreement::error_of(int rank, const Failure& mine) {
  struct Wire {
    std::int32_t status;
    char text[700];
  } wire{};
  if (rank == rank_) {
    wire.status = mine.status;
    std::snprintf(wire.text, sizeof wire.text, "%s", mine.message.c_str());
  }
  require(MPI_Bcast(&wire, sizeof wire, MPI_BYTE, rank, comm_.get()), "MPI_Bcast");
  const auto status = static_cast<anadrome_status>(wire.status);
  if (size_ == 1) return {status, wire.text};
  return {status, text("rank %d: %s", rank, static_cast<const char*>(wire.text)).line};
}

// Every rank is here, because every rank saw the same extremes.
void Agreement::throw_different_calls(Call call, const std::array<std::int64_t, 2>& extremes) {
  broken_ = true;
  const auto mine = static_cast<std::int64_t>(call);
  // The lowest rank in the first call and in the last one.
  std::array<int, 2> ranks{};
  for (std::size_t i = 0; i < 2; ++i) ranks[i] = mine == extremes[i] ? size_ - rank_ : 0;
  require(MPI_Allreduce(MPI_IN_PLACE, ranks.data(), 2, MPI_INT, MPI_MAX, comm_.get()),
          "MPI_Allreduce");
  const std::size_t other = mine == extremes[0] ? 1 : 0;
  throw Error(ANADROME_ERR_PEER,
              text("rank %d is in %s%s while rank %d is in %s%s", size_ - ranks[other],
                   name_of(extremes[other]), moment_of(extremes[other]), rank_, name_of(mine),
                   moment_of(mine))
                  .line);
}

}  // namespace anadrome::engine
