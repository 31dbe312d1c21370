#include "engine/run.h"

#include <algorithm>
#include <iterator>

#include "base/clock.h"

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

Run::Run(MPI_Comm comm) : agreement_(comm) {}

Run::~Run() = default;

void Run::set(const char* key, const char* value) {
  if (under_way())
    throw Error(ANADROME_ERR_ORDER, "set: a sweep is under way; set options before begin");
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

std::vector<store::Field> Run::fields_of(anadrome_role role) const {
  std::vector<store::Field> fields;
  std::copy_if(fields_.begin(), fields_.end(), std::back_inserter(fields),
               [role](const store::Field& f) { return f.role == role; });
  return fields;
}

bool Run::has_tape() const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [](const store::Field& f) { return f.role == ANADROME_ROLE_TAPE; });
}

bool Run::has_exchanged() const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [](const store::Field& f) { return f.exchanged; });
}

int Run::add_field(store::Field field) {
  if (under_way()) {
    throw Error(ANADROME_ERR_ORDER,
                "add_field: a sweep is under way; register fields before begin");
  }
  const bool taken = std::any_of(fields_.begin(), fields_.end(), [&](const store::Field& other) {
    return other.name == field.name;
  });
  if (taken) {
    throw Error(ANADROME_ERR_ARGUMENT, "there is a field '" + field.name + "' already");
  }
  field.bytes();  // throws if the size overflows
  if (field.role == ANADROME_ROLE_STATE) state_bytes_.forget_measured();
  fields_.push_back(std::move(field));
  fields_changed_ = true;
  return static_cast<int>(fields_.size()) - 1;
}

// The number of field `field` among the state fields; too large for a number that is none.
std::size_t Run::state_field(int field) const {
  if (field < 0 || static_cast<std::size_t>(field) >= fields_.size() || live_ == nullptr ||
      fields_[static_cast<std::size_t>(field)].role != ANADROME_ROLE_STATE) {
    return state_fields_.size();
  }
  return static_cast<std::size_t>(
      std::count_if(fields_.begin(), fields_.begin() + field,
                    [](const store::Field& f) { return f.role == ANADROME_ROLE_STATE; }));
}

const void* Run::now(int field) const {
  const std::size_t index = state_field(field);
  const bool live = last_.kind != 0;  // an action was handed out
  return index < state_fields_.size() && live ? live_->now(index) : nullptr;
}

void* Run::then(int field) const {
  const std::size_t index = state_field(field);
  return index < state_fields_.size() && then_is_written_ ? live_->then(index) : nullptr;
}

// ---- agreement ----

void Run::hold(const Failure& failure) {
  if (!held_) held_ = failure;
}

Agreement::Output Run::agree(Call call, std::int64_t equal, const char* equal_name,
                             const Failure& lost) {
  if (tier_ != nullptr) attempt([&] { tier_->settle_finished(); });
  if (const Watch* const watching = watch()) hold(watching->taken_over());
  Agreement::Input input;
  input.call = call;
  input.failure = held_;
  input.lost = lost;
  if (committer_ != nullptr) {
    using Commit = Agreement::Input::Commit;
    input.committed = committer_->committed();
    input.commit = rewound_                            ? Commit::kNotDue
                   : committer_->busy()                ? Commit::kBusy
                   : committer_->due() || stop_.load() ? Commit::kDue
                                                       : Commit::kNotDue;
    input.hold_stop = true;
  }
  input.stop = stop_.load();
  input.equal = equal;
  input.equal_name = equal_name;
  input.largest = {forward_.seconds(), adjoint_.seconds(), 0, 0, 0, 0};
  if (tier_ != nullptr) {
    input.largest[2] = std::max(transfer_times_.write.seconds(), tier_->seconds_of_first_write());
    input.largest[3] = transfer_times_.read.seconds();
    // No more than the I/O thread computes: what else keeps the caller waiting is not its doing.
    const auto taken = [this](const store::Meter& start, const store::Meter& processor) {
      return cores_are_busy_ ? processor.seconds() : std::min(start.seconds(), processor.seconds());
    };
    input.largest[4] = taken(transfer_times_.write_start, transfer_times_.write_processor);
    input.largest[5] = taken(transfer_times_.read_start, transfer_times_.read_processor);
    // Whether a time is known must be known of all ranks: the smallest says so.
    if (transfer_times_.write.seconds() > 0) input.smallest = tier_->is_writing() ? 1 : 2;
  }
  const double start = recorder_.on() ? now_seconds() : 0;
  const Agreement::Output output = agreement_.agree(input);
  if (recorder_.on()) recorder_.add(Activity::kAgree, start, now_seconds(), 0, 0);
  agreed_ = output.largest;
  advances_agreed_at_ = advances_;
  adjoints_agreed_at_ = adjoints_;
  committed_ = output.committed;
  write_times_known_ = output.smallest >= 1;
  nobody_writes_ = output.smallest == 2;
  return output;
}

// ---- the caller's actions ----

void Run::record_action(double now, std::int64_t last) {
  Activity activity = Activity::kTurn;
  switch (last_.kind) {
    case ANADROME_ADVANCE:
      activity = last_.again != 0 ? Activity::kRecompute : Activity::kAdvance;
      break;
    case ANADROME_ADJOINT:
      activity = Activity::kAdjoint;
      break;
    case ANADROME_TURN:
      break;
    default:  // the caller prepares x_0
      return;
  }
  const std::int64_t before = join() != nullptr ? join()->steps_before(last_.branch) : 0;
  recorder_.add(activity, handed_out_, now, before + last_.first, before + last);
}

void Run::note_finished_action() {
  const double now = timed_ ? now_seconds() : 0;
  const double seconds = now - handed_out_;
  const std::int64_t last = finished_at_ >= 0 ? finished_at_ : last_.last;
  if (recorder_.on()) record_action(now, last);
  if (last_.kind == ANADROME_ADVANCE) {
    advances_ += last - last_.first;
    if (timed_ && last_.record == 0) forward_.add(seconds, last - last_.first);
    if (step_costs_.measuring() && last_.again == 0) step_costs_.add(last_.first, seconds);
    if (predict_at_ > 0 && advances_ >= predict_at_) predict();
  } else if (last_.kind == ANADROME_ADJOINT) {
    ++adjoints_;
    if (timed_) adjoint_.add(seconds, 1);
    if (adjoint_costs_.measuring()) adjoint_costs_.add(last_.first, seconds);
  }
  finished_at_ = -1;
  timed_ = false;
  last_ = {};
  if (then_is_written_) {
    live_->step_done();
    then_is_written_ = false;
  }
}

// Exchanged fields change places at every step, so the caller takes one at a time. And an advance
// ends where the sweep's time is predicted: by Revolve alone the first one is a long one.
bool Run::hand_out_advance(const schedule::Action& action) {
  schedule::Action part = action;
  const std::int64_t to_prediction = action.again ? 0 : predict_at_ - advances_;
  if (live_->exchanged()) {
    attempt([&] { live_->make_room_for_step(); });
    then_is_written_ = true;
    part.last = action.first + 1;
  } else if (measures_steps() && !action.again) {
    part.last = action.first + 1;
  } else if (0 < to_prediction && to_prediction < action.last - action.first) {
    part.last = action.first + to_prediction;
  }
  const std::int64_t audited = action.again ? schedule::kUnknown : audited_step();
  if (action.first == audited) note_audit(audited);
  if (action.first < audited) part.last = std::min(part.last, audited);
  if (state_bytes_.measuring() && !action.again) measure_state(action.first);
  part.record = action.record && part.last == action.last;
  if (part.record && action.again && part.first + 1 == part.last) check_audit(part.first);
  rest_ = action;
  rest_.first = part.last;
  return hand_out(ANADROME_ADVANCE, part);
}

bool Run::hand_out(anadrome_action_kind kind, const schedule::Action& action) {
  last_ = {};
  last_.kind = kind;
  last_.record = action.record ? 1 : 0;
  last_.again = action.again ? 1 : 0;
  last_.first = action.first;
  last_.last = action.last;
  last_.branch = action.branch;
  if (Watch* const watching = watch()) watching->note(doing(last_), action.first);
  if (recorder_.on() || measures_steps()) {
    timed_ = true;
  } else if (kind == ANADROME_ADVANCE) {
    timed_ =
        forward_sampler_.due(forward_.seconds() * static_cast<double>(action.last - action.first));
  } else {
    timed_ = adjoint_sampler_.due(adjoint_.seconds());
  }
  if (timed_) {
    handed_out_ = now_seconds();
    if (progress_.due(handed_out_)) show_progress();
  }
  return true;
}

void Run::next(anadrome_action& action) {
  if (!under_way()) {
    throw Error(ANADROME_ERR_ORDER, phase_ == ANADROME_PHASE_DONE
                                        ? "next: the sweep is done; call begin, rewind or close"
                                        : "next: call begin first");
  }
  const bool adjoint_is_done = last_.kind == ANADROME_ADJOINT;
  note(Doing::kNext);
  note_finished_action();
  try {
    if (adjoint_is_done && committer_ != nullptr) commit_between_anchors();
    bool handed_out = rest_.first < rest_.last && hand_out_advance(schedule::Action(rest_));
    while (!handed_out) {
      const schedule::Action planned = script_->next();
      if (write_due_) write_due_block();
      handed_out = carry_out(planned);
    }
  } catch (...) {
    // The sweep is over, on every rank: whatever is thrown here was agreed or is everybody's.
    progress_.finish();
    phase_ = ANADROME_PHASE_IDLE;
    throw;
  }
  action = last_;
}

// True: last_ is an action for the caller.
bool Run::carry_out(const schedule::Action& action) {
  using schedule::Kind;
  // In a Sequence without disk, x_0 is simply the first RAM slot and the others follow it.
  const bool x_0_first = !uses_disk() && script_->sequence() != nullptr;
  const std::int64_t slot = action.slot + (x_0_first ? 1 : 0);
  switch (action.kind) {
    case Kind::kAdvance:
      return hand_out_advance(action);
    case Kind::kKeep:
      if (stack_ != nullptr) {
        keep_in_stack(action);
      } else {
        copy(kept_, [&] { slots_->keep(slot); });
      }
      return false;
    case Kind::kRestore:
      copy(restored_,
           [&] { stack_ != nullptr ? stack_->restore(place_of(action)) : slots_->restore(slot); });
      return false;
    case Kind::kDrop:
      if (stack_ == nullptr) attempt([&] { slots_->drop(slot); });
      return false;
    case Kind::kAnchor:
      keep_anchor(action);
      return false;
    case Kind::kRestoreAnchor:
      restore_anchor(action);
      return false;
    case Kind::kDropAnchor:
      attempt([&] { tier_->drop(action.slot); });
      return false;
    case Kind::kWriteAnchor:
      write_anchor(action);
      return false;
    case Kind::kReadAnchor:
      read_anchor(action);
      return false;
    case Kind::kKeepTape:
      copy(kept_, [&] { slots_->keep_tape(slot); });
      return false;
    case Kind::kRestoreTape:
      copy(restored_, [&] { slots_->restore_tape(slot); });
      return false;
    case Kind::kDropTape:
      attempt([&] { slots_->drop_tape(slot); });
      return false;
    case Kind::kDecide:
      decide();
      return false;
    case Kind::kStart:
      if (live_->exchanged()) {
        attempt([&] { live_->make_room_for_step(); });
        then_is_written_ = true;
      }
      return hand_out(ANADROME_START, action);
    case Kind::kTurn:
      if (join() != nullptr && !action.again) {
        agree(Call::kTurn);
      } else {
        turn();
      }
      return hand_out(ANADROME_TURN, action);
    case Kind::kAdjoint:
      if (!has_tape()) check_audit(action.first);
      if (uses_disk()) attempt([&] { tier_->prefetch_below(newest_anchor_); });
      return hand_out(ANADROME_ADJOINT, action);
    case Kind::kDone:
      done();
      return hand_out(ANADROME_DONE, action);
  }
  return false;
}

// ---- the ends of the sweeps ----

void Run::finish_forward(std::int64_t steps) {
  if (phase_ != ANADROME_PHASE_FORWARD || last_.kind != ANADROME_ADVANCE) {
    throw Error(ANADROME_ERR_ORDER, "finish_forward: no advance of the forward sweep is under way");
  }
  if (finished_at_ >= 0) {
    throw Error(ANADROME_ERR_ORDER, "finish_forward: the sweep was ended after step " +
                                        std::to_string(finished_at_) + " already");
  }
  const bool in_hand = last_.first <= steps && steps <= last_.last;
  if (!in_hand || !script_->may_finish(steps)) {
    if (script_->steps() != schedule::kUnknown) {
      throw Error(ANADROME_ERR_ORDER, "finish_forward: the number of steps was given to begin");
    }
    throw Error(ANADROME_ERR_ARGUMENT,
                "finish_forward: " + std::to_string(steps) + " is outside the advance from " +
                    std::to_string(last_.first) + " to " + std::to_string(last_.last));
  }
  script_->finish_forward(steps);
  finished_at_ = steps;
  rest_ = {};
  if (steps == last_.first) then_is_written_ = false;  // no step was taken
}

void Run::turn() {
  agree(Call::kTurn, script_->steps(), "the number of steps given to finish_forward");
  const bool partly_filled =
      uses_disk() && writes_all_anchors() && tier_->anchors_written() < tier_->anchors_kept();
  if (partly_filled && !no_more_anchors_) write_newest_block(Call::kTurn);
  phase_ = ANADROME_PHASE_REVERSE;
  predict_at_ = 0;                                  // too late to be a prediction
  if (turn_time_ == 0) turn_time_ = now_seconds();  // not again after a rewind
  if (uses_disk()) attempt([&] { tier_->prefetch_below(newest_anchor_); });
}

void Run::done() {
  const Failure differs = agree(Call::kDone, 0, "", audit_failure_).lost;
  if (differs) warn({differs.message});
  done_time_ = now_seconds();
  for (StepTable* table : {&step_costs_, &adjoint_costs_, &state_bytes_}) {
    if (table->measuring()) table->finish(agreement_.comm());
  }
  note_expectation();
  measured_before_ = uses_disk() && agreed_[0] > 0 && write_times_known_;
  progress_.finish();
  attempt([&] { report(); });
  if (recorder_.on()) attempt([&] { write_trace(); });
  agree(Call::kDone);  // the report is one rank's; whether it could be written is everybody's
  phase_ = ANADROME_PHASE_DONE;
}

void Run::rewind() {
  note(Doing::kRewind);
  Failure failure;
  if (phase_ != ANADROME_PHASE_DONE) {
    failure = {ANADROME_ERR_ORDER, "rewind: only after DONE"};
  } else if (join() != nullptr) {
    failure = {ANADROME_ERR_UNSUPPORTED,
               "rewind: the ends of branches are not kept; call begin_branches again"};
  } else if (fields_.size() != fields_at_begin_) {
    failure = {ANADROME_ERR_ORDER, "rewind: fields were registered since begin, and not kept"};
  } else if (script_->nested() != nullptr && !script_->nested()->can_rewind()) {
    failure = {ANADROME_ERR_UNSUPPORTED, std::string("rewind: schedule=") + to_string(schedule_) +
                                             " does not hold x_0 any more; begin a new sweep"};
  }
  const bool from_disk = !failure && uses_disk();
  const std::int64_t restorable =
      agreement_
          .agree({.call = Call::kRewind,
                  .failure = failure,
                  .smallest = from_disk ? tier_->anchors_restorable() : 1})
          .smallest;
  if (script_->nested() != nullptr) {
    script_->nested()->rewind();
    newest_anchor_ = 0;
  } else if (script_->overlapped() != nullptr) {
    rewind_overlapped();
  } else {
    sequence().rewind(restorable);
    newest_anchor_ = sequence().anchors().count() - 1;
  }
  agreed_block_ = -1;
  done_time_ = 0;
  rewound_ = true;
  phase_ = ANADROME_PHASE_REVERSE;
  progress_.start(options_.progress && agreement_.rank() == 0);
  handed_out_ = now_seconds();
}

void Run::fail(const std::string& why) {
  if (!under_way()) throw Error(ANADROME_ERR_ORDER, "fail: no sweep is under way");
  hold({ANADROME_ERR_PEER, why});
}

void Run::close() {
  held_ = {};
  note(Doing::kClose);
  const bool swept = script_.has_value();
  // A sweep that was not finished can go on, if it was committed, by this process or the one
  // before.
  const bool leave = disk_ != nullptr && (committed_ > 0 || recovery_.has_value()) &&
                     phase_ != ANADROME_PHASE_DONE;
  const bool keep = options_.keep && tier_ != nullptr && swept && !leave;
  const std::int64_t steps = swept ? script_->steps() : schedule::kUnknown;
  std::int64_t written = 0;
  schedule::AnchorList anchors;
  std::vector<std::uint64_t> checksums;
  if (tier_ != nullptr && options_.keep) {
    attempt([&] { tier_->flush(); });
    // The gradient was right all the same, but the files are not all there.
    hold(disk_refused_ ? disk_refused_ : tier_->failed_write());
  }
  if (keep) {
    attempt([&] {
      anchors = sequence().anchors();
      written = tier_->anchors_written();
      checksums = tier_->checksums();
    });
  }
  abandon();
  if (leave) {
    attempt([&] { disk_->leave(); });
  } else if (!keep && disk_ != nullptr) {
    disk_->release();  // nobody has a file open when it is removed
  }
  if (!agreement_.broken()) {
    agreement_.agree({.call = Call::kClose, .failure = held_});
    transport_.reset();  // collective with transport=mpio: only where all ranks are known to be
    if (keep) {
      hold(disk_->keep(anchors, written, checksums, sweep_, steps, to_string(schedule_)));
    } else if (!leave && disk_ != nullptr) {
      hold(disk_->remove());
    }
    agreement_.agree({.call = Call::kClose, .failure = held_});
    disk_.reset();  // until here its ranks are watched
  }
}

}  // namespace anadrome::engine
