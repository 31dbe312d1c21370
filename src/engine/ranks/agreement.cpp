// SPDX-License-Identifier: BSD-2-Clause
#include "engine/ranks/agreement.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <span>
#include <thread>
#include <utility>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/index.h"

namespace anadrome::engine {
namespace {

const char* name_of(std::int64_t call) {
  switch (static_cast<Call>(call)) {
    case Call::kBegin:
      return "anadrome_begin";
    case Call::kRewind:
      return "anadrome_rewind";
    case Call::kPass:
      return "anadrome_pass";
    case Call::kClose:
      return "anadrome_close";
    case Call::kCheck:
      return "anadrome_check_gradient";
    case Call::kSolve:
      return "anadrome_solve";
    case Call::kAnchor:
    case Call::kRestore:
    case Call::kTurn:
    case Call::kDone:
    case Call::kAdjoint:
    case Call::kGoOn:
    case Call::kAudit:
    case Call::kPreflight:
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
    case Call::kGoOn:
      return " (the first of a resumed run)";
    case Call::kAudit:
      return " (at an audit)";
    case Call::kPreflight:
      return " (at the preflight)";
    default:
      return "";
  }
}

// A message between collective calls takes no memory that could be lacking.
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

// The roll is called in a tree, so that nobody has to hear all.
constexpr int kBranches = 4;
constexpr int kRollTag = 1;
int above(int rank) { return (rank - 1) / kBranches; }
int first_below(int rank) { return rank * kBranches + 1; }

}  // namespace

Agreement::Agreement(MPI_Comm comm) : mpi_(comm), ranks_(&*mpi_) { introduce(); }

void Agreement::introduce() {
  const Failure failure = failure_from([&] {
    const int first = first_below(rank());
    for (int other = first; other < std::min(first + kBranches, size()); ++other)
      awaited_.push_back({other, MPI_REQUEST_NULL, false});
    processes_.resize(rank() == 0 ? anadrome::size(size()) : 1 + awaited_.size());
    if (rank() == 1) awaited_.push_back({0, MPI_REQUEST_NULL, false});
    self_ = store::this_process();
  });
  int failed = failure ? 1 : 0;
  require_mpi(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm()), "MPI_Allreduce");
  if (failed != 0) throw Error(ANADROME_ERR_MEMORY, "open: a rank is out of memory");
  Process mine{hash_of(self_.machine), self_.pid, self_.start, {}, 0};
  std::snprintf(mine.host.data(), mine.host.size(), "%s", self_.host.c_str());
  require_mpi(
      MPI_Gather(&mine, sizeof mine, MPI_BYTE, processes_.data(), sizeof mine, MPI_BYTE, 0, comm()),
      "MPI_Gather");
  const bool differ = std::any_of(processes_.begin(), processes_.end(),
                                  [&](const Process& other) { return other.host != mine.host; });
  if (rank() == 0) processes_[0].several_hosts = differ ? 1 : 0;
  require_mpi(MPI_Bcast(processes_.data(), sizeof mine, MPI_BYTE, 0, comm()), "MPI_Bcast");
  several_hosts_ = processes_[0].several_hosts != 0;
  introduce_below(mine);
}

// Rank 0 knows all by now.
void Agreement::introduce_below(const Process& mine) {
  if (rank() == 0) return;
  const int first = first_below(rank());
  for (Awaited& other : awaited_) {
    if (other.rank == 0) continue;
    Process& process = processes_[at(1 + other.rank - first)];
    require_mpi(
        MPI_Irecv(&process, sizeof process, MPI_BYTE, other.rank, kRollTag, comm(), &other.arrival),
        "MPI_Irecv");
  }
  if (above(rank()) != 0) {
    require_mpi(MPI_Send(&mine, sizeof mine, MPI_BYTE, above(rank()), kRollTag, comm()),
                "MPI_Send");
  }
  for (Awaited& other : awaited_)
    require_mpi(MPI_Waitall(1, &other.arrival, MPI_STATUSES_IGNORE), "MPI_Waitall");
}

store::ProcessIdentity Agreement::process_of(int rank) const {
  const bool knows_all = ranks_->rank() == 0 || rank == 0;
  const int place = knows_all ? rank : 1 + rank - first_below(ranks_->rank());
  if (place < (knows_all ? 0 : 1) || anadrome::size(place) >= processes_.size()) return {};
  const Process& process = processes_[at(place)];
  const bool here = process.machine == hash_of(self_.machine);
  return {process.host.data(), here ? self_.machine : "", process.pid, process.start};
}

Agreement::Output Agreement::agree(const Input& input) {
  if (broken_) {
    throw Error(ANADROME_ERR_PEER,
                "the ranks of this run were in different calls; only close is left");
  }
  const AddTime time(seconds_);
  if (count_ == 0) call_roll();
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
  slots[kFailing] = input.failure ? size() - rank() : 0;
  slots[kCommit] = static_cast<std::int64_t>(input.commit);
  slots[kNotCommitted] = ~input.committed;
  slots[kLost] = input.lost ? size() - rank() : 0;
  for (std::size_t i = 0; i < input.largest.size(); ++i) {
    slots[kLargest + i] = std::bit_cast<std::int64_t>(std::max(input.largest[i], 0.0));
  }
  slots[kSmallest] = ~input.smallest;
  ranks_->largest(slots);

  broken_ = slots[kCall] != ~slots[kNotCall];
  if (slots[kFailing] > 0) {  // which may have led the ranks into different calls
    throw error_of(size() - static_cast<int>(slots[kFailing]), input.failure);
  }
  if (broken_) throw_different_calls(input.call, {~slots[kNotCall], slots[kCall]});
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
    output.lost = Failure(error_of(size() - static_cast<int>(slots[kLost]), input.lost));
  }
  return output;
}

void Agreement::set_patience(double seconds, Late late) {
  patience_ = seconds;
  late_ = std::move(late);
}

// Everyone sends a message to the rank above it when it comes, and rank 0 one to rank 1: who waits
// knows for whom. An all-reduce would not say.
void Agreement::call_roll() {
  if (!mpi_) return;
  for (Awaited& other : awaited_) {
    other.named = false;
    require_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, other.rank, kRollTag, comm(), &other.arrival),
                "MPI_Irecv");
  }
  MPI_Request sent = MPI_REQUEST_NULL;
  const int hears = rank() == 0 ? 1 : above(rank());
  if (size() > 1) {
    require_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, hears, kRollTag, comm(), &sent), "MPI_Isend");
  }
  if (patience_ > 0) name_the_late();
  for (Awaited& other : awaited_)
    require_mpi(MPI_Waitall(1, &other.arrival, MPI_STATUSES_IGNORE), "MPI_Waitall");
  require_mpi(MPI_Waitall(1, &sent, MPI_STATUSES_IGNORE), "MPI_Waitall");
}

void Agreement::name_the_late() {
  const double start = now_seconds();
  double due = patience_;
  const auto say = [&](const Awaited& other, double waited, bool came) {
    bool said = true;
    // Without memory for a text nobody is named.
    failure_from([&] { said = late_(other.rank, waited, came); });
    return said;
  };
  for (std::size_t missing = awaited_.size(); missing > 0;) {
    const double waited = now_seconds() - start;
    for (Awaited& other : awaited_) {
      if (other.arrival == MPI_REQUEST_NULL) continue;
      int came = 0;
      require_mpi(MPI_Test(&other.arrival, &came, MPI_STATUS_IGNORE), "MPI_Test");
      if (came != 0) --missing;
      if (came != 0 && other.named) say(other, waited, true);
      if (came == 0 && !other.named && waited >= due) other.named = say(other, waited, false);
    }
    if (waited >= due) due = waited + patience_ / 4;
    if (missing > 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// One rank's, with its number, for all; and with its host, since paths may be of that host alone.
Error Agreement::error_of(int whose, const Failure& mine) {
  struct Wire {
    std::int32_t status;
    char host[40];
    char text[700];
  } wire{};
  if (whose == rank()) {
    wire.status = mine.status;
    std::snprintf(wire.host, sizeof wire.host, "%s", self_.host.c_str());
    std::snprintf(wire.text, sizeof wire.text, "%s", mine.message.c_str());
  }
  ranks_->broadcast(std::as_writable_bytes(std::span(&wire, 1)), whose);
  const auto status = static_cast<anadrome_status>(wire.status);
  if (size() == 1) return {status, wire.text};
  const char* const what = static_cast<const char*>(wire.text);
  if (!several_hosts_) return {status, text("rank %d: %s", whose, what).line};
  const char* const host = static_cast<const char*>(wire.host);
  return {status, text("rank %d on %s: %s", whose, host, what).line};
}

// Every rank is here, because every rank saw the same extremes.
void Agreement::throw_different_calls(Call call, const std::array<std::int64_t, 2>& extremes) {
  const auto mine = static_cast<std::int64_t>(call);
  // The lowest rank in the first call and in the last one.
  std::array<std::int64_t, 2> ranks{};
  for (std::size_t i = 0; i < 2; ++i) ranks[i] = mine == extremes[i] ? size() - rank() : 0;
  ranks_->largest(ranks);
  const std::size_t other = mine == extremes[0] ? 1 : 0;
  throw Error(ANADROME_ERR_PEER,
              text("rank %d is in %s%s while rank %d is in %s%s; a rank that has to leave the loop "
                   "calls anadrome_fail in its place, and goes on",
                   size() - static_cast<int>(ranks[other]), name_of(extremes[other]),
                   moment_of(extremes[other]), rank(), name_of(mine), moment_of(mine))
                  .line);
}

}  // namespace anadrome::engine
