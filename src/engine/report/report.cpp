// SPDX-License-Identifier: BSD-2-Clause
#include "engine/report/report.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/index.h"
#include "base/text_out.h"
#include "engine/report/summary.h"

namespace anadrome::engine {
namespace {

void copy_text(char* to, std::size_t size, const char* text) {
  std::strncpy(to, text, size - 1);
  to[size - 1] = '\0';
}

}  // namespace

void require_files(const Options& options) {
  if (options.report != "off" && options.report != "-") store::require_writable(options.report);
  if (options.trace != "off") store::require_writable(options.trace);
}

anadrome_stats Report::statistics() const {
  anadrome_stats stats{};
  const double now = now_seconds();
  stats.steps = schedule::kUnknown;
  stats.forward_steps_planned = stats.forward_steps_remaining = schedule::kUnknown;
  stats.ranks = agreement_.size();
  stats.memory_bytes = options_.memory;
  stats.state_bytes = plan_.memory.layout.state_bytes();
  stats.state_bytes_all_ranks = plan_.state_bytes_all_ranks;
  stats.peak_library_bytes = keeper_.peak_bytes();
  stats.slots = plan_.memory.blocks * plan_.memory.slots.states();
  stats.checkpoint_slots = plan_.memory.checkpoint_slots;
  stats.prefetch_depth = plan_.memory.prefetch_depth;
  stats.states_per_write = plan_.memory.layout.states();
  stats.forward_steps_taken = sweep_.advances;
  stats.adjoint_steps_taken = sweep_.adjoints;
  stats.states_kept = sweep_.copies.kept;
  stats.states_restored = sweep_.copies.restored;
  stats.agreements = agreement_.count() - sweep_.before.agreements;
  stats.seconds_agreeing = agreement_.seconds() - sweep_.before.seconds_agreeing;
  stats.seconds_copying = sweep_.copies.seconds;
  stats.direct_io = -1;
  stats.phase = sweep_.phase;
  if (sweep_.times.begin > 0) {
    const double end = sweep_.times.done > 0 ? sweep_.times.done : now;
    stats.seconds_total = end - sweep_.times.begin;
    stats.seconds_forward = (sweep_.times.turn > 0 ? sweep_.times.turn : end) - sweep_.times.begin;
    stats.seconds_adjoint = sweep_.times.turn > 0 ? end - sweep_.times.turn : 0;
  }
  stats.seconds_step = std::max(measured_.agreed().forward, measured_.forward());
  stats.seconds_adjoint_step = std::max(measured_.agreed().adjoint, measured_.adjoint());
  stats.seconds_write_state = measured_.write_times_known() ? measured_.disk().write : 0;
  stats.seconds_read_state = measured_.disk().read;
  if (plan_.sweep != nullptr) {
    const schedule::Course course = plan_.sweep->course();
    stats.steps = course.steps;
    stats.interval = course.interval;
    stats.anchors = keeper_.uses_disk() ? plan_.sweep->anchors().count() : 0;
    const std::int64_t left = advances_to_come();
    if (left != schedule::kUnknown) {
      // The advance in the caller's hands is neither taken nor to come; one of steps that are
      // compared does not count.
      const std::int64_t in_hand =
          sweep_.in_hand.kind == ANADROME_ADVANCE && !sweep_.checks.repeats
              ? (sweep_.finished_at >= 0 ? sweep_.finished_at : sweep_.in_hand.last) -
                    sweep_.in_hand.first
              : 0;
      stats.forward_steps_remaining = left;
      stats.forward_steps_planned = left > schedule::kNoLimit - sweep_.advances - in_hand
                                        ? left
                                        : left + sweep_.advances + in_hand;
    }
  }
  if (keeper_.uses_disk()) {
    store::TransferTotals totals;
    for (int volume = 0; volume < storage_.volumes(); ++volume) totals += moved(volume);
    stats.bytes_written = totals.bytes_written;
    stats.bytes_read = totals.bytes_read;
    stats.bytes_compressed = totals.bytes_encoded;
    stats.seconds_writing = totals.seconds_writing;
    stats.seconds_reading = totals.seconds_reading;
    stats.seconds_checksums = totals.seconds_checksums;
    for (int volume = 0; volume < storage_.volumes(); ++volume) {
      const store::TransferNotes& notes = keeper_.disk_tier()->notes(volume);
      stats.seconds_stalled_write += notes.seconds_stalled_write();
      stats.seconds_stalled_read += notes.seconds_stalled_read();
      stats.disk_bytes_reserved_all_ranks += storage_.space(volume)->file_bytes_all_ranks();
      stats.writes_failed += notes.writes_failed();
      stats.states_written += notes.states_written();
      stats.states_read += notes.states_read();
    }
    const bool direct = storage_.space()->direct();
    stats.direct_io = direct ? 1 : 0;
    copy_text(stats.layout, sizeof stats.layout, to_string(options_.layout));
    copy_text(stats.transport, sizeof stats.transport,
              options_.mpio() ? "mpio"
              : direct        ? "direct"
                              : "buffered");
  }
  stats.anchors_lost = sweep_.anchors_lost;
  stats.gradient_error = sweep_.checks.gradient_error;
  stats.tolerance = options_.has_tolerance() ? options_.tolerance : 0;
  stats.seconds_predicted = sweep_.prediction.seconds;
  stats.predicted_at_step = sweep_.prediction.made_at;
  stats.adjoint_guessed = sweep_.prediction.adjoint_guessed ? 1 : 0;
  stats.passes = sweep_.passes.begun;
  stats.visit_steps_taken = sweep_.passes.visits;
  stats.seconds_visit_step = measured_.visit();
  stats.drift = sweep_.undone.drift;
  copy_text(stats.schedule, sizeof stats.schedule, to_string(plan_.schedule));
  if (sweep_.undone.per_state > 1) count_steps(stats);
  return stats;
}

// Of the sweep below, whose steps are blocks of them.
void Report::count_steps(anadrome_stats& stats) const {
  const SweepState::Undone& undone = sweep_.undone;
  for (std::int64_t* const steps :
       {&stats.steps, &stats.forward_steps_planned, &stats.forward_steps_taken,
        &stats.adjoint_steps_taken, &stats.forward_steps_remaining, &stats.predicted_at_step}) {
    *steps = undone.step(*steps);
  }
  stats.interval = undone.per_state;
  stats.tolerance = options_.tolerance;
  stats.seconds_step /= real(undone.per_state);
  stats.seconds_adjoint_step /= real(undone.per_state);
}

// How steps were undone, and what that cost, for the summary.
std::string Report::undone(const anadrome_stats& stats) const {
  if (!plan_.schedule->needs.undo) return "";
  const SweepState::Undone& undone = sweep_.undone;
  const double step = undone.forward.of_one(), undo = undone.undo.of_one();
  std::string text =
      "a step in " + format_seconds(undo) + " (it takes " + format_seconds(step) +
      "), copies and residuals " +
      format_seconds(undone.own_seconds / real(std::max<std::int64_t>(stats.steps, 1))) + " a step";
  if (undone.per_state > 1) {
    text += "; drift " + format_number(undone.drift, std::chars_format::scientific, 1) + " in " +
            std::to_string(undone.per_state) + " steps, tolerance " +
            format_in_full(options_.tolerance);
  } else if (stats.bytes_written > 0) {
    text += "; residuals " +
            format_fixed(real(stats.bytes_compressed) / real(stats.bytes_written), 1) +
            " times smaller than states";
  }
  return text;
}

// To and from a volume, in this sweep, by this rank.
store::TransferTotals Report::moved(int volume) const {
  const auto index = at(volume);
  return storage_.transport(volume)->totals().since(sweep_.before.totals[index]);
}

void Report::warn_of(const Failure& failure) {
  if (failure) warnings_.say({failure.message});
}

void Report::write() {
  warn_of(failure_from([&] { summarise(); }));
  if (recorder_.on()) warn_of(failure_from([&] { write_trace(); }));
}

void Report::write_pass() {
  if (agreement_.rank() == 0 && options_.report != "off")
    warn_of(failure_from([&] { add_line_of_pass(); }));
  if (!recorder_.on()) return;
  const Activity pass = sweep_.passes.forward ? Activity::kForwardPass : Activity::kReversePass;
  recorder_.add(pass, sweep_.passes.began, sweep_.times.done, 0, plan_.sweep->course().steps);
  warn_of(failure_from([&] { write_trace(); }));
}

// Below the sweep's summary. Rank 0 alone knows what it takes.
void Report::add_line_of_pass() const {
  const SweepState::Passes& passes = sweep_.passes;
  const double n = real(std::max<std::int64_t>(plan_.sweep->course().steps, 1));
  const double factor = real(sweep_.advances - passes.advances_before) / n;
  char line[160];
  std::snprintf(line, sizeof line, "  pass %-5lld %s, %s forward steps per step, %s\n",
                static_cast<long long>(passes.begun), passes.forward ? "forward" : "reverse",
                format_number(factor, std::chars_format::fixed, 3).c_str(),
                format_seconds(sweep_.times.done - passes.began).c_str());
  put_in_report(line, O_APPEND);
}

// Collective.
void Report::write_trace() {
  TraceHeading heading;
  heading.schedule = to_string(plan_.schedule);
  heading.version = version();
  heading.steps = plan_.sweep->course().steps;
  heading.ranks = agreement_.size();
  heading.seconds = sweep_.times.done - sweep_.times.begin;
  agreement_.ranks().largest(std::span(&heading.seconds, 1));
  recorder_.write(agreement_, options_.trace, heading);
}

void Report::show_progress(double now) {
  const bool reverse = sweep_.phase == ANADROME_PHASE_REVERSE;
  const std::int64_t advances = plan_.sweep->advances_remaining();
  const std::int64_t adjoints = plan_.sweep->course().adjoints_left;
  const double step = measured_.forward();
  const double adjoint = measured_.adjoint() > 0 ? measured_.adjoint() : 2 * step;
  const double done = real(sweep_.advances) * step + real(sweep_.adjoints) * adjoint;
  const bool known = advances != schedule::kUnknown && adjoints != schedule::kUnknown && step > 0;
  const double left = known ? real(advances) * step + real(adjoints) * adjoint : -1;
  // In the reverse sweep what counts is how far down the adjoint is, not which step is recomputed.
  const SweepState::Undone& undone = sweep_.undone;
  const std::int64_t step_now = undone.step(reverse ? adjoints : sweep_.in_hand.first);
  const std::int64_t steps = undone.step(plan_.sweep->course().steps);
  failure_from([&] { warnings_.progress().show(now, reverse, step_now, steps, done, left); });
}

// Collective: every rank takes part, rank 0 writes if its option says so.
void Report::summarise() {
  const anadrome_stats stats = statistics();
  const bool root = agreement_.rank() == 0, wanted = root && options_.report != "off";
  const bool two = keeper_.uses_disk() && storage_.volumes() > 1;
  const store::TransferTotals fast = two ? moved(store::kFast) : store::TransferTotals{};
  const auto sums =
      sum_of<std::int64_t>(agreement_.ranks(), Sums{.bytes_written = stats.bytes_written,
                                                    .bytes_read = stats.bytes_read,
                                                    .bytes_compressed = stats.bytes_compressed,
                                                    .fast_written = fast.bytes_written,
                                                    .fast_read = fast.bytes_read,
                                                    .wanted = wanted ? 1 : 0});
  if (sums.wanted == 0) return;
  const auto largest =
      largest_of<double>(agreement_.ranks(), Largest{.stalled_write = stats.seconds_stalled_write,
                                                     .stalled_read = stats.seconds_stalled_read,
                                                     .copying = stats.seconds_copying,
                                                     .agreeing = stats.seconds_agreeing,
                                                     .writing = stats.seconds_writing,
                                                     .reading = stats.seconds_reading,
                                                     .checksums = stats.seconds_checksums,
                                                     .peak = real(stats.peak_library_bytes)});
  const Outlook outlook = this->outlook(plan_.sweep->course().steps);
  const std::int64_t revolve_slots =
      (plan_.schedule->needs.undo ? schedule::kHeldByUndo : 0) +
      planning_.slots_with(plan_, schedule::schedule_for(schedule::InAuto::kNoDisk));
  if (!root) return;
  const Reduced all = {sums, largest};
  const bool part = sweep_.resumed.phase != ANADROME_PHASE_IDLE;
  SweepTimes times = times_of(stats, all, sweep_.spent, part);
  times.slowed = slowed();
  const bool compares = options_.audit != Audit::kOff;
  const bool offer_exchanged = plan_.memory.largest_state_bytes >= store::kHandedOverBytes &&
                               !plan_.memory.single && !plan_.schedule->needs.undo;
  const std::string text =
      summary(stats, all, options_.interval == 0,
              {options_.codec(), verdict(times, outlook, offer_exchanged), sweep_.chosen,
               describe_memory(all.peak_bytes()), compares ? compared(sweep_.checks) : "",
               sweep_.disk_refused.message, plan_command(stats), options_.overruled(),
               options_.without_effect(*plan_.schedule, plan_.memory.single),
               two ? volumes(all) : "", undone(stats), options_.leaves_holes(), plan_.record, part,
               revolve_slots, sweep_.never_on_disk});
  put_in_report(text, O_CREAT | O_TRUNC);
}

// What went to either, all ranks together, and how fast it was on this one.
std::string Report::volumes(const Reduced& all) const {
  const auto line = [&](int volume, std::int64_t written, std::int64_t read) {
    const store::TransferTotals mine = moved(volume);
    return format_bytes(written) + " written" + rate_of(mine.bytes_written, mine.seconds_writing) +
           ", " + format_bytes(read) + " read" + rate_of(mine.bytes_read, mine.seconds_reading);
  };
  return "  fast       " + line(store::kFast, all.fast_written, all.fast_read) + "\n  home       " +
         line(store::kHome, all.bytes_written - all.fast_written, all.bytes_read - all.fast_read) +
         "\n";
}

// With O_APPEND it goes to the file's end.
void Report::put_in_report(const std::string& text, int flags) const {
  if (options_.report == "-") {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return;
  }
  const store::File file = store::File::open(options_.report, O_WRONLY | flags, 0644);
  file.write_all(text.data(), text.size(), 0);
}

double Report::mean_forward() const {
  const double seconds = sweep_.spent.forward + sweep_.spent.again;
  return seconds / real(std::max<std::int64_t>(sweep_.advances, 1));
}

double Report::mean_adjoint() const {
  return sweep_.spent.adjoint / real(std::max<std::int64_t>(sweep_.adjoints, 1));
}

// Seconds that steps took more than where transfers slow them least. Not of schedule=undo, whose
// steps below are of several kinds.
double Report::slowed() const {
  const double step = measured_.interval_times().step();
  if (!keeper_.uses_disk() || step <= 0 || plan_.schedule->needs.undo) return 0;
  return std::max(mean_forward() - step, 0.0) * real(sweep_.advances);
}

// Of a whole sweep that began at x_0, as the one that was; a part says nothing of a whole.
// Collective.
Outlook Report::outlook(std::int64_t steps) {
  Outlook outlook;
  const bool whole = sweep_.resumed.phase == ANADROME_PHASE_IDLE && !sweep_.rewound;
  if (!whole || steps <= 0) return outlook;
  const bool full = sweep_.no_more_anchors;
  Planning::Supposed as_it_was;
  as_it_was.steps = steps;
  if (full) as_it_was.anchors_that_fit = std::max<std::int64_t>(sweep_.anchors_on_disk, 1);
  as_it_was.forward = mean_forward();
  as_it_was.adjoint = mean_adjoint();
  const auto seconds = [&](const auto& change) {
    Planning::Supposed supposed = as_it_was;
    change(supposed);
    return planning_.forecast(plan_, supposed);
  };
  outlook.now = seconds([](auto&) {});
  outlook.twice_memory = seconds([](auto& supposed) { supposed.memory = 2; });
  if (!keeper_.uses_disk()) return outlook;
  const bool limited = full || options_.disk >= 0 || options_.fast.disk >= 0;
  if (limited) {
    outlook.twice_room = seconds([&](auto& supposed) {
      supposed.disk_room = 2;
      if (full) supposed.anchors_that_fit *= 2;
    });
  }
  if (full) return outlook;
  outlook.twice_disk = seconds([](auto& supposed) { supposed.disk_rate = 2; });
  if (options_.mpio())
    outlook.overlapped = seconds([](auto& supposed) { supposed.overlaps = true; });
  return outlook;
}

// The question to ask before the next job, with what this one measured.
std::string Report::plan_command(const anadrome_stats& stats) const {
  if (stats.steps <= 0 || mean_forward() <= 0) return "";
  const auto number = [](double value) {
    return format_number(value, std::chars_format::general, 3);
  };
  const auto one_rate = [&](double seconds) {
    std::string text = format_rate(real(plan_.memory.largest_state_bytes) / seconds);
    return std::erase(text, ' '), text;
  };
  // FAST,HOME where there are two, and states went to both.
  const AgreedNumbers& agreed = measured_.agreed();
  const bool two = options_.has_fast() && agreed.write > 0 && agreed.fast_write > 0;
  const auto rates = [&](double both, double home, double fast) {
    if (!two || home <= 0 || fast <= 0) return one_rate(both);
    return one_rate(fast) + "," + one_rate(home);
  };
  std::string text = "  anadrome plan --steps " + std::to_string(stats.steps) + " --state " +
                     std::to_string(plan_.memory.largest_state_bytes) + " --ranks " +
                     std::to_string(stats.ranks) + " --memory " +
                     std::to_string(stats.memory_bytes);
  const SweepState::Undone& undone = sweep_.undone;
  const bool undoes = plan_.schedule->needs.undo;
  text += " --step-time " + number(undoes ? undone.forward.of_one() : mean_forward()) +
          " --adjoint-time " + number(undoes ? undone.adjoint.of_one() : mean_adjoint());
  if (options_.passes > 0) {
    text += " --passes " + std::to_string(options_.passes);
    if (stats.seconds_visit_step > 0) text += " --visit-time " + number(stats.seconds_visit_step);
  }
  if (stats.seconds_write_state > 0)
    text += " --write-rate " + rates(stats.seconds_write_state, agreed.write, agreed.fast_write);
  if (stats.seconds_read_state > 0)
    text += " --read-rate " + rates(stats.seconds_read_state, agreed.read, agreed.fast_read);
  // The rates have the compression in them. Under `disk` it is that of anchors, of which x_0 may be
  // the emptiest; each is counted once.
  double ratio =
      real(stats.bytes_compressed) / real(std::max<std::int64_t>(stats.bytes_written, 1));
  const double mean = measured_.agreed().filled.mean;
  if (mean > 0) ratio = 1 / mean;
  const bool drifts = undone.per_state > 1;
  if (drifts) ratio = 1;  // without residuals no more is known of it
  if (drifts || (stats.bytes_compressed > 0 && ratio > 1))
    text += (undoes ? " --undo " : " --compress ") + format_fixed(ratio, 2) +
            (undoes ? "," + number(undone.undo.of_one() +
                                   undone.own_seconds / ((drifts ? 1 : 2) * real(stats.steps)))
                    : "");  // a step is undone twice, but for the drifting ones
  if (options_.checkpoints > 0) text += " --checkpoints " + std::to_string(options_.checkpoints);
  if (plan_.memory.single) text += " --slot " + std::to_string(plan_.memory.largest_slot_bytes);
  const auto room = [](std::int64_t bytes) {
    return bytes < 0 ? std::string("unlimited") : std::to_string(bytes);
  };
  const bool fast_alone = options_.has_fast() && !two && agreed.fast_write > 0;
  const std::int64_t disk = fast_alone ? options_.fast.disk : options_.disk;
  if (two && (options_.disk >= 0 || options_.fast.disk >= 0)) {
    text += " --disk " + room(options_.fast.disk) + "," + room(options_.disk);
  } else if (disk >= 0) {
    text += " --disk " + room(disk);
  }
  return text + "\n";
}

// Of the caller's steps; a step below is one that is undone as well, or a block of them.
double Report::guessed_adjoint(double forward) const {
  constexpr double kStepsOfAdjoint = 2;
  if (!plan_.schedule->needs.undo) return kStepsOfAdjoint * forward;
  const SweepState::Undone& undone = sweep_.undone;
  const double step = undone.forward.of_one(), undo = undone.undo.of_one();
  return real(undone.per_state) * (kStepsOfAdjoint * step + (undo > 0 ? undo : step));
}

SweepCosts Report::costs(double forward) const {
  SweepCosts costs;
  costs.step = planning_.costs(plan_);
  costs.step.forward = forward;
  costs.step.write_taken = costs.step.read_taken = 0;
  const double adjoint = std::max(measured_.agreed().adjoint, measured_.adjoint());
  costs.step.adjoint = adjoint > 0 ? adjoint : guessed_adjoint(forward);
  costs.copy = measured_.copy();
  costs.anchor_copy = measured_.anchor_copy();
  const auto agreements = real(agreement_.count() - sweep_.before.agreements);
  if (agreements > 0) {
    costs.agreement = (agreement_.seconds() - sweep_.before.seconds_agreeing) / agreements;
  }
  const schedule::Course course = plan_.sweep->course();
  costs.steps = course.steps;
  const bool no_more = course.ends_in_ram && costs.steps != schedule::kUnknown;
  const bool x_0_alone = no_more && sweep_.anchors_put <= 1;  // written, and never read
  costs.disk = keeper_.uses_disk() && !x_0_alone;
  costs.plan.slots = plan_.memory.checkpoint_slots;
  costs.memory.states_per_block = plan_.memory.layout.states();
  costs.memory.tape_units = plan_.kept_tape_slots();
  if (!costs.disk) return costs;
  costs.memory = planning_.shared_memory(plan_);
  costs.all_anchors = options_.writes_all_anchors();
  costs.plan.interval = std::max<std::int64_t>(no_more ? costs.steps : course.interval, 1);
  costs.plan.prefetch_depth = plan_.memory.prefetch_depth;
  const schedule::IntervalTimes& times = measured_.interval_times();
  const double step = times.step();
  const bool undoes = plan_.schedule->needs.undo;
  if (no_more || undoes || times.pieces() == 0 || step >= forward) return costs;
  costs.step.forward = step;
  costs.step.write_taken = (forward - step) * real(costs.plan.interval);
  costs.step.read_taken = std::min(costs.step.write_taken, costs.step.read);
  if (adjoint <= 0) costs.step.adjoint = guessed_adjoint(step);
  return costs;
}

// With those of an advance that the caller has in pieces.
std::int64_t Report::advances_to_come() const {
  const schedule::Advance& pieces = sweep_.checks.repeats ? sweep_.waiting : sweep_.rest;
  const std::int64_t left = plan_.sweep->advances_remaining(), rest = pieces.last - pieces.first;
  if (left == schedule::kUnknown) return left;
  return left > schedule::kNoLimit - rest ? schedule::kNoLimit : left + rest;
}

// From the steps since the last time. What transfers beside them took of these will be taken again.
void Report::predict() {
  SweepState::Prediction& prediction = sweep_.prediction;
  const std::int64_t to_come = advances_to_come();
  const schedule::Course course = plan_.sweep->course();
  if (to_come == schedule::kUnknown || !course.rests) {  // the interval is not known yet
    prediction.due_at = 2 * sweep_.advances < course.steps ? sweep_.advances + 1 : 0;
    return;
  }
  const double steps = real(sweep_.advances - prediction.advances);
  const double forward = (sweep_.spent.forward - prediction.forward) / steps;
  const bool cold = prediction.advances == 0;
  prediction.due_at = prediction_after(course.steps, sweep_.advances);
  prediction.advances = sweep_.advances;
  prediction.forward = sweep_.spent.forward;
  if (cold) return;
  prediction.adjoint_guessed = measured_.agreed().adjoint <= 0 && measured_.adjoint() <= 0;
  prediction.made_at = sweep_.advances;
  prediction.seconds =
      predict_seconds(costs(forward), {now_seconds() - sweep_.times.begin, sweep_.advances, to_come,
                                       sweep_.anchors_put, course.anchors_left});
}

// For the summary; `peak`: what was measured, of the rank where it is most.
std::string Report::describe_memory(std::int64_t peak) const {
  if (const DevicePlan& there = plan_.memory.device; there.slots > 0) {
    return format_bytes(peak) + " of " + format_bytes(options_.memory) +
           " per rank: " + counted(plan_.memory.blocks, "block") + "; on a device " +
           format_bytes(there.device_bytes()) + " of " + format_bytes(options_.device_memory) +
           ": " + counted(there.slots, "slot") + " for checkpoints";
  }
  if (!plan_.memory.single) return "";
  return format_bytes(peak) + " of " + format_bytes(options_.memory) +
         " per rank: " + counted(plan_.memory.blocks * plan_.memory.slots.states(), "slot") +
         " of " + format_bytes(plan_.memory.slots.state_bytes()) + " in single precision, " +
         std::to_string(plan_.memory.checkpoint_slots) + " for checkpoints";
}

}  // namespace anadrome::engine
