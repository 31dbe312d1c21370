#include "engine/run.h"

#include <cmath>

#include "base/clock.h"
#include "engine/watch.h"

namespace anadrome::engine {
namespace {

Doing doing(const anadrome_action& action) {
  switch (action.kind) {
    case ANADROME_START:
      return Doing::kStart;
    case ANADROME_ADVANCE:
      return action.again != 0 ? Doing::kAdvanceAgain : Doing::kAdvance;
    case ANADROME_TURN:
      return Doing::kTurn;
    case ANADROME_ADJOINT:
      return Doing::kAdjoint;
    default:
      return Doing::kAfterDone;
  }
}

}  // namespace

Run::Run(MPI_Comm comm)
    : common_(comm),
      warnings_(common_.agreement.rank() == 0, common_.options, common_.sweep),
      storage_(common_.agreement, common_.held, common_.options, common_.fields, common_.measured,
               warnings_),
      planning_(common_.agreement, common_.held, common_.options, common_.fields, common_.measured,
                storage_),
      keeper_(*this, common_.held, common_.options, common_.fields, common_.measured, storage_,
              common_.plan, common_.sweep, common_.recorder, warnings_),
      decisions_(common_.agreement, *this, common_.held, common_.options, common_.measured,
                 planning_, keeper_, common_.plan, common_.sweep),
      choice_(common_.agreement, common_.held, common_.options, common_.fields, common_.measured,
              planning_, storage_, keeper_),
      resumption_(common_.agreement, *this, common_.held, common_.options, common_.fields,
                  common_.measured, planning_, storage_, keeper_, common_.plan, common_.sweep,
                  warnings_),
      audits_(common_.options, common_.held, common_.sweep),
      report_(common_.agreement, common_.options, common_.measured, planning_, storage_, keeper_,
              common_.plan, common_.sweep, common_.recorder, warnings_) {}

Run::~Run() = default;

// ---- before begin ----

void Run::require_no_sweep(const char* call, const char* cure) const {
  if (!common_.sweep.under_way()) return;
  throw Error(ANADROME_ERR_ORDER, std::string(call) + ": a sweep is under way; " + cure);
}

void Run::set(const char* key, const char* value) {
  require_no_sweep("set", "set options before begin");
  requested_.set(key, value);
}

void Run::set_environment(const char* text) noexcept {
  bad_environment_ = failure_from([&] {
    try {
      requested_.set_all(text);
    } catch (const Error& error) {
      throw Error(error.status(), std::string("ANADROME_OPTIONS: ") + error.what());
    }
  });
}

int Run::add_field(store::Field field) {
  require_no_sweep("add_field", "register fields before begin");
  const bool state = field.role == ANADROME_ROLE_STATE;
  const int number = common_.fields.add(std::move(field));
  if (state) common_.measured.state_bytes().forget_measured();
  return number;
}

void Run::set_step_costs(std::span<const double> seconds, std::span<const std::int64_t> bytes) {
  require_no_sweep("set_step_costs", "say what steps cost before begin");
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    if (std::isfinite(seconds[k]) && seconds[k] >= 0) continue;
    throw Error(ANADROME_ERR_ARGUMENT, "set_step_costs: the cost of step " + std::to_string(k) +
                                           " is not a number of seconds");
  }
  common_.fields.require_state_bytes(bytes);
  std::vector<double> sizes;
  if (common_.fields.some_state_field_varies()) sizes.assign(bytes.begin(), bytes.end());
  common_.measured.step_costs().give(seconds);
  common_.measured.state_bytes().give(sizes);
}

const void* Run::now(int field) const {
  const std::size_t position = common_.fields.state_position(field);
  const bool live = keeper_.live() != nullptr && common_.sweep.in_hand.kind != 0;
  return live && position < common_.fields.state().size() ? keeper_.live()->now(position) : nullptr;
}

void* Run::then(int field) const {
  const std::size_t position = common_.fields.state_position(field);
  const bool written = keeper_.live() != nullptr && common_.sweep.then_is_written;
  return written && position < common_.fields.state().size() ? keeper_.live()->then(position)
                                                             : nullptr;
}

// ---- agreement ----

void Run::note(Doing doing) {
  if (Watch* const watch = storage_.watch()) watch->note(doing);
}

Agreement::Output Run::agree(Call call, std::int64_t equal, const char* equal_name,
                             const Failure& lost) {
  Held& held = common_.held;
  SweepState& sweep = common_.sweep;
  Recorder& recorder = common_.recorder;
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
  common_.measured.bring(input, tier);
  const double start = recorder.on() ? now_seconds() : 0;
  Agreement::Output output = common_.agreement.agree(input);
  if (recorder.on()) recorder.add(Activity::kAgree, start, now_seconds(), 0, 0);
  common_.measured.take(output);
  resumption_.take(output);
  sweep.advances_agreed_at = sweep.advances;
  sweep.adjoints_agreed_at = sweep.adjoints;
  return output;
}

// ---- the caller's actions ----

void Run::record_action(double now, std::int64_t last) {
  const anadrome_action& done = common_.sweep.in_hand;
  Activity activity = Activity::kTurn;
  switch (done.kind) {
    case ANADROME_ADVANCE:
      activity = done.again != 0 ? Activity::kRecompute : Activity::kAdvance;
      break;
    case ANADROME_ADJOINT:
      activity = Activity::kAdjoint;
      break;
    case ANADROME_TURN:
      break;
    default:  // the caller prepares x_0
      return;
  }
  const std::int64_t before = common_.plan.sweep->steps_before(done.branch);
  common_.recorder.add(activity, common_.sweep.handed_out, now, before + done.first, before + last);
}

void Run::note_finished_action() {
  SweepState& sweep = common_.sweep;
  Measurements& measured = common_.measured;
  const anadrome_action& action = sweep.in_hand;
  const double now = sweep.timed ? now_seconds() : 0;
  const double seconds = now - sweep.handed_out;
  const std::int64_t last = sweep.finished_at >= 0 ? sweep.finished_at : action.last;
  if (common_.recorder.on()) record_action(now, last);
  if (action.kind == ANADROME_ADVANCE) {
    const std::int64_t steps = last - action.first;
    sweep.advances += steps;
    if (sweep.timed && action.record == 0) measured.add_forward(seconds, steps);
    StepTable& costs = measured.step_costs();
    if (costs.measuring() && action.again == 0) costs.add(action.first, seconds);
    const std::int64_t due_at = sweep.prediction.due_at;
    if (due_at > 0 && sweep.advances >= due_at) report_.predict();
  } else if (action.kind == ANADROME_ADJOINT) {
    ++sweep.adjoints;
    if (sweep.timed) measured.add_adjoint(seconds);
    if (measured.adjoint_costs().measuring()) measured.adjoint_costs().add(action.first, seconds);
  }
  sweep.finished_at = -1;
  sweep.timed = false;
  sweep.in_hand = {};
  if (sweep.then_is_written) {
    keeper_.live()->step_done();
    sweep.then_is_written = false;
  }
}

// The caller writes the next state of exchanged fields, or x_0.
void Run::make_room_for_step() {
  common_.held.attempt([&] { keeper_.live()->make_room_for_step(); });
  common_.sweep.then_is_written = true;
}

// Exchanged fields change places at every step, so the caller takes one at a time. And an advance
// ends where the sweep's time is predicted: by Revolve alone the first one is a long one.
void Run::hand_out(const schedule::Advance& action) {
  SweepState& sweep = common_.sweep;
  const LiveState& live = *keeper_.live();
  schedule::Advance part = action;
  const std::int64_t to_prediction = action.again ? 0 : sweep.prediction.due_at - sweep.advances;
  if (live.exchanged()) {
    make_room_for_step();
    part.last = action.first + 1;
  } else if (common_.measured.measures_steps() && !action.again) {
    part.last = action.first + 1;
  } else if (0 < to_prediction && to_prediction < action.last - action.first) {
    part.last = action.first + to_prediction;
  }
  const std::int64_t audited =
      action.again ? schedule::kUnknown : audits_.next_step(*common_.plan.sweep);
  if (action.first == audited) audits_.note(audited, live);
  if (action.first < audited) part.last = std::min(part.last, audited);
  StepTable& sizes = common_.measured.state_bytes();
  if (sizes.measuring() && !action.again) {
    common_.held.attempt([&] { sizes.add(action.first, static_cast<double>(live.bytes_now())); });
  }
  part.record = action.record && part.last == action.last;
  if (part.record && action.again && part.first + 1 == part.last) audits_.check(part.first, live);
  sweep.rest = action;
  sweep.rest.first = part.last;
  anadrome_action advance{};
  advance.kind = ANADROME_ADVANCE;
  advance.record = part.record ? 1 : 0;
  advance.again = part.again ? 1 : 0;
  advance.first = part.first;
  advance.last = part.last;
  advance.branch = part.branch;
  hand_out(advance);
}

void Run::hand_out(const schedule::Turn& end) {
  if (common_.plan.has_branches() && !end.again) {
    agree(Call::kTurn);
  } else {
    turn();
  }
  anadrome_action action{};
  action.kind = ANADROME_TURN;
  action.again = end.again ? 1 : 0;
  action.first = action.last = end.step;
  action.branch = end.branch;
  hand_out(action);
}

void Run::hand_out(const anadrome_action& action) {
  SweepState& sweep = common_.sweep;
  Measurements& measured = common_.measured;
  sweep.in_hand = action;
  if (Watch* const watch = storage_.watch()) watch->note(doing(action), action.first);
  if (common_.recorder.on() || measured.measures_steps()) {
    sweep.timed = true;
  } else if (action.kind == ANADROME_ADVANCE) {
    sweep.timed = measured.times_advance(action.last - action.first);
  } else {
    sweep.timed = measured.times_adjoint();
  }
  if (sweep.timed) {
    sweep.handed_out = now_seconds();
    if (warnings_.progress().due(sweep.handed_out)) report_.show_progress(sweep.handed_out);
  }
}

void Run::next(anadrome_action& action) {
  SweepState& sweep = common_.sweep;
  if (!sweep.under_way()) {
    throw Error(ANADROME_ERR_ORDER, sweep.phase == ANADROME_PHASE_DONE
                                        ? "next: the sweep is done; call begin, rewind or close"
                                        : "next: call begin first");
  }
  const bool adjoint_is_done = sweep.in_hand.kind == ANADROME_ADJOINT;
  note(Doing::kNext);
  note_finished_action();
  try {
    if (adjoint_is_done) resumption_.commit_between_anchors();
    bool handed_out = sweep.rest.first < sweep.rest.last;
    if (handed_out) hand_out(schedule::Advance(sweep.rest));
    while (!handed_out) {
      const schedule::Action planned = common_.plan.sweep->next();
      if (keeper_.write_is_due()) keeper_.write_due();
      handed_out = carry_out(planned);
    }
  } catch (...) {
    // The sweep is over, on every rank: whatever is thrown here was agreed or is everybody's.
    warnings_.progress().finish();
    sweep.phase = ANADROME_PHASE_IDLE;
    throw;
  }
  action = sweep.in_hand;
}

// True: there is an action for the caller.
bool Run::carry_out(const schedule::Action& action) {
  using namespace schedule;
  return std::visit(Cases{[this](const Advance& advance) { return hand_out(advance), true; },
                          [this](const Keep& kept) { return keeper_.keep(kept), false; },
                          [this](const Restore& kept) { return keeper_.restore(kept), false; },
                          [this](const Drop& kept) { return keeper_.drop(kept), false; },
                          [this](const Write& kept) { return keeper_.write(kept), false; },
                          [this](const Read& kept) { return keeper_.read(kept), false; },
                          [this](const Decide&) { return decisions_.decide(), false; },
                          [this](const Start& start) {
                            if (keeper_.live()->exchanged()) make_room_for_step();
                            anadrome_action x_0{};
                            x_0.kind = ANADROME_START;
                            x_0.again = start.again ? 1 : 0;
                            x_0.branch = start.branch;
                            return hand_out(x_0), true;
                          },
                          [this](const Turn& end) { return hand_out(end), true; },
                          [this](const Adjoint& adjoint) {
                            if (!common_.plan.record) audits_.check(adjoint.step, *keeper_.live());
                            keeper_.read_ahead();
                            anadrome_action step{};
                            step.kind = ANADROME_ADJOINT;

                            step.first = adjoint.step;
                            step.last = adjoint.step + 1;
                            step.branch = adjoint.branch;
                            return hand_out(step), true;
                          },
                          [this](const Done&) {
                            done();
                            anadrome_action end{};
                            end.kind = ANADROME_DONE;
                            return hand_out(end), true;
                          }},
                    action);
}

// ---- the ends of the sweeps ----

void Run::finish_forward(std::int64_t steps) {
  SweepState& sweep = common_.sweep;
  const anadrome_action& action = sweep.in_hand;
  if (sweep.phase != ANADROME_PHASE_FORWARD || action.kind != ANADROME_ADVANCE) {
    throw Error(ANADROME_ERR_ORDER, "finish_forward: no advance of the forward sweep is under way");
  }
  if (sweep.finished_at >= 0) {
    throw Error(ANADROME_ERR_ORDER, "finish_forward: the sweep was ended after step " +
                                        std::to_string(sweep.finished_at) + " already");
  }
  schedule::Sweep& played = *common_.plan.sweep;
  const bool in_hand = action.first <= steps && steps <= action.last;
  if (!in_hand || !played.may_finish(steps)) {
    if (played.steps() != schedule::kUnknown) {
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
  SweepState& sweep = common_.sweep;
  agree(Call::kTurn, common_.plan.sweep->steps(), "the number of steps given to finish_forward",
        {});
  keeper_.write_last_block();
  sweep.phase = ANADROME_PHASE_REVERSE;
  sweep.prediction.due_at = 0;                                // too late to be a prediction
  if (sweep.turn_time == 0) sweep.turn_time = now_seconds();  // not again after a rewind
  keeper_.read_ahead();
}

void Run::done() {
  SweepState& sweep = common_.sweep;
  Held& held = common_.held;
  const Failure differs = agree(Call::kDone, sweep.audit_failure).lost;
  if (differs) warnings_.warn({differs.message});
  sweep.done_time = now_seconds();
  common_.measured.finish_step_tables(common_.agreement.ranks());
  choice_.note(sweep);
  common_.measured.sweep_is_done(keeper_.uses_disk());
  warnings_.progress().finish();
  held.attempt([&] { report_.summarise(); });
  if (common_.recorder.on()) held.attempt([&] { report_.write_trace(); });
  agree(Call::kDone);  // the report is one rank's; whether it could be written is everybody's
  sweep.phase = ANADROME_PHASE_DONE;
}

void Run::rewind() {
  note(Doing::kRewind);
  SweepState& sweep = common_.sweep;
  SweepPlan& plan = common_.plan;
  Failure failure;
  if (sweep.phase != ANADROME_PHASE_DONE) {
    failure = {ANADROME_ERR_ORDER, "rewind: only after DONE"};
  } else if (plan.has_branches()) {
    failure = {ANADROME_ERR_UNSUPPORTED,
               "rewind: the ends of branches are not kept; call begin_branches again"};
  } else if (common_.fields.grew_since_begin()) {
    failure = {ANADROME_ERR_ORDER, "rewind: fields were registered since begin, and not kept"};
  } else if (!plan.sweep->can_rewind()) {
    failure = {ANADROME_ERR_UNSUPPORTED, std::string("rewind: schedule=") +
                                             to_string(plan.schedule) +
                                             " does not hold x_0 any more; begin a new sweep"};
  }
  const bool from_disk = !failure && keeper_.uses_disk();
  const std::int64_t restorable =
      common_.agreement
          .agree({.call = Call::kRewind,
                  .failure = failure,
                  .smallest = from_disk ? keeper_.disk_tier()->anchors_restorable() : 1})
          .smallest;
  decisions_.rewind(restorable);
  sweep.agreed_block = -1;
  sweep.done_time = 0;
  sweep.rewound = true;
  sweep.phase = ANADROME_PHASE_REVERSE;
  warnings_.start_progress();
  sweep.handed_out = now_seconds();
}

void Run::show_end(std::int64_t branch) {
  const SweepState& sweep = common_.sweep;
  const SweepPlan& plan = common_.plan;
  const bool seeds =
      sweep.in_hand.kind == ANADROME_TURN && sweep.in_hand.again != 0 && sweep.under_way();
  if (!seeds || common_.options.reducible || !plan.has_branches()) {
    throw Error(ANADROME_ERR_ORDER,
                "show_end: only at a TURN with `again`, of branches with objective=joint");
  }
  if (branch < 0 || branch >= plan.sweep->branches()) {
    throw Error(ANADROME_ERR_ARGUMENT, "show_end: there is no branch " + std::to_string(branch));
  }
  keeper_.show(plan.sweep->slot_of_end(branch));
}

void Run::fail(const std::string& why) {
  if (!common_.sweep.under_way()) throw Error(ANADROME_ERR_ORDER, "fail: no sweep is under way");
  common_.held.hold({ANADROME_ERR_PEER, why});
}

void Run::close() {
  Held& held = common_.held;
  Agreement& agreement = common_.agreement;
  const SweepPlan& plan = common_.plan;
  held.clear();
  note(Doing::kClose);
  const bool swept = plan.sweep != nullptr;
  // A sweep that was not finished can go on, if it was committed, by this process or the one
  // before.
  const bool leave = storage_.has_directory() && resumption_.can_be_left() &&
                     common_.sweep.phase != ANADROME_PHASE_DONE;
  store::DiskTier* const tier = keeper_.disk_tier();
  const bool keep = common_.options.keep && tier != nullptr && swept && !leave;
  const std::int64_t steps = swept ? plan.sweep->steps() : schedule::kUnknown;
  std::int64_t written = 0;
  schedule::AnchorList anchors;
  std::vector<std::uint64_t> checksums;
  if (tier != nullptr && common_.options.keep) {
    held.attempt([&] { tier->flush(); });
    // The gradient was right all the same, but the files are not all there.
    const Failure& refused = common_.sweep.disk_refused;
    held.hold(refused ? refused : tier->notes().failed_write());
  }
  if (keep) {
    held.attempt([&] {
      anchors = plan.sweep->anchors();
      written = tier->anchors_written();
      checksums = tier->checksums();
    });
  }
  abandon();
  DiskSpace* const disk = storage_.space();
  if (leave) {
    held.attempt([&] { disk->leave(); });
  } else if (!keep && disk != nullptr) {
    disk->release();  // nobody has a file open when it is removed
  }
  if (agreement.broken()) return;
  agreement.agree({.call = Call::kClose, .failure = held.failure()});
  storage_.close_transport();  // collective with transport=mpio: only where all are known to be
  if (keep) {
    held.hold(disk->keep(anchors, written, checksums, common_.sweep.number, steps,
                         to_string(plan.schedule)));
  } else if (!leave && disk != nullptr) {
    held.hold(disk->remove());
  }
  agreement.agree({.call = Call::kClose, .failure = held.failure()});
  storage_.forget_directory();  // until here its ranks are watched
}

}  // namespace anadrome::engine
