// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/sweep_picture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "tool/pictures/palette.h"
#include "tool/pictures/sweep_panel.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kMostSteps = 5'000'000;
constexpr std::int64_t kVisible = 150;  // so many steps are told apart without a close-up
constexpr double kHead = 106, kBetween = 8, kFoot = 12, kLetters = 13;

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

void draw_legend(Svg& svg, bool disk, bool waits, bool slots) {
  constexpr double kLine = 90;
  double x = 96;
  for (const auto& [doing, drawn] :
       {std::pair(Doing::kAdvance, true), std::pair(Doing::kRecompute, true),
        std::pair(Doing::kAdjoint, true), std::pair(Doing::kWait, waits),
        std::pair(Doing::kWrite, disk), std::pair(Doing::kRead, disk)}) {
    if (drawn) x = svg.legend(x, kLine, colour_of(doing), word_of(doing));
  }
  if (slots) svg.legend(x, kLine, kSlot, kSlotWords);
}

void draw_head(Svg& svg, const std::string& title, const std::string& about,
               const std::string& remark) {
  svg.about(title, about);
  svg.text(20, 34, title, {.size = 19, .bold = true});
  svg.text(20, 58, remark, {.colour = kQuiet});
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
  const double last = real(question.steps);
  std::vector<SweepPanel> panels;
  panels.emplace_back(PanelWindow{0, extent.seconds, 0, last, "the whole sweep"}, extent.slots,
                      disk);
  const std::int64_t close = steps_around_turn(question, estimate);
  if (question.steps > kVisible && extent.enters >= 0 && extent.leaves > extent.enters) {
    panels.emplace_back(PanelWindow{extent.enters, extent.leaves, last - real(close), last,
                                    "the last " + std::to_string(close) + " steps"},
                        extent.slots, disk);
  }
  questions::SweepSinks sinks;
  sinks.span = [&panels](const Span& span) {
    for (SweepPanel& panel : panels) panel.add(span);
  };
  sinks.held = [&panels](const Held& held) {
    for (SweepPanel& panel : panels) panel.add(held);
  };
  simulate(actions(), question, estimate, sinks);

  double height = kHead + kFoot;
  for (const SweepPanel& panel : panels) height += panel.height() + kBetween;
  const std::string title = std::string(estimate.schedule) + ": " + std::to_string(question.steps) +
                            " steps in " + duration_text(estimate.seconds) + ", " +
                            change_text(estimate.seconds / question.ideal_seconds()) +
                            " over the ideal";
  const std::string about = format_fixed(extent.seconds, 6) + " seconds, " +
                            format_fixed(extent.forward_steps, 0) + " forward steps, " +
                            format_fixed(extent.writes, 0) + " writes, " +
                            format_fixed(extent.reads, 0) + " reads";
  Svg svg(out, SweepPanel::kWidth, height, kLetters);
  draw_head(svg, title, about, estimate.remark);
  draw_legend(svg, disk, estimate.waiting > 0, true);
  double top = kHead;
  for (const SweepPanel& panel : panels) {
    panel.draw(svg, top);
    top += panel.height() + kBetween;
  }
  svg.close();
}

void draw_spans(const SpanPicture& picture, TextOut& out) {
  if (!(picture.seconds > 0)) {
    throw Error(ANADROME_ERR_ARGUMENT, "--svg: nothing takes any time");
  }
  SweepPanel panel({0, picture.seconds, 0, picture.last_step, "the whole sweep", picture.axis},
                   picture.slots, picture.disk);
  for (const Span& span : picture.spans) panel.add(span);
  for (const Held& held : picture.held) panel.add(held);
  Svg svg(out, SweepPanel::kWidth, kHead + kFoot + kBetween + panel.height(), kLetters);
  draw_head(svg, picture.title, format_fixed(picture.seconds, 6) + " seconds", picture.remark);
  draw_legend(svg, picture.disk, false, picture.slots > 0);
  panel.draw(svg, kHead);
  svg.close();
}

}  // namespace anadrome::tool
