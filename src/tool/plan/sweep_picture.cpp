#include "tool/plan/sweep_picture.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "tool/plan/comparison.h"
#include "tool/plan/sweep_panel.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kMostSteps = 5'000'000;
constexpr std::int64_t kVisible = 150;  // so many steps are told apart without a close-up
constexpr double kHead = 106, kBetween = 8, kFoot = 12;

// What the scales of the panels need to know beforehand.
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

Extent measure(const ActionSource& next, const WhatIf& question, const Estimate& estimate) {
  Extent extent;
  extent.enters = -1;
  const auto close = static_cast<double>(question.steps - steps_around_turn(question, estimate));
  SweepSinks sinks;
  sinks.span = [&](const Span& span) {
    const bool solves = span.doing == Doing::kForward || span.doing == Doing::kAgain;
    if (solves) extent.forward_steps += span.last - span.first;
    if (span.doing == Doing::kWrite) ++extent.writes;
    if (span.doing == Doing::kRead) ++extent.reads;
    if (span.doing == Doing::kForward && span.first <= close && span.last > close) {
      extent.enters = span.start + (close - span.first) * question.forward;
    }
    if (span.doing == Doing::kAdjoint && span.last >= close) extent.leaves = span.end;
  };
  sinks.held = [&](const Held& held) {
    if (held.tier == Tier::kRam) extent.slots = std::max(extent.slots, held.slot + held.slots);
  };
  extent.seconds = play(next, question, estimate, sinks);
  return extent;
}

void draw_legend(TextOut& out, bool disk, bool waits, bool slots) {
  struct Entry {
    Doing doing;
    const char* words;
    bool drawn;
  };
  double x = 96;
  for (const Entry& entry :
       {Entry{Doing::kForward, "step, first run", true}, Entry{Doing::kAgain, "step again", true},
        Entry{Doing::kAdjoint, "adjoint step", true}, Entry{Doing::kWait, "waiting", waits},
        Entry{Doing::kWrite, "write", disk}, Entry{Doing::kRead, "read", disk}}) {
    if (!entry.drawn) continue;
    out.put("<rect x=\"")
        .fixed(x, 1)
        .put("\" y=\"78\" width=\"14\" height=\"14\" rx=\"2\" fill=\"");
    out.put(colour_of(entry.doing)).put("\"/>\n<text x=\"").fixed(x + 20, 1);
    out.put("\" y=\"90\">").put(entry.words).put("</text>\n");
    x += 46 + 8.0 * static_cast<double>(std::string(entry.words).size());
  }
  if (!slots) return;
  out.put("<rect x=\"").fixed(x, 1).put("\" y=\"78\" width=\"14\" height=\"14\" rx=\"2\" ");
  out.put("fill=\"#54708c\"/>\n<text x=\"").fixed(x + 20, 1);
  out.put("\" y=\"90\">slot in use</text>\n");
}

void draw_head(TextOut& out, double height, const std::string& title, const std::string& about,
               const std::string& remark) {
  out.put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"").fixed(SweepPanel::kWidth, 0);
  out.put("\" height=\"").fixed(height, 0).put("\" viewBox=\"0 0 ");
  out.fixed(SweepPanel::kWidth, 0).put(" ").fixed(height, 0);
  out.put("\" font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\"");
  out.put(" font-size=\"13\" fill=\"#1c1c1c\">\n");
  out.put("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  out.put("<title>").put(title).put("</title>\n<desc>").put(about);
  out.put("</desc>\n<text x=\"20\" y=\"34\" font-size=\"19\" ");
  out.put("font-weight=\"bold\">").put(title).put("</text>\n");
  out.put("<text x=\"20\" y=\"58\" fill=\"#5f6b76\">").put(remark).put("</text>\n");
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
  const double last = static_cast<double>(question.steps);
  std::vector<SweepPanel> panels;
  panels.emplace_back(PanelWindow{0, extent.seconds, 0, last, "the whole sweep"}, extent.slots,
                      disk);
  const std::int64_t close = steps_around_turn(question, estimate);
  if (question.steps > kVisible && extent.enters >= 0 && extent.leaves > extent.enters) {
    panels.emplace_back(PanelWindow{extent.enters, extent.leaves, last - static_cast<double>(close),
                                    last, "the last " + std::to_string(close) + " steps"},
                        extent.slots, disk);
  }
  SweepSinks sinks;
  sinks.span = [&panels](const Span& span) {
    for (SweepPanel& panel : panels) panel.add(span);
  };
  sinks.held = [&panels](const Held& held) {
    for (SweepPanel& panel : panels) panel.add(held);
  };
  play(actions(), question, estimate, sinks);

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
  draw_head(out, height, title, about, estimate.remark);
  draw_legend(out, disk, estimate.waiting > 0, true);
  double top = kHead;
  for (const SweepPanel& panel : panels) {
    panel.draw(out, top);
    top += panel.height() + kBetween;
  }
  out.put("</svg>\n");
  out.flush();
}

void draw_spans(const SpanPicture& picture, TextOut& out) {
  if (!(picture.seconds > 0)) {
    throw Error(ANADROME_ERR_ARGUMENT, "--svg: nothing takes any time");
  }
  SweepPanel panel({0, picture.seconds, 0, picture.last_step, "the whole sweep"}, picture.slots,
                   picture.disk);
  for (const Span& span : picture.spans) panel.add(span);
  for (const Held& held : picture.held) panel.add(held);
  draw_head(out, kHead + kFoot + kBetween + panel.height(), picture.title,
            format_fixed(picture.seconds, 6) + " seconds", picture.remark);
  draw_legend(out, picture.disk, false, picture.slots > 0);
  panel.draw(out, kHead);
  out.put("</svg>\n");
  out.flush();
}

}  // namespace anadrome::tool
