// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/sweep_picture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "tool/number_text.h"
#include "tool/pictures/timeline_panel.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kMostSteps = 5'000'000;
constexpr std::int64_t kVisible = 150;  // so many steps are told apart without a close-up
constexpr int kColumns = 860;
constexpr double kLeft = 124, kRight = 36, kHead = 106, kLegend = 90, kFoot = 12, kLetters = 13;

// The ranges of the panels' scales.
struct Extent {
  double seconds = 0;
  double enters = 0, leaves = 0;  ///< the last steps: first run of the first, adjoint of it
  std::int64_t slots = 1;
  double forward_steps = 0, writes = 0, reads = 0;
};

std::int64_t steps_around_turn(const WhatIf& question, const Estimate& estimate) {
  constexpr std::int64_t kIntervals = 4, kLeast = 48, kMost = 1000;
  const std::int64_t wanted =
      std::clamp(kIntervals * std::min(estimate.sweep.interval, kMost), kLeast, kMost);
  return std::min(question.steps, wanted);
}

// As in the comparison, transfers take nothing of the caller.
double simulate(const ActionSource& next, const WhatIf& question, const Estimate& estimate,
                const questions::SweepSinks& sinks) {
  questions::Machine machine;
  machine.costs = {.forward = question.forward, .adjoint = question.adjoint};
  if (question.has_disk()) {
    machine.costs.write = question.at_home().write;
    machine.costs.read = question.at_home().read;
    if (question.has_fast())
      machine.fast = {question.at_fast(), states_on(question.fast.disk, state_bytes(question).disk),
                      real(question.steps) * question.forward};
  }
  machine.disk = estimate.disk;
  machine.disk.overlaps = estimate.counts.overlapped;
  machine.newest_stay = estimate.newest_stay;
  machine.tape_slots = estimate.sweep.tape_slots;
  if (!estimate.sweep.record) machine.turn_step = estimate.sweep.steps - 1;
  return questions::simulate(next, machine, sinks);
}

Extent measure(const ActionSource& next, const WhatIf& question, const Estimate& estimate) {
  Extent extent;
  extent.enters = -1;
  const std::int64_t close = question.steps - steps_around_turn(question, estimate);
  questions::SweepSinks sinks;
  sinks.span = [&](const Span& span) {
    const bool solves = span.doing == Doing::kAdvance || span.doing == Doing::kRecompute;
    if (solves) extent.forward_steps += real(span.last - span.first);
    if (span.doing == Doing::kWrite) ++extent.writes;
    if (span.doing == Doing::kRead) ++extent.reads;
    if (span.doing == Doing::kAdvance && span.first <= close && span.last > close) {
      extent.enters = span.start + real(close - span.first) * question.forward;
    }
    if (span.doing == Doing::kAdjoint && span.last >= close) extent.leaves = span.end;
  };
  sinks.held = [&](const Held& held) {
    if (held.tier == schedule::kRamTier)
      extent.slots = std::max(extent.slots, held.slot + held.slots);
  };
  extent.seconds = simulate(next, question, estimate, sinks);
  return extent;
}

struct Part {
  std::string title;
  TimelinePanel panel;
  std::int64_t steps;  ///< as TimelinePanel::Style has them
};

Part part_of(std::string title, TimeWindow window, std::int64_t steps, std::int64_t slots,
             bool disk) {
  Part part = {std::move(title),
               {window, {.columns = kColumns, .steps_height = 260, .disk = disk, .slots = slots}},
               steps};
  part.panel.add_rank("");
  return part;
}

TraceEvent event_of(const Span& span) {
  return {span.start,
          span.end,
          span.step(),
          std::max(span.first, span.last),
          activity_of(span.doing, span.link),
          {}};
}

struct Words {
  std::string title, about, remark, axis = "step";
};

// One part below the other; the first one has all that there is to explain.
void put_picture(const Words& words, const std::vector<Part>& parts, bool slots, TextOut& out) {
  constexpr double kPerPart = TimelinePanel::kAbove + TimelinePanel::kBelow;
  double height = kHead;
  for (const Part& part : parts) height += part.panel.height() + kPerPart;
  Svg svg(out, kLeft + kColumns + kRight, height + kFoot, kLetters);
  svg.about(words.title, words.about);
  svg.text(20, 34, words.title, {.size = 19, .bold = true});
  svg.text(20, 58, words.remark, {.colour = kQuiet});
  double x = kLeft;
  for (std::size_t i = 0; i < kActivities; ++i) {
    const auto activity = static_cast<Activity>(i);
    if (!parts.front().panel.has(activity)) continue;
    x = svg.legend(x, kLegend, colour_of(activity), engine::to_string(activity));
  }
  if (slots) svg.legend(x, kLegend, kSlot, "slot in use");
  TimelinePanel::Style style;
  style.left = kLeft;
  style.top = kHead;
  style.axis = words.axis;
  for (const Part& part : parts) {
    svg.text(kLeft, style.top + TimelinePanel::kAbove - 9, part.title, {.bold = true});
    style.top += TimelinePanel::kAbove;
    style.steps = part.steps;
    part.panel.draw(svg, style);
    style.top += part.panel.height() + TimelinePanel::kBelow;
  }
  svg.close();
}

}  // namespace

void draw_sweep(const std::function<ActionSource()>& actions, const WhatIf& question,
                const Estimate& estimate, TextOut& out) {
  if (question.steps > kMostSteps) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "--svg: sweeps of up to " + std::to_string(kMostSteps) + " steps are drawn");
  }
  const Extent extent = measure(actions(), question, estimate);
  const bool disk = estimate.counts.writes > 0;
  std::vector<Part> parts;
  parts.push_back(
      part_of("the whole sweep", {0, extent.seconds}, question.steps, extent.slots, disk));
  const std::int64_t close = steps_around_turn(question, estimate);
  if (question.steps > kVisible && extent.enters >= 0 && extent.leaves > extent.enters) {
    parts.push_back(part_of("the last " + std::to_string(close) + " steps",
                            {extent.enters, extent.leaves}, -1, extent.slots, disk));
  }
  questions::SweepSinks sinks;
  sinks.span = [&parts](const Span& span) {
    for (Part& part : parts) part.panel.add(event_of(span));
  };
  sinks.held = [&parts](const Held& held) {
    for (Part& part : parts) part.panel.add(held);
  };
  simulate(actions(), question, estimate, sinks);

  const std::string title = std::string(estimate.schedule) + ": " + std::to_string(question.steps) +
                            " steps in " + duration_text(estimate.seconds) + ", " +
                            change_text(estimate.seconds / question.ideal_seconds()) +
                            " over the ideal";
  const std::string about = format_fixed(extent.seconds, 6) + " seconds, " +
                            format_fixed(extent.forward_steps, 0) + " forward steps, " +
                            format_fixed(extent.writes, 0) + " writes, " +
                            format_fixed(extent.reads, 0) + " reads";
  put_picture({title, about, estimate.remark}, parts, true, out);
}

void draw_spans(const SpanPicture& picture, TextOut& out) {
  if (!(picture.seconds > 0)) {
    throw Error(ANADROME_ERR_ARGUMENT, "--svg: nothing takes any time");
  }
  std::vector<Part> parts;
  parts.push_back(part_of("the whole sweep", {0, picture.seconds}, picture.last_step, picture.slots,
                          picture.disk));
  for (const Span& span : picture.spans) parts.front().panel.add(event_of(span));
  for (const Held& held : picture.held) parts.front().panel.add(held);
  put_picture(
      {picture.title, format_fixed(picture.seconds, 6) + " seconds", picture.remark, picture.axis},
      parts, picture.slots > 0, out);
}

}  // namespace anadrome::tool
