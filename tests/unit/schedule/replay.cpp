#include "replay.h"

#include <algorithm>
#include <stdexcept>

namespace anadrome::schedule {
namespace {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kAdvance:
      return "advance";
    case Kind::kKeep:
      return "keep";
    case Kind::kRestore:
      return "restore";
    case Kind::kDrop:
      return "drop";
    case Kind::kAnchor:
      return "anchor";
    case Kind::kRestoreAnchor:
      return "restore anchor";
    case Kind::kDropAnchor:
      return "drop anchor";
    case Kind::kWriteAnchor:
      return "write anchor";
    case Kind::kReadAnchor:
      return "read anchor";
    case Kind::kKeepTape:
      return "keep tape";
    case Kind::kRestoreTape:
      return "restore tape";
    case Kind::kDropTape:
      return "drop tape";
    case Kind::kDecide:
      return "decide";
    case Kind::kStart:
      return "start";
    case Kind::kTurn:
      return "turn";
    case Kind::kAdjoint:
      return "adjoint";
    case Kind::kDone:
      return "done";
  }
  return "unknown action";
}

}  // namespace

Machine::Machine(Sequence& sequence, const ReplayOptions& options)
    : sequence_(sequence),
      options_(options),
      open_end_(sequence.steps() == kUnknown),
      next_adjoint_(options.steps - 1) {}

void Machine::broken(const std::string& rule) const {
  throw std::logic_error("action " + std::to_string(played_) + " (" + name_of(current_.kind) + " " +
                         std::to_string(current_.first) + ".." + std::to_string(current_.last) +
                         ", slot " + std::to_string(current_.slot) + "), live " +
                         (live_ ? std::to_string(*live_) : "undefined") + ": " + rule);
}

void Machine::require_live(const Action& action) const {
  if (live_ != action.first) broken("its state is not live");
}

Totals Machine::sweep() {
  note_promise();
  for (;;) {
    current_ = sequence_.next();
    ++played_;
    if (current_.kind == Kind::kDone) break;
    play(current_);
    note_promise();
  }
  check_end();
  check_promises();
  return totals_;
}

Totals Machine::rewind(std::int64_t anchors) {
  sequence_.rewind(anchors);
  if (anchors < static_cast<std::int64_t>(anchors_.size())) {
    anchors_.resize(static_cast<std::size_t>(anchors), Anchor{});
  }
  for (Anchor& anchor : anchors_) anchor.dropped = false;
  live_.reset();
  tape_.reset();
  turned_ = false;
  next_adjoint_ = options_.steps - 1;
  totals_ = {};
  promises_.clear();
  return sweep();
}

void Machine::play(const Action& action) {
  const bool progress = action.kind == Kind::kAdvance || action.kind == Kind::kAdjoint;
  idle_ = progress ? 0 : idle_ + 1;
  if (idle_ > 16 + 2 * static_cast<std::int64_t>(slots_.size() + anchors_.size())) {
    broken("nothing goes on");
  }
  switch (action.kind) {
    case Kind::kAdvance:
      return advance(action);
    case Kind::kKeep:
      return keep(action);
    case Kind::kRestore:
      return restore(action);
    case Kind::kDrop:
      return drop(action);
    case Kind::kAnchor:
      return anchor(action);
    case Kind::kRestoreAnchor:
      return restore_anchor(action);
    case Kind::kDropAnchor:
      return drop_anchor(action);
    case Kind::kKeepTape:
    case Kind::kRestoreTape:
    case Kind::kDropTape:
      return tape(action);
    case Kind::kDecide:
      return decide(action);
    case Kind::kTurn:
      return turn(action);
    case Kind::kAdjoint:
      return adjoint(action);
    case Kind::kWriteAnchor:
    case Kind::kReadAnchor:
    case Kind::kStart:
    case Kind::kDone:
      break;
  }
  broken("there is no such action");
}

void Machine::advance(const Action& action) {
  require_live(action);
  if (action.first >= action.last) broken("an advance over nothing");
  if (action.record && !options_.record) broken("nobody asked for a tape");
  if (sequence_.may_finish(action.first - 1) || sequence_.may_finish(action.last + 1)) {
    broken("finish_forward would be taken outside the advance");
  }
  const bool end_known = sequence_.steps() != kUnknown;
  if (end_known && action.last > options_.steps) broken("an advance beyond the end");
  const std::int64_t last = std::min(action.last, options_.steps);
  if (action.again ? last > run_before_ : action.first < run_before_) broken("`again` is wrong");
  totals_.advances += last - action.first;
  totals_.recorded += action.record ? 1 : 0;
  run_before_ = std::max(run_before_, last);
  live_ = last;
  tape_.reset();
  if (action.record) tape_ = last - 1;
  if (!end_known) finish_if_the_end_is_reached(action);
}

void Machine::finish_if_the_end_is_reached(const Action& action) {
  const std::int64_t n = options_.steps;
  if (!sequence_.may_finish(action.first) || !sequence_.may_finish(action.last)) {
    broken("finish_forward would not be taken inside the advance");
  }
  if (options_.finish_late ? action.last > n : action.last >= n) sequence_.finish_forward(n);
}

// With s - 1 slot numbers, and the anchor of the current interval as the s-th state, nobody can
// hold more states than slots.
std::optional<std::int64_t>& Machine::slot_of(const Action& action) {
  if (action.slot < 0 || action.slot >= sequence_.slots() - 1) broken("there is no such slot");
  const auto index = static_cast<std::size_t>(action.slot);
  if (index >= slots_.size()) slots_.resize(index + 1);
  return slots_[index];
}

void Machine::keep(const Action& action) {
  require_live(action);
  std::optional<std::int64_t>& slot = slot_of(action);
  if (slot) broken("the slot still holds state " + std::to_string(*slot));
  slot = action.first;
  ++totals_.keeps;
}

void Machine::restore(const Action& action) {
  if (slot_of(action) != action.first) broken("the slot does not hold this state");
  live_ = action.first;
  tape_.reset();
  ++totals_.restores;
}

void Machine::drop(const Action& action) {
  std::optional<std::int64_t>& slot = slot_of(action);
  if (slot != action.first) broken("the slot does not hold this state");
  slot.reset();
  ++totals_.drops;
}

// A tape is in all of its slots; states and tapes of a step are told apart.
void Machine::tape(const Action& action) {
  const std::int64_t mark = -2 - action.first;
  if (options_.tape_units == 0) broken("nobody asked for tapes to be kept");
  if (action.kind == Kind::kKeepTape && tape_ != action.first) broken("its tape is not there");
  for (std::int64_t i = 0; i < options_.tape_units; ++i) {
    Action part = action;
    part.slot += i;
    std::optional<std::int64_t>& slot = slot_of(part);
    if (action.kind == Kind::kKeepTape) {
      if (slot) broken("the slot still holds " + std::to_string(*slot));
      slot = mark;
    } else {
      if (slot != mark) broken("the slot does not hold this tape");
      if (action.kind == Kind::kDropTape) slot.reset();
    }
  }
  if (action.kind != Kind::kRestoreTape) return;
  live_.reset();
  tape_ = action.first;
}

void Machine::anchor(const Action& action) {
  require_live(action);
  if (turned_) broken("an anchor in the reverse sweep");
  if (action.slot != static_cast<std::int64_t>(anchors_.size())) broken("anchors are numbered on");
  if (!anchors_.empty() && anchors_.back().step >= action.first) broken("anchors out of order");
  anchors_.push_back({action.first, false});
  ++totals_.anchors;
}

Machine::Anchor& Machine::anchor_of(const Action& action) {
  if (action.slot < 0 || action.slot >= static_cast<std::int64_t>(anchors_.size())) {
    broken("there is no such anchor");
  }
  Anchor& anchor = anchors_[static_cast<std::size_t>(action.slot)];
  if (anchor.dropped) broken("the anchor was dropped");
  if (anchor.step != action.first) broken("the anchor is another state");
  return anchor;
}

void Machine::restore_anchor(const Action& action) {
  live_ = anchor_of(action).step;
  tape_.reset();
  ++totals_.anchor_restores;
}

void Machine::drop_anchor(const Action& action) { anchor_of(action).dropped = true; }

void Machine::decide(const Action& action) {
  require_live(action);
  if (turned_) broken("a decision in the reverse sweep");
  if (!open_end_ && action.first >= options_.steps && options_.steps > 0) {
    broken("a decision at the end");
  }
  if (!options_.decide) broken("there is nothing to decide");
  const Answer answer = options_.decide(action.first);
  ++totals_.decisions;
  if (answer.probe) {
    sequence_.probe(answer.steps);
  } else {
    sequence_.set_interval(answer.steps, sequence_.slots());
  }
}

void Machine::turn(const Action& action) {
  if (turned_) broken("a second turn");
  if (action.first != options_.steps || action.last != options_.steps) broken("not the end");
  require_live(action);
  if (!sequence_.turned()) broken("turned() denies it");
  turned_ = true;
  live_.reset();  // a tape stays as it is
}

void Machine::adjoint(const Action& action) {
  if (!turned_) broken("an adjoint before the turn");
  if (action.first != next_adjoint_) broken("adjoints out of order");
  if (action.last != action.first + 1) broken("one adjoint at a time");
  if (options_.record && tape_ != action.first) broken("its tape is not there");
  if (!options_.record) require_live(action);
  live_.reset();
  tape_.reset();
  --next_adjoint_;
}

void Machine::check_end() {
  if (!turned_) broken("no turn");
  if (next_adjoint_ != -1) broken("adjoints are missing");
  if (!options_.record && live_ != 0) broken("x_0 is not live at the end");
  if (sequence_.next().kind != Kind::kDone) broken("something comes after the end");
  if (anchors_.empty() || anchors_.front().dropped) broken("x_0 cannot be restored for a rewind");
}

void Machine::note_promise() {
  // While an interval may still be asked for, only the caller can know what is to come.
  const bool settled = totals_.decisions > 0 ? options_.steady : !options_.decide;
  const bool end_known = sequence_.steps() != kUnknown;
  promises_.push_back({sequence_.advances_remaining(), sequence_.adjoints_remaining(),
                       totals_.advances, options_.steps - 1 - next_adjoint_, totals_.decisions,
                       end_known, end_known && (turned_ || open_end_ || settled)});
}

void Machine::check_promises() const {
  for (std::size_t i = 0; i < promises_.size(); ++i) {
    const Promise& promise = promises_[i];
    const std::string when = "after " + std::to_string(i) + " actions of the sweep ";
    if (promise.advances == kUnknown) {
      if (promise.must_be_known) broken(when + "advances_remaining() did not know");
    } else if (promise.must_be_known || promise.decisions == totals_.decisions) {
      const std::int64_t came = totals_.advances - promise.advanced;
      if (promise.advances != came) {
        broken(when + std::to_string(promise.advances) + " advances were promised, " +
               std::to_string(came) + " came");
      }
    }
    const std::int64_t adjoints = options_.steps - promise.adjoined;
    const bool unknown = promise.adjoints == kUnknown && !promise.end_known;
    if (!unknown && promise.adjoints != adjoints) {
      broken(when + std::to_string(promise.adjoints) + " adjoints were promised, " +
             std::to_string(adjoints) + " came");
    }
  }
}

Totals replay(Sequence& sequence, const ReplayOptions& options) {
  return Machine(sequence, options).sweep();
}

Totals replay(const SequenceOptions& sequence_options, std::int64_t steps, ReplayOptions options) {
  options.steps = steps;
  options.record = sequence_options.record;
  options.tape_units = sequence_options.tape_units;
  Sequence sequence(sequence_options);
  return replay(sequence, options);
}

}  // namespace anadrome::schedule
