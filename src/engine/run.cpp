// SPDX-License-Identifier: BSD-2-Clause
#include "engine/run.h"

#include <utility>

#include "base/clock.h"
#include "base/index.h"
#include "engine/disk/watch.h"

namespace anadrome::engine {
namespace {

void require_no_sweep(const SweepState& sweep, const char* call, const char* cure) {
  if (!sweep.under_way()) return;
  throw Error(ANADROME_ERR_ORDER, std::string(call) + ": a sweep is under way; " + cure);
}

Run::Lent lent_at(const std::vector<Run::Lent>& lent, int field) {
  const auto number = size(field);
  return field >= 0 && number < lent.size() ? lent[number] : Run::Lent{};
}

}  // namespace

Run::Run(MPI_Comm comm)
    : context_(comm),
      storage_(context_.peers, context_.asked, context_.notes.measured, context_.notes.warnings),
      planning_(context_.peers, context_.asked, context_.notes.measured, storage_),
      keeper_(context_, *this, storage_),
      decisions_(context_.peers, *this, context_.play, context_.notes.measured, planning_, keeper_),
      choice_(context_.peers, context_.asked, planning_),
      resumption_(context_.peers, *this, context_.asked, context_.play, context_.notes, planning_,
                  storage_, keeper_),
      report_(context_.peers.agreement, context_.asked.options, context_.play, context_.notes,
              planning_, storage_, keeper_),
      undoing_(context_.peers, context_.asked, context_.play, context_.notes.warnings, *this),
      beginning_(context_, storage_, planning_, keeper_, choice_, resumption_, undoing_),
      passes_(context_.peers.agreement, context_.asked, context_.play, context_.notes.warnings,
              planning_, keeper_, decisions_, report_),
      caller_(context_, *this, storage_, keeper_, report_),
      probe_(context_.peers, context_.asked, context_.play, context_.notes.warnings, keeper_) {}

Run::~Run() = default;

// ---- before begin ----

void Run::set(const char* key, const char* value) {
  require_no_sweep(context_.play.sweep, "set", "set options before begin");
  requested_.set(key, value);
}

void Run::set_environment(const char* text) noexcept {
  bad_environment_ = failure_from([&] {
    try {
      requested_.set_environment(text);
    } catch (const Error& error) {
      throw Error(error.status(), std::string("ANADROME_OPTIONS: ") + error.what());
    }
  });
}

void Run::set_device(const anadrome_device_operations* operations) {
  require_no_sweep(context_.play.sweep, "set_device", "describe the device before begin");
  context_.asked.fields.devices().set(operations);
}

int Run::add_device_field(store::Field field, void* stream) {
  require_no_sweep(context_.play.sweep, "add_device_field", "register fields before begin");
  field.mover =
      context_.asked.fields.devices().mover(field.name, field.values, field.bytes(), stream);
  return context_.asked.fields.add(std::move(field));
}

int Run::add_field(store::Field field) {
  require_no_sweep(context_.play.sweep, "add_field", "register fields before begin");
  return context_.asked.fields.add(std::move(field));
}

void Run::set_shape(const std::string& field, std::vector<std::int64_t> sizes) {
  require_no_sweep(context_.play.sweep, "set_shape", "say how fields lie before begin");
  context_.asked.fields.set_shape(field, std::move(sizes));
}

void Run::set_tolerance(const std::string& field, double absolute) {
  require_no_sweep(context_.play.sweep, "set_tolerance", "give tolerances before begin");
  context_.asked.fields.set_tolerance(field, absolute);
}

const void* Run::now(int field) const {
  if (lent_ != nullptr) return lent_at(*lent_, field).now;
  const std::size_t position = context_.asked.fields.state_position(field);
  const SweepState& sweep = context_.play.sweep;
  const bool goes_on = sweep.phase == ANADROME_PHASE_FORWARD &&
                       sweep.resumed.phase == ANADROME_PHASE_FORWARD;  // begin restored x_k
  const bool live = keeper_.live() != nullptr && (sweep.in_hand.kind != 0 || goes_on);
  return live && position < context_.asked.fields.state().size() ? keeper_.live()->now(position)
                                                                 : nullptr;
}

void* Run::then(int field) const {
  if (lent_ != nullptr) return lent_at(*lent_, field).then;
  const std::size_t position = context_.asked.fields.state_position(field);
  const bool written = keeper_.live() != nullptr && context_.play.sweep.then_is_written;
  return written && position < context_.asked.fields.state().size() ? keeper_.live()->then(position)
                                                                    : nullptr;
}

// ---- begin ----

void Run::begin(std::int64_t steps, const Failure& earlier) {
  if (context_.peers.agreement.broken()) {
    throw Error(ANADROME_ERR_PEER,
                "the ranks of this run were in different calls; only close is left");
  }
  abandon();
  stop_.store(false);
  try {
    const Failure unfixed = failure_from([&] { requested_.fix_paths(); });
    Failure refused = refusals_.first() ? refusals_.first() : bad_environment_;
    if (!refused) refused = unfixed;
    beginning_.begin(undoing_.steps_below(requested_, steps), requested_,
                     earlier ? earlier : refused);
    undoing_.begin();
    probe_.begin();
    caller_.begin();
  } catch (...) {
    abandon();  // another rank may not have a sweep
    context_.play.sweep.number = context_.play.sweep.last_number;
    throw;
  }
}

void Run::abandon() {
  context_.notes.warnings.progress().finish();
  resumption_.abandon();  // this and the keeper's tier wait for their transfers
  keeper_.abandon();
  context_.play.plan.sweep.reset();
  turn_waits_.reset();
  context_.play.sweep.phase = ANADROME_PHASE_IDLE;
}

// ---- agreement ----

Agreement::Output Run::agree(Call call, std::int64_t equal, const char* equal_name,
                             const Failure& lost) {
  Held& held = context_.peers.held;
  SweepState& sweep = context_.play.sweep;
  Recorder& recorder = context_.notes.recorder;
  store::DiskTier* const tier = keeper_.disk_tier();
  if (tier != nullptr) held.attempt([&] { tier->settle_finished(); });
  if (const Watch* const watch = storage_.watch()) held.hold(watch->taken_over());
  Agreement::Input input;
  input.call = call;
  input.failure = held.failure();
  input.lost = lost;
  input.stop = stop_.load();
  input.equal = equal;
  input.equal_name = equal_name;
  resumption_.bring(input, input.stop);
  context_.notes.measured.bring(input, tier);
  const double start = recorder.on() ? now_seconds() : 0;
  Agreement::Output output = context_.peers.agreement.agree(input);
  if (recorder.on()) recorder.add(Activity::kAgree, start, now_seconds(), 0, 0);
  context_.notes.measured.take(output);
  resumption_.take(output);
  // Nothing is committed at an audit: its state may be that of an adjoint step about to be taken.
  if (call == Call::kAudit || call == Call::kPreflight) return output;
  sweep.agreed_at.advances = sweep.advances;
  sweep.agreed_at.adjoints = sweep.adjoints;
  return output;
}

void Run::agree_on_check(std::int64_t equal, const char* equal_name) {
  context_.peers.agreement.agree({.call = Call::kCheck,
                                  .failure = context_.peers.held.failure(),
                                  .stop = stop_.load(),
                                  .equal = equal,
                                  .equal_name = equal_name});
}

// ---- the sweep ----

void Run::next(anadrome_action& action) {
  SweepState& sweep = context_.play.sweep;
  if (!sweep.under_way()) {
    throw Error(ANADROME_ERR_ORDER,
                sweep.phase == ANADROME_PHASE_DONE
                    ? "next: the sweep is done; call begin, rewind, pass or close"
                    : "next: call begin first");
  }
  if (!undoing_.on()) {
    action = play();
    return;
  }
  try {
    undoing_.next(action);
  } catch (...) {
    end_sweep();  // on every rank, as in play
    throw;
  }
}

const anadrome_action& Run::play() {
  SweepState& sweep = context_.play.sweep;
  const bool adjoint_is_done = sweep.in_hand.kind == ANADROME_ADJOINT;
  storage_.note(Doing::kNext);
  caller_.take_back();
  try {
    if (sweep.resumed.open) resumption_.require_asked();
    if (adjoint_is_done && !sweep.checks.on_trial) resumption_.commit_between_anchors();
    bool handed_out = caller_.hand_out_rest();
    if (!handed_out && turn_waits_) handed_out = carry_out(*std::exchange(turn_waits_, {}));
    while (!handed_out) {
      const schedule::Action planned = context_.play.plan.sweep->next();
      if (keeper_.write_is_due()) keeper_.write_due();
      if (probe_.begins_again(planned)) continue;
      handed_out = carry_out(planned);
    }
  } catch (...) {
    end_sweep();  // whatever is thrown here was agreed or is everybody's
    throw;
  }
  return sweep.in_hand;
}

// True: there is an action for the caller. The most frequent ones come first.
bool Run::carry_out(const schedule::Action& action) {
  using namespace schedule;
  if (const auto* const advance = std::get_if<Advance>(&action)) {
    caller_.hand_out(*advance);
    return true;
  }
  if (const auto* const adjoint = std::get_if<Adjoint>(&action)) {
    caller_.hand_out(*adjoint);
    return true;
  }
  if (const auto* const kept = std::get_if<Restore>(&action)) {
    probe_.before_restore(*kept);
    return keeper_.restore(*kept), false;
  }
  if (const auto* const kept = std::get_if<Keep>(&action)) return keeper_.keep(*kept), false;
  if (const auto* const kept = std::get_if<Drop>(&action)) return keeper_.drop(*kept), false;
  if (std::holds_alternative<Decide>(action)) return decisions_.decide(), false;
  if (const auto* const visit = std::get_if<Visit>(&action)) {
    caller_.hand_out(*visit);
    return true;
  }
  if (const auto* const end = std::get_if<Turn>(&action)) {
    if (caller_.runs_again_before_turn(end->step)) {
      turn_waits_ = *end;
      return true;
    }
    turn();
    caller_.hand_out(*end);
  } else {
    done();
    caller_.hand_out(std::get<Done>(action));
  }
  return true;
}

void Run::require_states(const char* call) const {
  if (!undoing_.on()) return;
  throw Error(
      ANADROME_ERR_UNSUPPORTED,
      std::string(call) + ": schedule=undo goes through its steps once, and keeps no states");
}

// ---- the ends of the sweeps ----

void Run::finish_forward(std::int64_t steps) {
  if (undoing_.on() && context_.play.sweep.under_way()) return undoing_.finish_forward(steps);
  end_forward(steps);
}

void Run::end_forward(std::int64_t steps) {
  SweepState& sweep = context_.play.sweep;
  const anadrome_action& action = sweep.in_hand;
  if (sweep.phase != ANADROME_PHASE_FORWARD || action.kind != ANADROME_ADVANCE ||
      action.again != 0) {
    throw Error(ANADROME_ERR_ORDER, "finish_forward: no advance of the forward sweep is under way");
  }
  if (sweep.finished_at >= 0) {
    throw Error(ANADROME_ERR_ORDER, "finish_forward: the sweep was ended after step " +
                                        std::to_string(sweep.finished_at) + " already");
  }
  schedule::Sweep& played = *context_.play.plan.sweep;
  const bool in_hand = action.first <= steps && steps <= action.last;
  if (!in_hand || !played.course().ends.has(steps)) {
    if (played.course().steps != schedule::kUnknown) {
      throw Error(ANADROME_ERR_ORDER, "finish_forward: the number of steps was given to begin");
    }
    throw Error(ANADROME_ERR_ARGUMENT,
                "finish_forward: " + std::to_string(steps) + " is outside the advance from " +
                    std::to_string(action.first) + " to " + std::to_string(action.last));
  }
  played.finish_forward(steps);
  sweep.finished_at = steps;
  sweep.rest = {};
  if (steps == action.first) sweep.then_is_written = false;  // no step was taken
}

void Run::turn() {
  SweepState& sweep = context_.play.sweep;
  agree(Call::kTurn, context_.play.plan.sweep->course().steps,
        "the number of steps given to finish_forward", {});
  if (sweep.passes.on) return keeper_.read_ahead();
  keeper_.write_last_block();
  probe_.turn();
  sweep.phase = ANADROME_PHASE_REVERSE;
  sweep.prediction.due_at = 0;                                  // too late to be a prediction
  if (sweep.times.turn == 0) sweep.times.turn = now_seconds();  // not again after a rewind
  keeper_.read_ahead();
}

void Run::done() {
  SweepState& sweep = context_.play.sweep;
  keeper_.count_what_was_written();
  keeper_.finish_copies();  // the last chance to hear that one of them failed
  agree(Call::kDone);
  if (sweep.passes.on) return passes_.done();
  caller_.end_sweep();
  probe_.finish();
  requested_.tolerance = probe_.next_tolerance(requested_.tolerance);
  sweep.times.done = now_seconds();
  context_.notes.measured.sweep_is_done(keeper_.uses_disk());
  context_.notes.warnings.progress().finish();
  report_.write();
  sweep.phase = ANADROME_PHASE_DONE;
}

void Run::fail(std::string_view why) {
  if (!context_.play.sweep.under_way() && lent_ == nullptr) {
    throw Error(ANADROME_ERR_ORDER, "fail: no sweep is under way");
  }
  context_.peers.held.hold(Failure(Error(ANADROME_ERR_PEER, why)));
}

void Run::agree_on_callbacks() {
  try {
    context_.peers.agreement.agree(
        {.call = Call::kSolve, .failure = context_.peers.held.failure()});
  } catch (...) {
    end_sweep();
    throw;
  }
}

void Run::end_sweep() {
  context_.notes.warnings.progress().finish();
  context_.play.sweep.phase = ANADROME_PHASE_IDLE;
}

void Run::close() {
  Held& held = context_.peers.held;
  Agreement& agreement = context_.peers.agreement;
  const SweepPlan& plan = context_.play.plan;
  held.clear();
  storage_.note(Doing::kClose);
  if (const Watch* const watch = storage_.watch()) held.hold(watch->taken_over());
  const bool swept = plan.sweep != nullptr;
  // A sweep that was not finished can go on, if it was committed, by this process or the one
  // before.
  const bool leave = storage_.has_directory() && resumption_.can_be_left() &&
                     context_.play.sweep.phase != ANADROME_PHASE_DONE;
  store::DiskTier* const tier = keeper_.disk_tier();
  const bool keep = context_.asked.options.keep && tier != nullptr && swept && !leave;
  const bool lost_by_begin = context_.asked.options.keep && storage_.has_directory() && !swept &&
                             !leave && context_.play.sweep.number > 0;
  const std::int64_t steps = swept ? plan.sweep->course().steps : schedule::kUnknown;
  std::int64_t written = 0;
  schedule::AnchorList anchors;
  std::vector<std::uint64_t> checksums;
  if (tier != nullptr && context_.asked.options.keep) {
    held.attempt([&] { tier->flush(); });
    // The gradient was right all the same, but the files are not all there.
    const Failure& refused = context_.play.sweep.disk_refused;
    held.hold(refused ? refused : tier->notes().failed_write());
  }
  if (keep) {
    held.attempt([&] {
      anchors = plan.sweep->anchors();
      written = tier->anchors().written();
      checksums = tier->anchors().checksums();
    });
  }
  abandon();
  DiskSpace* const disk = storage_.space();
  if (leave) {
    held.attempt([&] { storage_.leave(); });
  } else if (!keep) {
    storage_.prepare_to_remove();
  }
  if (agreement.broken()) return;
  agreement.agree({.call = Call::kClose, .failure = held.failure()});
  storage_.close_transport();  // collective with transport=mpio: only where all are known to be
  Failure left;
  if (keep) {
    held.hold(disk->keep(anchors, written, checksums, context_.play.sweep.number, steps,
                         to_string(plan.schedule)));
  } else if (!leave) {
    left = storage_.remove();
  }
  // The gradient does not suffer from files that nobody can remove just now.
  if (left.status == ANADROME_ERR_BUSY) held.hold(left);
  left = agreement.agree({.call = Call::kClose, .failure = held.failure(), .lost = left}).lost;
  if (left) context_.notes.warnings.say({left.message, who_removes_it(left)});
  if (lost_by_begin) {
    context_.notes.warnings.say(
        {"keep=on, and no states are kept: the last begin, which failed, ended "
         "the sweep before it"});
  }
  storage_.forget_directory();  // until here its ranks are watched
}

}  // namespace anadrome::engine
