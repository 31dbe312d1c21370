// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/recorder.h"

#include <fcntl.h>

#include <optional>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "engine/sweep/trace_json.h"
#include "store/files/file_system.h"
#include "store/tiers/volume.h"

namespace anadrome::engine {
namespace {

// A failure of the file is kept: the events of the other ranks are to be received all the same.
class TraceFile {
 public:
  TraceFile(const std::string& path, const TraceHeading& heading)
      : json_([this](std::string_view text) {
          file_.write_all(text.data(), text.size(), written_);
          written_ += std::ssize(text);
        }) {
    failure_ = failure_from([&] {
      file_ = store::File::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
      json_.begin(heading);
    });
  }
  void fail(const Failure& failure) {
    if (!failure_) failure_ = failure;
  }
  void add_rank(int rank, std::span<const TraceEvent> events, std::int64_t merged) {
    if (!failure_) failure_ = failure_from([&] { json_.add_rank(rank, events, merged); });
  }
  void end() {
    if (!failure_) failure_ = failure_from([&] { json_.end(); });
    if (failure_) throw Error(failure_.status, failure_.message);
  }

 private:
  store::File file_;
  std::int64_t written_ = 0;
  Failure failure_;
  TraceJson json_;
};

}  // namespace

void Recorder::prepare(bool wanted) {
  constexpr std::size_t kMostEvents = 100000;  // 4 MB
  if (!wanted) {
    trace_.reset();
  } else if (trace_) {
    trace_->clear();
  } else {
    trace_.emplace(kMostEvents);
  }
}

void Recorder::start(double now) {
  zero_ = now;
  last_wait_end_ = 0;
}

void Recorder::waited(double start, double end) {
  last_wait_end_ = end;
  add(Activity::kWait, start, end, 0, 0);
}

void Recorder::moved(const store::Transfer& transfer, std::int64_t first, std::int64_t last) {
  const bool fast = transfer.volume == store::kFast;
  const Activity activity = transfer.write ? (fast ? Activity::kFastWrite : Activity::kWrite)
                                           : (fast ? Activity::kFastRead : Activity::kRead);
  add(activity, transfer.started, transfer.ended, first, last);
}

bool RanksInTrace::has(int rank) const {
  if (ranks <= kMost || rank == slowest || rank == quickest) return true;
  constexpr std::int64_t kDistances = kMost - 3;
  const std::int64_t last = ranks - 1, place = (rank * kDistances + last - 1) / last;
  return place * last / kDistances == rank;
}

// The lowest rank of each kind.
RanksInTrace Recorder::choose(Agreement& agreement) const {
  double seconds = 0;
  for (const TraceEvent& event : trace_->events()) {
    if (event.activity <= Activity::kAdjoint) seconds += event.end - event.start;
  }
  std::array<double, 2> extremes = {seconds, -seconds};
  agreement.ranks().largest(extremes);
  const std::int64_t code = agreement.size() - agreement.rank();
  std::array<std::int64_t, 2> codes = {extremes[0] == seconds ? code : 0,
                                       extremes[1] == -seconds ? code : 0};
  agreement.ranks().largest(codes);
  return {agreement.size(), agreement.size() - static_cast<int>(codes[0]),
          agreement.size() - static_cast<int>(codes[1])};
}

// A rank sends its events once rank 0 has said that it has memory for them.
void Recorder::write(Agreement& agreement, const std::string& path, const TraceHeading& heading) {
  constexpr int kTag = 1;
  const MPI_Comm comm = agreement.comm();
  const std::span<const TraceEvent> own = trace_->events();
  std::array<std::int64_t, 2> counts = {std::ssize(own), trace_->merged()};
  int wanted = 0;
  const RanksInTrace chosen = choose(agreement);
  if (!chosen.has(agreement.rank())) return;
  if (agreement.rank() != 0) {
    MPI_Send(counts.data(), 2, MPI_INT64_T, 0, kTag, comm);
    MPI_Recv(&wanted, 1, MPI_INT, 0, kTag, comm, MPI_STATUS_IGNORE);
    if (wanted != 0)
      MPI_Send(own.data(), static_cast<int>(own.size_bytes()), MPI_BYTE, 0, kTag, comm);
    return;
  }
  std::optional<TraceFile> file;
  const Failure unmade = failure_from([&] { file.emplace(path, heading); });
  if (file) file->add_rank(0, own, trace_->merged());
  std::vector<TraceEvent> events;
  for (int rank = 1; rank < agreement.size(); ++rank) {
    if (!chosen.has(rank)) continue;
    MPI_Recv(counts.data(), 2, MPI_INT64_T, rank, kTag, comm, MPI_STATUS_IGNORE);
    const Failure no_memory = failure_from([&] { events.resize(size(counts[0])); });
    if (file && no_memory) file->fail(no_memory);
    wanted = file && !no_memory ? 1 : 0;
    MPI_Send(&wanted, 1, MPI_INT, rank, kTag, comm);
    if (wanted == 0) continue;
    MPI_Recv(events.data(), static_cast<int>(events.size() * sizeof(TraceEvent)), MPI_BYTE, rank,
             kTag, comm, MPI_STATUS_IGNORE);
    file->add_rank(rank, events, counts[1]);
  }
  if (unmade) throw Error(unmade.status, unmade.message);
  file->end();
}

}  // namespace anadrome::engine
