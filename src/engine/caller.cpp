// SPDX-License-Identifier: BSD-2-Clause
#include "engine/caller.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/disk/watch.h"
#include "engine/sweep/fingerprint.h"

namespace anadrome::engine {
namespace {

Doing doing(const anadrome_action& action) {
  switch (action.kind) {
    case ANADROME_ADVANCE:
      return action.again != 0 ? Doing::kAdvanceAgain : Doing::kAdvance;
    case ANADROME_TURN:
      return Doing::kTurn;
    case ANADROME_ADJOINT:
      return Doing::kAdjoint;
    case ANADROME_VISIT:
      return Doing::kVisit;
    default:
      return Doing::kAfterDone;
  }
}

}  // namespace

void Caller::begin() {
  compares_adjoint_ = false;  // of a sweep that was not ended
  preflight_.begin();
  comparison_.begin(context_.asked.options.audit != Audit::kOff);
  audits_.begin();
  spot_checks_.begin();
  clock_.begin(context_.asked.fields.state());
  context_.peers.agreement.agree({.call = Call::kBegin, .failure = context_.peers.held.failure()});
}

// ---- what comes back ----

void Caller::record(double now, std::int64_t last) {
  const anadrome_action& done = context_.play.sweep.in_hand;
  Activity activity = Activity::kTurn;
  switch (done.kind) {
    case ANADROME_ADVANCE:
      activity = done.again != 0 ? Activity::kRecompute : Activity::kAdvance;
      break;
    case ANADROME_ADJOINT:
      activity = Activity::kAdjoint;
      break;
    case ANADROME_VISIT:
      activity = Activity::kVisit;
      break;
    case ANADROME_TURN:
      break;
    default:  // the caller prepares x_0
      return;
  }
  context_.notes.recorder.add(activity, context_.play.sweep.handed_out, now, done.first, last);
}

void Caller::advance_is_done(std::int64_t last, double seconds) {
  SweepState& sweep = context_.play.sweep;
  const anadrome_action& action = sweep.in_hand;
  const std::int64_t steps = last - action.first;
  sweep.advances += steps;
  if (sweep.timed && !clock_.on()) add_seconds(action, steps, seconds);
  const std::int64_t due_at = sweep.prediction.due_at;
  if (due_at > 0 && sweep.advances >= due_at) report_.predict();
}

// Of an advance, or of an adjoint step.
void Caller::add_seconds(const anadrome_action& action, std::int64_t steps, double seconds) {
  SweepState& sweep = context_.play.sweep;
  Measurements& measured = context_.notes.measured;
  if (action.kind == ANADROME_ADJOINT) {
    measured.add_adjoint(seconds);
    sweep.spent.adjoint += measured.adjoints_like(seconds);
    return;
  }
  if (action.record == 0) measured.add_forward(seconds, steps);
  (action.again != 0 ? sweep.spent.again : sweep.spent.forward) += measured.advances_like(seconds);
}

void Caller::adjoint_is_done(double seconds) {
  SweepState& sweep = context_.play.sweep;
  ++sweep.adjoints;
  if (sweep.timed && !clock_.on()) add_seconds(sweep.in_hand, 1, seconds);
}

void Caller::visit_is_done(double seconds) {
  ++context_.play.sweep.passes.visits;
  if (context_.play.sweep.timed) context_.notes.measured.add_visit(seconds);
}

void Caller::read_clock(std::int64_t steps) {
  const SweepState& sweep = context_.play.sweep;
  const bool is_step =
      sweep.in_hand.kind == ANADROME_ADVANCE || sweep.in_hand.kind == ANADROME_ADJOINT;
  context_.peers.held.attempt([&] {
    if (sweep.timed && is_step && !sweep.checks.repeats) clock_.stop(sweep.in_hand, steps);
    clock_.over([this](const StepClock::Timed& timed) {
      add_seconds(timed.action, timed.steps, timed.seconds);
    });
  });
}

void Caller::take_back() {
  SweepState& sweep = context_.play.sweep;
  const anadrome_action& action = sweep.in_hand;
  const double now = sweep.timed ? now_seconds() : 0;
  const double seconds = now - sweep.handed_out;
  const std::int64_t last = sweep.finished_at >= 0 ? sweep.finished_at : action.last;
  if (context_.notes.recorder.on()) record(now, last);
  if (clock_.on()) read_clock(last - action.first);
  if (action.kind == ANADROME_ADVANCE) {
    if (preflight_.on()) preflight_.took(seconds);
    if (!sweep.checks.repeats) {
      advance_is_done(last, seconds);
    } else if (sweep.timed) {
      context_.notes.measured.step_took(seconds, last - action.first);
    }
  } else if (action.kind == ANADROME_ADJOINT) {
    adjoint_is_done(seconds);
  } else if (action.kind == ANADROME_VISIT) {
    visit_is_done(seconds);
  }
  sweep.finished_at = -1;
  sweep.timed = false;
  sweep.in_hand = {};
  if (sweep.then_is_written) {
    keeper_.live()->step_done();
    sweep.then_is_written = false;
  }
}

// ---- what is handed out ----

// The caller writes the next state of exchanged fields, or x_0.
void Caller::make_room_for_step() {
  context_.peers.held.attempt([&] { keeper_.live()->make_room_for_step(); });
  context_.play.sweep.then_is_written = true;
}

// Exchanged fields change places at every step, so the caller takes one at a time. And an advance
// ends where the sweep's time is predicted: by Revolve alone the first one is a long one.
std::int64_t Caller::end_of_part(const schedule::Advance& advance) const {
  if (keeper_.live()->exchanged()) return advance.first + 1;
  if (context_.play.sweep.checks.repeats) return advance.last;
  std::int64_t last = audits_.end_of_part(advance);
  if (advance.again) return last;
  if (preflight_.on()) last = std::min(last, preflight_.end_of_part(advance));
  const SweepState& sweep = context_.play.sweep;
  const std::int64_t to_prediction = sweep.prediction.due_at - sweep.advances;
  return to_prediction > 0 ? std::min(advance.first + to_prediction, last) : last;
}

void Caller::hand_out(const schedule::Advance& advance) {
  audits_.choose(advance, *keeper_.live());
  hand_out_part(advance);
}

// True: this advance waits for the preflight, which hands out others.
bool Caller::looks_at(const schedule::Advance& advance) {
  const LiveState& live = *keeper_.live();
  if (advance.again) {
    if (!context_.play.sweep.checks.repeats) audits_.computed_again(advance.first, live);
    return false;
  }
  audits_.computed(advance.first, live);
  if (!preflight_.on()) return false;
  preflight_.computed(advance.first);
  if (!preflight_.repeats()) return false;
  context_.play.sweep.waiting = advance;
  return context_.play.sweep.checks.repeats = true;
}

void Caller::hand_out_part(const schedule::Advance& advance) {
  const schedule::Advance action = looks_at(advance) ? preflight_.again() : advance;
  SweepState& sweep = context_.play.sweep;
  if (keeper_.live()->exchanged()) make_room_for_step();
  schedule::Advance part = action;
  part.last = end_of_part(action);
  part.record = action.record && part.last == action.last;
  sweep.rest = action;
  sweep.rest.first = part.last;
  anadrome_action& in_hand = sweep.in_hand;
  in_hand.kind = ANADROME_ADVANCE;
  in_hand.record = part.record ? 1 : 0;
  in_hand.again = part.again ? 1 : 0;
  in_hand.first = part.first;
  in_hand.last = part.last;
  is_handed_out();
}

// Steps that are compared came back. False: the schedule's next action comes.
bool Caller::hand_out_what_waited() {
  SweepState& sweep = context_.play.sweep;
  const schedule::Advance rest = sweep.rest, waiting = sweep.waiting;
  if (rest.first < rest.last) return hand_out_part(rest), true;
  sweep.checks.repeats = false;
  sweep.waiting = {};
  if (spot_checks_.repeats()) {
    const std::int64_t step = spot_checks_.again().first;
    spot_checks_.compare();
    return hand_out_adjoint(step), true;
  }
  preflight_.compare();
  if (waiting.first == waiting.last) return false;
  return hand_out_part(waiting), true;
}

bool Caller::runs_again_before_turn(std::int64_t step) {
  preflight_.turns_at(step);
  if (!preflight_.repeats()) return false;
  context_.play.sweep.checks.repeats = true;
  hand_out_part(preflight_.again());
  return true;
}

void Caller::hand_out(const schedule::Turn& turn) {
  anadrome_action& action = context_.play.sweep.in_hand;
  action.kind = ANADROME_TURN;
  action.again = turn.again ? 1 : 0;
  action.first = action.last = turn.step;
  is_handed_out();
}

void Caller::hand_out(const schedule::Adjoint& adjoint) {
  if (!context_.play.plan.record) {
    audits_.computed_again(adjoint.step, *keeper_.live());
    if (spot_checks_.before_adjoint(adjoint.step)) {
      context_.play.sweep.checks.repeats = true;
      return hand_out_part(spot_checks_.again());
    }
  }
  hand_out_adjoint(adjoint.step);
}

void Caller::hand_out_adjoint(std::int64_t step) {
  if (std::exchange(looks_at_adjoint_, false)) {  // in the first sweep, on all ranks alike
    compares_adjoint_ = context_.asked.options.audit != Audit::kOff &&
                        context_.asked.fields.has(ANADROME_ROLE_ADJOINT);
    if (compares_adjoint_) adjoint_at_first_ = sum_of_adjoint();
  }
  keeper_.read_ahead();
  anadrome_action& action = context_.play.sweep.in_hand;
  action.kind = ANADROME_ADJOINT;
  action.again = context_.play.sweep.checks.on_trial ? 1 : 0;
  action.first = step;
  action.last = step + 1;
  is_handed_out();
}

void Caller::hand_out(const schedule::Visit& visit) {
  if (!context_.play.plan.record) audits_.computed_again(visit.step, *keeper_.live());
  keeper_.read_ahead();
  anadrome_action& step = context_.play.sweep.in_hand;
  step.kind = ANADROME_VISIT;
  step.first = visit.step;
  step.last = visit.step + 1;
  is_handed_out();
}

// Of all fields of role ADJOINT; none where one of them is no array of the host.
std::optional<std::uint64_t> Caller::sum_of_adjoint() const {
  std::uint64_t sum = 0;
  for (const store::Field& field : context_.asked.fields.all()) {
    if (field.role != ANADROME_ROLE_ADJOINT) continue;
    if (field.mover != nullptr) return {};
    sum = 31 * sum + fingerprint(field.values, field.bytes()).hash;
  }
  return sum;
}

// Collective. A rank that sees nothing, as where its fields are on a device, says nothing is wrong.
void Caller::look_at_adjoint() {
  if (!std::exchange(compares_adjoint_, false)) return;
  double changed = adjoint_at_first_ && sum_of_adjoint() == adjoint_at_first_ ? 0 : 1;
  context_.peers.agreement.ranks().largest({&changed, 1});
  if (changed > 0) return;
  context_.notes.warnings.warn(
      {"no adjoint step changed a registered adjoint field: if the gradient is not 0, its adjoint "
       "steps write to other arrays than those"});
}

// Silence would say that the steps depend on registered fields alone.
void Caller::end_sweep() {
  look_at_adjoint();
  const SweepState& sweep = context_.play.sweep;
  const bool wanted = context_.asked.options.audit != Audit::kOff;
  const std::size_t fields = context_.asked.fields.all().size();
  if (sweep.checks.compared_some()) compared_fields_ = fields;
  const bool is_whole = sweep.resumed.phase == ANADROME_PHASE_IDLE && sweep.advances > 0;
  if (!wanted || !is_whole) return;
  if (preflight_.at_rest()) {
    context_.notes.warnings.warn(
        {"no step changed a registered state field: if this model is not at "
         "rest, its steps write to other arrays than those"});
  }
  if (compared_fields_ == fields || preflight_.at_rest()) return;
  const std::string_view why = preflight_.left_out();
  context_.notes.warnings.warn(
      {"no step was run twice", why.empty() ? "" : " (", why, why.empty() ? "" : ")",
       ": whether the steps depend on the registered fields alone does not show"});
}

void Caller::hand_out(const schedule::Done&) {
  context_.play.sweep.in_hand.kind = ANADROME_DONE;
  is_handed_out();
}

void Caller::is_handed_out() {
  SweepState& sweep = context_.play.sweep;
  Measurements& measured = context_.notes.measured;
  const anadrome_action& action = sweep.in_hand;
  if (Watch* const watch = storage_.watch()) watch->note(doing(action), action.first);
  if (context_.notes.recorder.on() || preflight_.on()) {
    sweep.timed = true;
  } else if (action.kind == ANADROME_ADVANCE) {
    sweep.timed = measured.times_advance(action.last - action.first);
  } else if (action.kind == ANADROME_VISIT) {
    sweep.timed = measured.times_visit();
  } else {
    sweep.timed = measured.times_adjoint();
  }
  if (sweep.timed) {
    if (clock_.on()) context_.peers.held.attempt([this] { clock_.start(); });
    sweep.handed_out = now_seconds();
    if (context_.notes.warnings.progress().due(sweep.handed_out))
      report_.show_progress(sweep.handed_out);
  }
}

}  // namespace anadrome::engine
