// SPDX-License-Identifier: BSD-2-Clause
#include "engine/report/why.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/byte_size.h"
#include "base/index.h"
#include "base/text_out.h"
#include "schedule/anchored/anchored_sweep.h"

namespace anadrome::engine {
namespace {

// The copies of one step, forward and reverse: each adjoint step begins with a restored state, and
// states between anchors are kept in slots.
double copying_per_step(const SweepCosts& costs) {
  if (!costs.disk) return 2 * costs.copy;
  const double anchors = 1 / real(costs.plan.interval);
  const double slots = costs.plan.interval > 1 && costs.plan.slots > 1 ? 1 - anchors : 0;
  return (1 + slots) * costs.copy + anchors * costs.anchor_copy;
}

// Waiting for the disk in what is left of the sweep, and what its transfers take of the caller.
double for_the_disk(const SweepCosts& costs, const SweepProgress& progress) {
  if (!costs.disk) return 0;
  schedule::IntervalProblem left;
  left.costs = costs.step;
  left.memory = costs.memory;
  left.steps = costs.steps - progress.forward_steps;
  left.newest_anchor = progress.forward_steps;
  left.anchors_below = progress.anchors;
  left.anchors_left = progress.anchors_left;
  left.interval_given = true;
  left.all_anchors = costs.all_anchors;
  const schedule::AnchoredSweep sweep = schedule::anchored_sweep(left, costs.plan);
  const auto writes = real(sweep.written);
  const double reads = writes + real(progress.anchors);
  const bool overlaps = costs.memory.overlaps, ahead = overlaps && costs.plan.prefetch_depth > 0;
  return sweep.waiting + (overlaps ? writes * costs.step.write_taken : 0) +
         (ahead ? reads * costs.step.read_taken : (reads - writes) * costs.step.read);
}

double agreements_per_step(const SweepCosts& costs) {
  if (!costs.disk) return 0;
  return 2 / real(costs.plan.interval * costs.memory.states_per_block);
}

std::string percent(double part) {
  return format_number(100 * part, std::chars_format::fixed, part < 0.0995 ? 1 : 0) + " %";
}

constexpr double kLittle = 0.03, kShortest = 1;

// The model's seconds are the sweep's, near enough to tell what a change would gain.
bool holds(const Outlook& outlook, const SweepTimes& times) {
  constexpr double kNear = 0.1;
  const double modelled = times.steps + times.again + times.waiting;
  return times.total >= kShortest && outlook.now > 0 &&
         std::abs(outlook.now / modelled - 1) <= kNear;
}

// begin, TURN, what the library takes of very short steps, cores that others use.
double rest_of(const SweepTimes& times) {
  return times.total - times.steps - times.again - times.waiting - times.copying - times.agreeing;
}

std::string used(const SweepTimes& times) {
  constexpr double kNegligible = 0.005;
  std::string text;
  const auto add = [&](const char* what, double seconds) {
    if (seconds < kNegligible * times.total) return;
    text += (text.empty() ? "; beside them " : ", ") + std::string(what) + " " +
            format_seconds(seconds);
  };
  add("recomputation", times.again);
  add("waiting for the disk", times.waiting);
  add("copying", times.copying);
  add("agreeing", times.agreeing);
  add("all else", rest_of(times));
  return text.empty() ? "; recomputation and waiting cost nothing" : text;
}

// What there is too little of, where steps are run again: whatever twice as much of gains most.
std::string wanting(const Outlook& outlook) {
  const std::array<std::pair<double, const char*>, 3> knobs = {
      {{outlook.twice_room, "room on disk"},
       {outlook.twice_memory, "memory"},
       {outlook.twice_disk, "a faster disk"}}};
  const char* most = nullptr;
  double least = (1 - kLittle) * outlook.now;
  for (const auto& [seconds, what] : knobs) {
    if (seconds <= 0 || seconds >= least) continue;
    least = seconds;
    most = what;
  }
  return most == nullptr ? "" : std::string(", for want of ") + most;
}

std::string bound(const SweepTimes& times, const std::string& wanting) {
  constexpr double kMuch = 1.5;
  std::string again = "recomputation";
  if (times.recompute_factor > 0) {
    again += " (" + format_number(times.recompute_factor, std::chars_format::fixed, 2) +
             " forward steps per step)";
  }
  again += wanting;
  const std::array<std::pair<double, std::string>, 6> costs = {
      {{times.again, again},
       {times.waiting, "the disk"},
       {times.slowed, "cores that steps and transfers share"},
       {times.copying, "copies of states"},
       {times.agreeing, "ranks that wait for each other"},
       {rest_of(times), "all else: begin, TURN, what lies between actions"}}};
  const auto most = std::max_element(costs.begin(), costs.end());
  constexpr double kPart = 0.25;  // of the largest cost; with less, more memory would gain little
  const double large = std::max(kLittle * times.total, kPart * most->first);
  if (times.recompute_factor > kMuch && times.again > large) return again;
  return most->first > kLittle * times.total ? most->second : "your steps";
}

}  // namespace

std::int64_t prediction_after(std::int64_t steps, std::int64_t done) {
  constexpr std::int64_t kFewSteps = 4;
  if (done == 0) return std::max<std::int64_t>(steps >> 6, 1);
  for (int halvings = 5; halvings > 0; --halvings) {
    if ((steps >> halvings) - done >= kFewSteps) return steps >> halvings;
  }
  return 0;
}

double predict_seconds(const SweepCosts& costs, const SweepProgress& progress) {
  const double n = real(costs.steps);
  return progress.seconds + real(progress.advances_to_come) * costs.step.forward +
         n * costs.step.adjoint + for_the_disk(costs, progress) +
         n * (copying_per_step(costs) + agreements_per_step(costs) * costs.agreement);
}

std::string verdict(const SweepTimes& times, const Outlook& outlook, bool offer_exchanged) {
  if (times.steps <= 0 || times.total <= 0) return "";
  std::string text = "  " + format_seconds(times.total) + ", of which your steps take " +
                     format_seconds(times.steps) + used(times) + "\n  bound by " +
                     bound(times, holds(outlook, times) ? wanting(outlook) : "");
  const auto add_knob = [&](const char* knob, double modelled) {
    if (modelled <= 0) return;
    const double seconds = times.total - (outlook.now - modelled);
    const double gain = 1 - seconds / times.total;
    text += std::string("; ") + knob +
            (gain < kLittle ? " gains nothing"
                            : ": " + format_seconds(seconds) + " (" + percent(gain) + " less)");
  };
  if (holds(outlook, times)) {
    add_knob("twice the memory", outlook.twice_memory);
    add_knob("a disk twice as fast", outlook.twice_disk);
    add_knob("twice the room on disk", outlook.twice_room);
    add_knob("transport=auto", outlook.overlapped);
  }
  if (times.total >= kShortest && times.slowed > kLittle * times.total)
    text += "; a core for the transfers: " + percent(times.slowed / times.total) + " less";
  const bool long_enough = times.total >= kShortest && outlook.now > 0;
  if (long_enough && offer_exchanged && times.copying > kLittle * times.total) {
    text += "; exchanged fields save the copies: " + percent(times.copying / times.total) + " less";
  }
  return text + "\n";
}

}  // namespace anadrome::engine
