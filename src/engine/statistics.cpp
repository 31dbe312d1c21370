// Run, the part that speaks: statistics, the progress line, the summary at the end.
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/byte_size.h"
#include "base/clock.h"
#include "engine/run.h"
#include "schedule/revolve.h"

namespace anadrome::engine {
namespace {

void copy_text(char* to, std::size_t size, const char* text) {
  std::strncpy(to, text, size - 1);
  to[size - 1] = '\0';
}

std::string rate(std::int64_t bytes, double seconds) {
  if (bytes == 0 || seconds <= 0) return "";
  const double per_second = static_cast<double>(bytes) / seconds;
  char text[48];
  std::snprintf(text, sizeof text, " at %.2f GB/s per rank", per_second / 1e9);
  return text;
}

std::string version() {
  char text[32];
  std::snprintf(text, sizeof text, "%d.%d.%d", ANADROME_VERSION_MAJOR, ANADROME_VERSION_MINOR,
                ANADROME_VERSION_PATCH);
  return text;
}

// What rank 0 needs of the others.
struct Reduced {
  std::int64_t bytes_written, bytes_read;                                              // sums
  double stalled_write, stalled_read, copying, agreeing, writing, reading, checksums;  // maxima
  std::int64_t peak;                                                                   // maximum
};

std::string prediction(const anadrome_stats& stats) {
  char text[160];
  std::snprintf(text, sizeof text, "%s after %lld steps (%+.1f %%)%s",
                format_seconds(stats.seconds_predicted).c_str(),
                static_cast<long long>(stats.predicted_at_step),
                100 * (stats.seconds_predicted / stats.seconds_total - 1),
                stats.adjoint_guessed != 0 ? ", an adjoint step taken for two forward steps" : "");
  return text;
}

struct Words {
  std::string chosen, memory, outdated, why, refused;
  bool records;  ///< every step is run once more, or at last, to record its tape
};

std::string summary(const anadrome_stats& stats, const Reduced& all, bool measured_interval,
                    const Words& said) {
  std::string text;
  char line[400];
  const auto add = [&](const char* label, const std::string& words) {
    std::snprintf(line, sizeof line, "  %-10s %s\n", label, words.c_str());
    text += line;
  };
  const double n = static_cast<double>(std::max<std::int64_t>(stats.steps, 1));
  const auto factor = [&](double advances) {
    std::snprintf(line, sizeof line, "%.3f", advances / n);
    return std::string(line);
  };
  text += "anadrome " + version() + ": schedule " + stats.schedule;
  if (stats.interval > 0) {
    text +=
        ", an anchor every " +
        (stats.interval == 1 ? std::string("step") : std::to_string(stats.interval) + " steps") +
        (measured_interval ? " (from measured times)" : "");
  }
  if (!said.chosen.empty()) text += "; auto: " + said.chosen;
  text += "\n";
  add("sweep", std::to_string(stats.steps) + " steps on " + std::to_string(stats.ranks) +
                   (stats.ranks == 1 ? " rank, " : " ranks, ") +
                   format_seconds(stats.seconds_total) + " (forward " +
                   format_seconds(stats.seconds_forward) + ", reverse " +
                   format_seconds(stats.seconds_adjoint) + ")");
  const std::int64_t chain = std::max<std::int64_t>(stats.steps + (said.records ? 0 : 1), 1);
  const double alone = (said.records ? n : 0) + static_cast<double>(schedule::extra_advances(
                                                    chain, std::max<std::int64_t>(stats.slots, 1)));
  const bool branches = std::strcmp(stats.schedule, to_string(ScheduleName::kJoin)) == 0;
  add("recompute", factor(static_cast<double>(stats.forward_steps_taken)) +
                       " forward steps per step (planned " +
                       factor(static_cast<double>(stats.forward_steps_planned)) + "; every " +
                       (said.records ? "tape" : "state") + " kept 1" +
                       (branches ? "" : ", Revolve alone in this memory " + factor(alone)) + ")");
  const std::string slots = format_bytes(all.peak) + " of " + format_bytes(stats.memory_bytes) +
                            " per rank: " + std::to_string(stats.slots) + " slots of " +
                            format_bytes(stats.state_bytes) + ", " +
                            std::to_string(stats.checkpoint_slots) + " for checkpoints";
  add("memory", said.memory.empty() ? slots : said.memory);
  if (stats.direct_io >= 0) {
    add("disk", std::to_string(stats.anchors) + " anchors, " + format_bytes(all.bytes_written) +
                    " written" + rate(stats.bytes_written, stats.seconds_writing) + ", " +
                    format_bytes(all.bytes_read) + " read" +
                    rate(stats.bytes_read, stats.seconds_reading));
    add("files", std::string("layout ") + stats.layout + ", transport " + stats.transport +
                     (stats.direct_io == 1 ? ", O_DIRECT" : ", buffered") + ", " +
                     format_bytes(stats.disk_bytes_reserved_all_ranks) + " reserved");
    if (stats.anchors_lost > 0 || stats.writes_failed > 0 || !said.refused.empty()) {
      add("faults", std::to_string(stats.anchors_lost) + " restores failed and were made good" +
                        (said.refused.empty() ? "" : "; the disk took no more: " + said.refused));
    }
    add("waited", format_seconds(all.stalled_write) + " for writes, " +
                      format_seconds(all.stalled_read) + " for reads (longest rank)");
  }
  add("copied", std::to_string(stats.states_kept) + " states kept, " +
                    std::to_string(stats.states_restored) + " restored, " +
                    format_seconds(all.copying) + "; " + std::to_string(stats.agreements) +
                    " agreements, " + format_seconds(all.agreeing));
  if (stats.seconds_predicted > 0) add("predicted", prediction(stats));
  if (!said.outdated.empty()) text += "  plan       " + said.outdated + "\n";
  if (!said.why.empty()) text += "  why        " + said.why + "\n";
  return text;
}

}  // namespace

anadrome_stats Run::statistics() const {
  anadrome_stats stats{};
  const double now = now_seconds();
  stats.steps = schedule::kUnknown;
  stats.forward_steps_planned = stats.forward_steps_remaining = schedule::kUnknown;
  stats.ranks = agreement_.size();
  stats.memory_bytes = options_.memory;
  stats.state_bytes = memory_plan_.layout.state_bytes();
  stats.state_bytes_all_ranks = state_bytes_all_ranks_;
  stats.peak_library_bytes =
      memory_plan_.buffer_bytes + (stack_ != nullptr
                                       ? stack_->most_bytes()
                                       : pool_.touched_blocks() * memory_plan_.bytes_per_block);
  stats.slots = memory_plan_.blocks * memory_plan_.layout.states();
  stats.checkpoint_slots = memory_plan_.checkpoint_slots;
  stats.prefetch_depth = memory_plan_.prefetch_depth;
  stats.states_per_write = memory_plan_.layout.states();
  stats.forward_steps_taken = advances_;
  stats.adjoint_steps_taken = adjoints_;
  stats.states_kept = kept_;
  stats.states_restored = restored_;
  stats.agreements = agreement_.count() - agreements_before_;
  stats.seconds_agreeing = agreement_.seconds() - seconds_agreeing_before_;
  stats.seconds_copying = seconds_copying_;
  stats.direct_io = -1;
  stats.phase = phase_;
  if (begin_time_ > 0) {
    const double end = done_time_ > 0 ? done_time_ : now;
    stats.seconds_total = end - begin_time_;
    stats.seconds_forward = (turn_time_ > 0 ? turn_time_ : end) - begin_time_;
    stats.seconds_adjoint = turn_time_ > 0 ? end - turn_time_ : 0;
  }
  stats.seconds_step = std::max(agreed_[0], forward_.seconds());
  stats.seconds_adjoint_step = std::max(agreed_[1], adjoint_.seconds());
  stats.seconds_write_state = write_times_known_ ? agreed_[2] : 0;
  stats.seconds_read_state = agreed_[3];
  if (script_.has_value()) {
    stats.steps = script_->steps();
    const schedule::Sequence* sequence = sequence_if_any();
    stats.interval = uses_disk() && sequence != nullptr ? sequence->interval() : double_interval_;
    stats.anchors = !uses_disk()          ? 0
                    : sequence != nullptr ? sequence->anchors().count()
                                          : anchors_put_;
    const std::int64_t left = advances_to_come();
    if (left != schedule::kUnknown) {
      // The advance in the caller's hands is neither taken nor to come.
      const std::int64_t in_hand =
          last_.kind == ANADROME_ADVANCE
              ? (finished_at_ >= 0 ? finished_at_ : last_.last) - last_.first
              : 0;
      stats.forward_steps_remaining = left;
      stats.forward_steps_planned =
          left > schedule::kNoLimit - advances_ - in_hand ? left : left + advances_ + in_hand;
    }
  }
  if (uses_disk()) {
    const store::TransferTotals totals = transport_->totals();
    stats.bytes_written = totals.bytes_written - totals_before_.bytes_written;
    stats.bytes_read = totals.bytes_read - totals_before_.bytes_read;
    stats.seconds_writing = totals.seconds_writing - totals_before_.seconds_writing;
    stats.seconds_reading = totals.seconds_reading - totals_before_.seconds_reading;
    stats.seconds_checksums = totals.seconds_checksums - totals_before_.seconds_checksums;
    stats.seconds_stalled_write = tier_->seconds_stalled_write();
    stats.seconds_stalled_read = tier_->seconds_stalled_read();
    stats.disk_bytes_reserved_all_ranks = disk_->file_bytes_all_ranks();
    stats.direct_io = disk_->direct() ? 1 : 0;
    stats.writes_failed = tier_->writes_failed();
    copy_text(stats.layout, sizeof stats.layout, to_string(options_.layout));
    copy_text(stats.transport, sizeof stats.transport, to_string(options_.transport));
  }
  stats.anchors_lost = anchors_lost_;
  stats.seconds_predicted = predicted_seconds_;
  stats.predicted_at_step = predicted_at_;
  stats.adjoint_guessed = adjoint_guessed_ ? 1 : 0;
  copy_text(stats.schedule, sizeof stats.schedule, to_string(schedule_));
  return stats;
}

// Collective.
void Run::write_trace() {
  TraceHeading heading;
  heading.schedule = to_string(schedule_);
  heading.version = version();
  heading.steps = script_->steps();
  heading.ranks = agreement_.size();
  const double mine = done_time_ - begin_time_;
  MPI_Reduce(&mine, &heading.seconds, 1, MPI_DOUBLE, MPI_MAX, 0, agreement_.comm());
  recorder_.write(agreement_, {options_.trace, options_.timeline}, heading);
}

void Run::show_progress() {
  const bool reverse = phase_ == ANADROME_PHASE_REVERSE;
  const std::int64_t advances = script_->advances_remaining();
  const std::int64_t adjoints = script_->adjoints_remaining();
  const double step = forward_.seconds();
  const double adjoint = adjoint_.seconds() > 0 ? adjoint_.seconds() : 2 * step;
  const double done =
      static_cast<double>(advances_) * step + static_cast<double>(adjoints_) * adjoint;
  const bool known = advances != schedule::kUnknown && adjoints != schedule::kUnknown && step > 0;
  const double left =
      known ? static_cast<double>(advances) * step + static_cast<double>(adjoints) * adjoint : -1;
  // In the reverse sweep what counts is how far down the adjoint is, not which step is recomputed.
  const std::int64_t before = join() != nullptr ? join()->steps_before(last_.branch) : 0;
  const std::int64_t step_now = reverse ? adjoints : before + last_.first;
  progress_.show(now_seconds(), reverse, step_now, script_->steps(), done, left);
}

// Collective: every rank takes part, rank 0 writes if its option says so.
void Run::report() {
  const anadrome_stats stats = statistics();
  std::array<std::int64_t, 2> sums = {stats.bytes_written, stats.bytes_read};
  std::array<double, 8> maxima = {
      stats.seconds_stalled_write, stats.seconds_stalled_read,
      stats.seconds_copying,       stats.seconds_agreeing,
      stats.seconds_writing,       stats.seconds_reading,
      stats.seconds_checksums,     static_cast<double>(stats.peak_library_bytes)};
  const bool root = agreement_.rank() == 0;
  MPI_Reduce(root ? MPI_IN_PLACE : sums.data(), sums.data(), 2, MPI_INT64_T, MPI_SUM, 0,
             agreement_.comm());
  MPI_Reduce(root ? MPI_IN_PLACE : maxima.data(), maxima.data(), 8, MPI_DOUBLE, MPI_MAX, 0,
             agreement_.comm());
  if (!root || options_.report == "off") return;
  const Reduced all = {
      sums[0],   sums[1],   maxima[0], maxima[1], maxima[2],
      maxima[3], maxima[4], maxima[5], maxima[6], static_cast<std::int64_t>(maxima[7])};
  const std::string why = explain(
      sweep_costs(),
      {stats.seconds_total, all.copying, all.stalled_write + all.stalled_read, all.agreeing});
  const std::string text = summary(stats, all, options_.interval == 0,
                                   {chosen_, describe_memory(all.peak), outdated_plan(), why,
                                    disk_refused_.message, has_tape()});
  if (options_.report == "-") {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return;
  }
  const store::File file = store::File::open(options_.report, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  file.write_all(text.data(), text.size(), 0);
}

}  // namespace anadrome::engine
