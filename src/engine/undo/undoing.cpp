// SPDX-License-Identifier: BSD-2-Clause
#include "engine/undo/undoing.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/index.h"
#include "base/text_out.h"
#include "engine/device/device_plan.h"
#include "engine/undo/fit.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {
namespace {

constexpr std::int64_t kComparedSteps = 2;

}  // namespace

// ---- before the sweep ----

void Undoing::arrange() {
  const schedule::Entry* const entry = asked_.options.schedule;
  on_ = entry != nullptr && entry->needs.undo;
  before_ = after_ = residual_ = {};
  pins_.reset();
  states_ = {};
  fixed_point_ = {};
  trial_ = {};
  if (!on_) return asked_.fields.begin_sweep();
  require_undo_fits(asked_.options, asked_.fields, by_steps_);
  Options& options = asked_.options;
  audit_ = options.audit;
  compared_steps_ = audit_ != Audit::kOff ? kComparedSteps : 0;
  block_ = options.is_lossy() ? options.interval : 1;
  tries_ = options.probes();
  play_.sweep.undone.per_state = block_;
  play_.sweep.undone.steps = steps_;
  play_.sweep.undone.by_steps = by_steps_;
  options.compress = {};
  if (!drifts()) options.compress = {store::CodecName::kLz4};
  options.interval = 1;
  options.audit = Audit::kOff;  // no residual is computed twice

  if (drifts()) compared_steps_ = std::min({compared_steps_, block_, steps_});
  fields_ = asked_.fields.with_role(ANADROME_ROLE_STATE);
  coding_ = Residual(fields_);
  const std::int64_t bytes = store::total_bytes(fields_);
  const std::int64_t residual = checked_add(bytes, sizeof(Ending));
  sums_ = asked_.fields.with_role(ANADROME_ROLE_ADJOINT);
  const std::int64_t blocks = 3 + (by_steps_ ? 1 : 0) + (tries_ ? 2 : 0);
  const std::int64_t adjoints = (by_steps_ ? 1 : 0) + (tries_ ? 2 : 0);
  const std::int64_t all = checked_add(checked_multiply(blocks, round_up(residual, store::kPage)),
                                       checked_multiply(adjoints, store::total_bytes(sums_)));
  // Who has less is told so, and takes none of it.
  if (all <= options.memory) take_memory(blocks, bytes, residual);
  largest_.assign(fields_.size(), 0);
  store::Field field;
  field.name = "residual";
  field.count = residual;
  field.values = residual_.data();
  asked_.fields.begin_sweep(std::move(field), all);
}

// Blocks of whole pages, each of which is pinned by itself.
void Undoing::take_memory(std::int64_t blocks, std::int64_t state, std::int64_t residual) {
  const std::int64_t block = round_up(residual, store::kPage);
  states_ = store::Pool(block, blocks);
  if (const auto device = device_of(fields_)) {
    pins_ = std::make_unique<device::Pins>(device, block);
    for (std::int64_t i = 0; i < blocks; ++i) pins_->pin(i, states_.address(i));
  }
  const auto room = [&](std::int64_t i, std::int64_t bytes) {
    return std::span(states_.address(i), size(bytes));
  };
  before_ = room(0, state);
  after_ = room(1, state);
  residual_ = room(2, residual);
  if (by_steps_) fixed_point_ = UndoBySteps(fields_, sums_, room(3, state));
  if (tries_) trial_ = DriftTrial(fields_, sums_, room(3, state), room(4, state));
}

std::int64_t Undoing::steps_below(const Options& options, std::int64_t steps) {
  steps_ = steps;
  const bool blocks = options.schedule != nullptr && options.schedule->needs.undo &&
                      options.is_lossy() && options.interval > 1;
  const bool counted = steps > 0 && steps < schedule::kMostSteps;
  return blocks && counted ? ceil_divide(steps, options.interval) : steps;
}

void Undoing::begin() {
  if (!on_) return;
  SweepState::Resumed& resumed = play_.sweep.resumed;
  if (drifts()) {
    if (steps_ == schedule::kUnknown) {
      throw Error(ANADROME_ERR_UNSUPPORTED,
                  "schedule=undo with compress=lossy has to know the number of steps");
    }
    peers_.agreement.agree({.call = Call::kBegin,
                            .failure = {},
                            .equal = steps_,
                            .equal_name = "the number of steps"});
    resumed.step = play_.sweep.undone.step(resumed.step);
  }
  ended_at_ = -1;
  in_hand_ = {};
  stage_ = resumed.phase == ANADROME_PHASE_IDLE ? Stage::kStart : Stage::kGoesOn;
  if (resumed.phase == ANADROME_PHASE_FORWARD && !drifts()) ++resumed.step;
}

// ---- the caller's actions ----

void Undoing::next(anadrome_action& action) {
  took(in_hand_);
  const double start = now_seconds();
  below_seconds_ = 0;
  switch (stage_) {
    case Stage::kStart:
      copy_out(before_);
      if (drifts()) {
        took_block();
      } else if (steps_ == 0) {
        play();
      } else {
        step(0);
      }
      break;
    case Stage::kGoesOn:
      copy_out(before_);
      if (by_steps_) fixed_point_.iterations = ending().iterations;
      if (drifts()) note_magnitudes();
      play();
      break;
    case Stage::kStep:
      if (drifts() && !is_compared()) {
        copy_out(before_);
        took_block();
      } else {
        took_step();
      }
      break;
    case Stage::kRepeated:
      copy_out(state_part());
      if (!std::equal(after_.begin(), after_.end(), state_part().begin()))
        complain("gives another state when it is run again");
      copy_in(after_);
      begin_undo(Stage::kUndone);
      break;
    case Stage::kUndone:
    case Stage::kUndoneTwo:
      if (!undo_goes_on()) undone();
      break;
    case Stage::kTurn:
      copy_in(before_);  // which the caller may have changed
      if (tries_) peers_.held.hold(trial_.turn(before_));
      play();
      break;
    case Stage::kBack:
      if (!undo_goes_on()) back_at_state();
      break;
    case Stage::kAdjoint:
      trial_.on() ? begin_trial() : adjoined();
      break;
    case Stage::kTrialBack:
      copy_out(trial_.guess());
      hand_out(ANADROME_ADVANCE, k_, true, Stage::kTrialStep);
      break;
    case Stage::kTrialStep:
      copy_out(after_);
      trial_.correct(after_);
      adjoin_trial();
      break;
    case Stage::kTrialAdjoint:
      peers_.held.hold(trial_.take_back());
      adjoined();
      break;
  }
  action = in_hand_;
  handed_out_ = now_seconds();
  play_.sweep.undone.own_seconds += handed_out_ - start - below_seconds_;
}

// Of steps that are not compared. Those that undo others count as one.
void Undoing::took(const anadrome_action& action) {
  SweepState::Undone& undone = play_.sweep.undone;
  const bool undoes = stage_ == Stage::kUndone || stage_ == Stage::kBack;
  SweepState::Undone::Mean* const mean = stage_ == Stage::kStep      ? &undone.forward
                                         : undoes                    ? &undone.undo
                                         : stage_ == Stage::kAdjoint ? &undone.adjoint
                                                                     : nullptr;
  if (mean == nullptr) return;
  mean->seconds += now_seconds() - handed_out_;
  if (!undoes || fixed_point_.is_first()) mean->count += action.last - action.first;
}

void Undoing::hand_out(anadrome_action_kind kind, std::int64_t step, bool again, Stage stage) {
  stage_ = stage;
  in_hand_ = {};
  in_hand_.kind = kind;
  in_hand_.again = again ? 1 : 0;
  in_hand_.first = step;
  in_hand_.last = kind == ANADROME_TURN || kind == ANADROME_DONE ? step : step + 1;
}

void Undoing::step(std::int64_t step) {
  k_ = step;
  hand_out(ANADROME_ADVANCE, step, false, Stage::kStep);
}

void Undoing::finish_forward(std::int64_t steps) {
  if (stage_ != Stage::kStep || in_hand_.kind != ANADROME_ADVANCE)
    throw Error(ANADROME_ERR_ORDER, "finish_forward: no advance of the forward sweep is under way");
  if (steps_ != schedule::kUnknown)
    throw Error(ANADROME_ERR_ORDER, "finish_forward: the number of steps was given to begin");
  if (ended_at_ >= 0)
    throw Error(ANADROME_ERR_ORDER, "finish_forward: the sweep was ended after step " +
                                        std::to_string(ended_at_) + " already");
  if (steps < k_ || steps > k_ + 1)
    throw Error(ANADROME_ERR_ARGUMENT, "finish_forward: " + std::to_string(steps) +
                                           " is outside the advance from " + std::to_string(k_) +
                                           " to " + std::to_string(k_ + 1));
  ended_at_ = steps;
}

// ---- the sweep below ----

void Undoing::play() {
  stage_ = Stage::kGoesOn;  // until an action is handed out
  while (stage_ == Stage::kGoesOn) {
    const double start = now_seconds();
    const anadrome_action& action = below_.play();
    below_seconds_ += now_seconds() - start;
    if (action.kind == ANADROME_ADVANCE) {
      advance_below(action);
    } else if (action.kind == ANADROME_ADJOINT) {
      adjoint_below(action);
    } else {
      hand_out(action.kind, action.kind == ANADROME_TURN && drifts() ? steps_ : action.first, false,
               Stage::kTurn);
    }
  }
}

void Undoing::advance_below(const anadrome_action& action) {
  const bool goes_on = play_.sweep.phase == ANADROME_PHASE_FORWARD && action.again == 0 &&
                       action.last == action.first + 1 &&
                       play_.plan.sweep->anchors().newest_step() == action.first;
  if (!goes_on) throw_no_residual(action);
  if (drifts()) {
    step_in_block(action.first * block_);
  } else if (ended_at_ >= 0) {
    below_.end_forward(ended_at_);
  } else if (action.last != steps_) {
    step(action.last);
  }
}

// Steps that are compared come one at a time.
void Undoing::step_in_block(std::int64_t first) {
  step(first);
  if (!is_compared()) in_hand_.last = std::min(first - first % block_ + block_, steps_);
}

void Undoing::adjoint_below(const anadrome_action& action) {
  bottom_ = action.first * block_;
  k_ = std::min(bottom_ + block_, steps_ == schedule::kUnknown ? bottom_ + 1 : steps_) - 1;
  const std::int64_t iterations = ending().iterations;
  // A rank that could not restore the first one of a run that goes on knows no number.
  if (by_steps_ && fixed_point_.iterations == 0)
    peers_.agreement.agree({.call = Call::kRestore, .failure = peers_.held.failure()});
  if ((iterations > 0) != by_steps_) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "schedule=undo: this run was begun by a program that undoes its steps in another "
                "way (with or without undo); go on with that one");
  }
  fixed_point_.iterations = iterations;
  begin_undo(Stage::kBack);
}

void Undoing::throw_no_residual(const anadrome_action& action) const {
  const SweepState& sweep = play_.sweep;
  const std::string step = std::to_string(sweep.undone.step(action.first));
  if (!sweep.lost) {  // it was not kept, which may show in the reverse sweep alone
    throw Error(sweep.disk_refused ? sweep.disk_refused.status : ANADROME_ERR_NO_SPACE,
                "schedule=undo keeps " +
                    (drifts() ? "a state every " + std::to_string(block_) + " steps"
                              : std::string("a residual of every step")) +
                    ", and the disk takes none after that of step " + step +
                    (sweep.disk_refused ? ": " + sweep.disk_refused.message : "") +
                    "; give it more room (option disk), or take schedule=async");
  }
  throw Error(sweep.lost.status, std::string("schedule=undo: a ") +
                                     (drifts() ? "state" : "residual") + " above that of step " +
                                     step + " is lost: " + sweep.lost.message +
                                     asked_.options.begin_anew());
}

// ---- a step forward ----

// Of all ranks: a wave may be at one of them alone.
void Undoing::note_magnitudes() {
  drift_of(fields_, before_, before_, 0, largest_);
  // A rank that closes its run is met by an agreement, which names it, not by other numbers.
  peers_.agreement.agree({.call = Call::kPreflight, .failure = peers_.held.failure()});
  peers_.agreement.ranks().largest(largest_);
}

// The state at a block's end, or x_0, is one of the sweep below.
void Undoing::took_block() {
  note_magnitudes();
  std::copy(before_.begin(), before_.end(), residual_.begin());
  play();
}

void Undoing::took_step() {
  if (ended_at_ == k_) {  // and was not taken
    copy_in(before_);
    if (k_ > 0) below_.end_forward(k_);
    return play();
  }
  copy_out(after_);
  if (!is_compared()) return begin_undo(Stage::kUndone);
  copy_in(before_);
  hand_out(ANADROME_ADVANCE, k_, true, Stage::kRepeated);
}

void Undoing::complain(const char* what) {
  const std::string step = std::to_string(k_);
  constexpr const char* kCure =
      ": what it reads and changes must be registered as state, and it must give the same bits "
      "every time";
  if (audit_ == Audit::kWarn)
    return warnings_.warn({"schedule=undo: step ", step, " ", what, kCure});
  peers_.held.attempt([&] {
    throw Error(ANADROME_ERR_NONDETERMINISTIC, "schedule=undo: step " + step + " " + what + kCure);
  });
}

// ---- a step undone ----

// x_{k+1} is there.
void Undoing::begin_undo(Stage stage) {
  if (!by_steps_) {
    if (is_compared()) adjoint_sum_ = sum_of_adjoint();
    return hand_out(ANADROME_RETREAT, k_, false, stage);
  }
  peers_.held.hold(fixed_point_.begin(stage == Stage::kBack ? before_ : after_));
  hand_out(ANADROME_ADVANCE, k_, true, stage);
}

// False: what is there now is a guess of x_k.
bool Undoing::undo_goes_on() {
  if (!by_steps_) return false;
  const bool back = stage_ == Stage::kBack;
  const std::span<std::byte> image = back ? std::span(after_) : state_part();
  peers_.held.hold(fixed_point_.take_sums_back());
  copy_out(image);
  fixed_point_.correct(back ? before_ : after_, image);
  if (fixed_point_.chooses()) {
    fixed_point_.look(coding_, before_, state_part());
    if (fixed_point_.tried_all()) {
      peers_.agreement.agree({.call = Call::kPreflight, .failure = peers_.held.failure()});
      fixed_point_.choose(peers_.agreement.ranks());
      copy_in(after_);
      begin_undo(stage_);
      return true;
    }
  }
  copy_in(fixed_point_.guess());
  if (fixed_point_.is_done()) return false;
  hand_out(ANADROME_ADVANCE, k_, true, stage_);
  return true;
}

void Undoing::undone() {
  copy_out(state_part());
  if (is_compared()) {
    if (!by_steps_ && sum_of_adjoint() != adjoint_sum_)
      complain("changes fields of role ADJOINT when it is undone");
    const std::uint64_t sum = sum_of(state_part());
    if (stage_ == Stage::kUndone) {
      first_sum_ = sum;
      copy_in(after_);
      return begin_undo(Stage::kUndoneTwo);
    }
    if (sum != first_sum_) complain("is undone to another state when that is done again");
    if (!by_steps_ && sum == sum_of(after_) && !std::ranges::equal(before_, after_))
      warnings_.warn(
          {"schedule=undo: RETREAT changed no byte of the state: does the loop undo the "
           "step there?"});
    peers_.agreement.agree({.call = Call::kPreflight, .failure = peers_.held.failure()});
  }
  if (!drifts()) take_residual();
  copy_in(after_);
  std::swap(before_, after_);
  if (!drifts()) return play();
  note_magnitudes();
  const Drift drift = drift_of(fields_, after_, state_part(), asked_.options.tolerance, largest_);
  if (!drift.within) complain("is undone to another state, by more than the tolerance");
  peers_.agreement.agree({.call = Call::kPreflight, .failure = peers_.held.failure()});
  if (k_ + 1 == std::min(block_, steps_)) return took_block();
  step_in_block(k_ + 1);
}

void Undoing::take_residual() {
  coding_.take(before_, state_part());
  const Ending ending = {sum_of(before_), fixed_point_.iterations};
  std::memcpy(&residual_[before_.size()], &ending, sizeof ending);
}

void Undoing::back_at_state() {
  copy_out(after_);
  if (!drifts()) {
    coding_.add(after_, state_part());
  } else if (k_ == bottom_) {
    measure_drift();
  }
  const bool is_right = !drifts() || k_ == bottom_;
  const std::span<const std::byte> state = is_right ? state_part() : std::span(after_);
  std::copy(state.begin(), state.end(), before_.begin());
  if (!drifts()) require_right_state();
  if (is_right) copy_in(before_);
  hand_out(ANADROME_ADJOINT, k_, false, Stage::kAdjoint);
}

void Undoing::require_right_state() {
  if (sum_of(before_) == ending().state) return;
  // A rank without memory has not restored the residual, and lacks it for words, too.
  peers_.held.attempt([&] {
    throw Error(ANADROME_ERR_NONDETERMINISTIC,
                "schedule=undo: step " + std::to_string(k_) +
                    " is not undone as it was in the forward sweep; undo must read registered "
                    "state alone, and give the same bits every time");
  });
}

// Of the undone state from the one that was kept.
void Undoing::measure_drift() {
  const Drift drift = drift_of(fields_, state_part(), after_, asked_.options.tolerance, largest_);
  double& most = play_.sweep.undone.drift;
  most = std::max(most, drift.most);
  if (drift.within) return;
  peers_.held.attempt([&] {
    throw Error(
        ANADROME_ERR_NONDETERMINISTIC,
        "schedule=undo: the state of step " + std::to_string(k_) + " that was undone to is " +
            format_in_full(drift.most) + " from the one that was kept, and the tolerance is " +
            format_in_full(asked_.options.tolerance) +
            " (relative to the largest magnitude in the field so far); if undo is the step's "
            "inverse, set a shorter interval, a larger tolerance, or compress=off, which is exact");
  });
}

// The step once more, at the trial's state and with its adjoint fields.
void Undoing::begin_trial() {
  peers_.held.hold(trial_.keep_caller_s());
  if (k_ == bottom_) {
    trial_.begin_at(before_);
    return adjoin_trial();
  }
  copy_in(trial_.state());
  hand_out(ANADROME_RETREAT, k_, false, Stage::kTrialBack);
}

// The step before may have added to adjoint fields.
void Undoing::adjoin_trial() {
  copy_in(trial_.state());
  peers_.held.hold(trial_.put_in());
  hand_out(ANADROME_ADJOINT, k_, true, Stage::kTrialAdjoint);
}

void Undoing::adjoined() {
  copy_in(before_);  // which the caller may have changed
  if (k_ > bottom_) {
    --k_;
    return begin_undo(Stage::kBack);
  }
  if (drifts() && k_ == 0) state_errors();
  play();
}

// Before the sweep below is done and the summary written.
void Undoing::state_errors() {
  if (trial_.on()) peers_.held.hold(trial_.keep_caller_s());
  peers_.agreement.agree({.call = Call::kDone, .failure = peers_.held.failure()});
  Ranks& ranks = peers_.agreement.ranks();
  ranks.largest(std::span(&play_.sweep.undone.drift, 1));
  if (trial_.on()) play_.sweep.checks.gradient_error = trial_.error(ranks);
}

// ---- memory ----

void Undoing::copy_out(std::span<std::byte> to) {
  peers_.held.hold(store::copy_all_out(fields_, to.data()));
}

void Undoing::copy_in(std::span<const std::byte> from) {
  peers_.held.hold(store::copy_all_in(fields_, from.data()));
}

Undoing::Ending Undoing::ending() const {
  Ending ending{};
  std::memcpy(&ending, &residual_[before_.size()], sizeof ending);
  return ending;
}

// Of those that are there to be read.
std::uint64_t Undoing::sum_of_adjoint() const {
  std::uint64_t sum = 0;
  for (const store::Field& field : sums_) {
    if (field.mover == nullptr) sum = XXH3_64bits_withSeed(field.values, size(field.bytes()), sum);
  }
  return sum;
}

std::uint64_t Undoing::sum_of(std::span<const std::byte> state) {
  return XXH3_64bits(state.data(), state.size());
}

}  // namespace anadrome::engine
