// SPDX-License-Identifier: BSD-2-Clause
#include "engine/report/summary.h"

#include <algorithm>
#include <cstdio>

#include "base/byte_size.h"
#include "base/index.h"
#include "base/text_out.h"
#include "schedule/words/revolve.h"

namespace anadrome::engine {
namespace {

std::string prediction(const anadrome_stats& stats) {
  const double percent = 100 * (stats.seconds_predicted / stats.seconds_total - 1);
  return format_seconds(stats.seconds_predicted) + " after " +
         std::to_string(stats.predicted_at_step) + " steps (" + (percent < 0 ? "" : "+") +
         format_number(percent, std::chars_format::fixed, 1) + " %)" +
         (stats.adjoint_guessed != 0 ? ", with an adjoint step as long as two forward steps" : "");
}

std::string faults(const anadrome_stats& stats, const Words& said) {
  std::string text;
  if (!said.refused.empty()) text = "the disk accepted no more: " + said.refused;
  const auto add = [&](std::int64_t count, const char* noun, const char* cure) {
    if (count > 0) text += (text.empty() ? "" : "; ") + counted(count, noun) + cure;
  };
  add(stats.writes_failed, "write", " failed");
  add(stats.anchors_lost - said.never_on_disk, "restore", " failed and recomputed");
  return text;
}

}  // namespace

std::string version() {
  char text[32];
  std::snprintf(text, sizeof text, "%d.%d.%d", ANADROME_VERSION_MAJOR, ANADROME_VERSION_MINOR,
                ANADROME_VERSION_PATCH);
  return text;
}

SweepTimes times_of(const anadrome_stats& stats, const Reduced& all, const SweepState::Spent& spent,
                    bool part) {
  SweepTimes times;
  times.total = stats.seconds_total;
  times.steps = spent.forward + spent.adjoint;
  times.again = spent.again;
  times.waiting = all.stalled_write + all.stalled_read;
  times.copying = all.copying;
  times.agreeing = all.agreeing;
  times.recompute_factor =
      part ? 0 : real(stats.forward_steps_taken) / real(std::max<std::int64_t>(stats.steps, 1));
  return times;
}

std::string rate_of(std::int64_t bytes, double seconds) {
  if (bytes == 0 || seconds <= 0) return "";
  return " at " + format_rate(real(bytes) / seconds) + " per rank";
}

// Nothing that was compared differed, or the sweep would have ended, or a warning was given.
std::string compared(const SweepState::Checks& checks) {
  std::string text;
  if (checks.preflight_steps > 0) {
    text = counted(checks.preflight_steps, "step") + " run twice at the start, " +
           format_seconds(checks.preflight_seconds) + " before the sweep";
  }
  if (checks.audited_states > 0) {
    text +=
        (text.empty() ? "" : "; ") + counted(checks.audited_states, "state") + " computed again";
  }
  return text.empty() ? "nothing" : text;
}

std::string summary(const anadrome_stats& stats, const Reduced& all, bool measured_interval,
                    const Words& said) {
  std::string text;
  char line[400];
  const auto add = [&](const char* label, const std::string& words) {
    std::snprintf(line, sizeof line, "  %-10s %s\n", label, words.c_str());
    text += line;
  };
  const double n = real(std::max<std::int64_t>(stats.steps, 1));
  const auto factor = [&](double advances) {
    return format_number(advances / n, std::chars_format::fixed, 3);
  };
  text += "anadrome " + version() + ": schedule " + stats.schedule;
  if (stats.interval > 0) {
    text +=
        ", an anchor every " +
        (stats.interval == 1 ? std::string("step") : std::to_string(stats.interval) + " steps") +
        (measured_interval ? " at the end (from measured times)" : "");
  }
  if (!said.chosen.empty()) text += "; auto: " + said.chosen;
  text += "\n" + said.verdict;
  add("sweep", counted(stats.steps, "step") + " on " + counted(stats.ranks, "rank") + ", " +
                   format_seconds(stats.seconds_total) + " (forward " +
                   format_seconds(stats.seconds_forward) + ", reverse " +
                   format_seconds(stats.seconds_adjoint) + ")");
  const std::int64_t chain = std::max<std::int64_t>(stats.steps + (said.records ? 0 : 1), 1);
  const double alone =
      (said.records ? n : 0) + static_cast<double>(schedule::extra_advances(
                                   chain, std::max<std::int64_t>(said.revolve_slots, 1)));
  const std::string revolve = "Revolve alone in this memory " + factor(alone);
  if (said.undone.empty()) {
    add("recompute", factor(real(stats.forward_steps_taken)) + " forward steps per step " +
                         (said.part ? "since it went on (planned " : "(planned ") +
                         factor(real(stats.forward_steps_planned)) + "; every " +
                         (said.records ? "tape" : "state") + " kept 1, " + revolve + ")");
  } else {
    add("undone", said.undone + ", " + revolve);
  }
  const std::string slots =
      format_bytes(all.peak_bytes()) + " of " + format_bytes(stats.memory_bytes) +
      " per rank: " + counted(stats.slots, "slot") + " of " + format_bytes(stats.state_bytes) +
      ", " + std::to_string(stats.checkpoint_slots) + " for checkpoints";
  add("memory", said.memory.empty() ? slots : said.memory);
  if (stats.direct_io >= 0) {
    add("disk", counted(stats.anchors, "anchor") + ", " + format_bytes(all.bytes_written) +
                    " written" + rate_of(stats.bytes_written, stats.seconds_writing) + ", " +
                    format_bytes(all.bytes_read) + " read" +
                    rate_of(stats.bytes_read, stats.seconds_reading));
    text += said.volumes;
    if (all.bytes_compressed > 0)
      add("compressed",
          said.codec + ": " + format_bytes(all.bytes_compressed) + " of states were written in " +
              format_bytes(all.bytes_written) +
              (stats.tolerance > 0 ? ", tolerance " + format_in_full(stats.tolerance) : ""));
    if (stats.gradient_error > 0) {
      add("error", format_number(stats.gradient_error, std::chars_format::scientific, 1) +
                       " of the gradient, by " + (said.undone.empty() ? "compression" : "drift"));
    }
    add("files", std::string("layout ") + stats.layout + ", transport " + stats.transport + ", " +
                     format_bytes(stats.disk_bytes_reserved_all_ranks) +
                     (said.holes ? " long, with holes" : " reserved"));
    if (stats.anchors_lost > 0 || stats.writes_failed > 0 || !said.refused.empty()) {
      add("faults", faults(stats, said));
    }
    add("waited", format_seconds(all.stalled_write) + " for writes, " +
                      format_seconds(all.stalled_read) + " for reads (longest rank)");
  }
  add("copied", counted(stats.states_kept, "state") + " kept, " +
                    std::to_string(stats.states_restored) + " restored, " +
                    format_seconds(all.copying) + "; " + counted(stats.agreements, "agreement") +
                    ", " + format_seconds(all.agreeing));
  if (!said.compared.empty()) add("compared", said.compared);
  constexpr double kTooShort = 1;  // chance says more of such a sweep than its steps
  if (stats.seconds_predicted > 0 && stats.seconds_total >= kTooShort)
    add("predicted", prediction(stats));
  if (!said.overruled.empty()) text += "  options    " + said.overruled + "\n";
  if (!said.without_effect.empty()) text += "  no effect  " + said.without_effect + "\n";
  text += said.plan_command;
  return text;
}

}  // namespace anadrome::engine
