#include "engine/recorder.h"

#include <fcntl.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/timeline_svg.h"
#include "engine/trace_json.h"
#include "store/file_system.h"

namespace anadrome::engine {
namespace {

// One file of the trace. What goes wrong with it is kept: the events of the other ranks are to be
// received all the same.
class TraceFile {
 public:
  TraceFile(const std::string& path, const TraceHeading& heading) {
    failure_ = failure_from([&] {
      file_ = store::File::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
      const TextOut::Sink sink = [this](std::string_view text) {
        file_.write_all(text.data(), text.size(), written_);
        written_ += static_cast<std::int64_t>(text.size());
      };
      if (path.ends_with(".svg")) {
        svg_.emplace(sink).begin(heading);
      } else {
        json_.emplace(sink).begin(heading);
      }
    });
  }
  void add_rank(int rank, std::span<const TraceEvent> events, std::int64_t merged) {
    if (failure_) return;
    failure_ = failure_from([&] {
      if (svg_) svg_->add_rank(rank, events, merged);
      if (json_) json_->add_rank(rank, events, merged);
    });
  }
  Failure end() {
    if (failure_) return failure_;
    return failure_from([&] {
      if (svg_) svg_->end();
      if (json_) json_->end();
    });
  }

 private:
  store::File file_;
  std::int64_t written_ = 0;
  Failure failure_;
  std::optional<TimelineSvg> svg_;
  std::optional<TraceJson> json_;
};

std::vector<std::string> names_in(std::string_view files) {
  std::vector<std::string> names;
  while (!files.empty()) {
    const auto comma = std::min(files.find(','), files.size());
    if (comma > 0) names.emplace_back(files.substr(0, comma));
    files.remove_prefix(std::min(comma + 1, files.size()));
  }
  return names;
}

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
  add(transfer.write ? Activity::kWrite : Activity::kRead, transfer.started, transfer.ended, first,
      last);
}

void Recorder::write(const Agreement& agreement, const std::string& files,
                     const TraceHeading& heading) {
  constexpr int kTag = 1;
  const MPI_Comm comm = agreement.comm();
  const std::span<const TraceEvent> own = trace_->events();
  std::array<std::int64_t, 2> counts = {static_cast<std::int64_t>(own.size()), trace_->merged()};
  if (agreement.rank() != 0) {
    MPI_Send(counts.data(), 2, MPI_INT64_T, 0, kTag, comm);
    MPI_Send(own.data(), static_cast<int>(own.size_bytes()), MPI_BYTE, 0, kTag, comm);
    return;
  }
  std::vector<std::unique_ptr<TraceFile>> outputs;
  for (const std::string& name : names_in(files)) {
    outputs.push_back(std::make_unique<TraceFile>(name, heading));
  }
  for (const auto& output : outputs) output->add_rank(0, own, trace_->merged());
  std::vector<TraceEvent> events;
  for (int rank = 1; rank < agreement.size(); ++rank) {
    MPI_Recv(counts.data(), 2, MPI_INT64_T, rank, kTag, comm, MPI_STATUS_IGNORE);
    events.resize(static_cast<std::size_t>(counts[0]));
    MPI_Recv(events.data(), static_cast<int>(events.size() * sizeof(TraceEvent)), MPI_BYTE, rank,
             kTag, comm, MPI_STATUS_IGNORE);
    for (const auto& output : outputs) output->add_rank(rank, events, counts[1]);
  }
  Failure failure;
  for (const auto& output : outputs) {
    const Failure at_end = output->end();
    if (!failure) failure = at_end;
  }
  if (failure) throw Error(failure.status, "trace: " + failure.message);
}

}  // namespace anadrome::engine
