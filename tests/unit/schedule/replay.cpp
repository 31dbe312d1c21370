// SPDX-License-Identifier: BSD-2-Clause
#include "replay.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "schedule/stack/online_planner.h"
#include "schedule/stack/plain_planners.h"

namespace anadrome::schedule {
namespace {

void require(bool holds, const char* rule) {
  if (!holds) throw std::logic_error(rule);
}

std::int64_t run_in_all(const Taken& taken) { return taken.advances + taken.recorded; }
std::int64_t steps_in_all(const Taken& taken) { return taken.adjoints + taken.visits; }

}  // namespace

Driver::Driver(Sweep& sweep, const RuleOptions& rules, Driving driving)
    : sweep_(sweep),
      driving_(std::move(driving)),
      rules_(rules),
      open_end_(sweep.course().steps == kUnknown) {}

Driver::Driver(PassSweep& sweep, const Remains& remains)
    : sweep_(sweep), rules_(RuleOptions{}), open_end_(false) {
  rules_.remain(remains);
}

Taken Driver::sweep() {
  note_promise();
  while (!rules_.done()) {
    const Action action = sweep_.next();
    rules_.play(action);
    if (sees) sees(action);
    turned_ = turned_ || std::holds_alternative<Turn>(action);
    const auto* const restored = std::get_if<Restore>(&action);
    if (restored != nullptr && restored->tier == kDiskTier) lose(restored->place);
    if (const auto* advance = std::get_if<Advance>(&action)) after(*advance);
    if (const auto* decide = std::get_if<Decide>(&action)) {
      require(driving_.decide != nullptr, "there is nothing to decide");
      driving_.decide(decide->step);
    }
    if (!rules_.done()) note_promise();
  }
  require(std::holds_alternative<Done>(sweep_.next()), "something comes after the end");
  check_promises();
  return rules_.taken();
}

Taken Driver::rewind(std::int64_t restorable) {
  sweep_.rewind(restorable);
  rules_.rewind(restorable);
  return again();
}

Taken Driver::pass(const Pass& pass) {
  sweep_.begin_pass(pass);
  rules_.begin_pass(pass);
  states_per_block_ = pass.states_per_block;
  return again();
}

Taken Driver::again() {
  promises_.clear();
  turned_ = false;
  return sweep();
}

// With all of its block.
void Driver::lose(std::int64_t number) {
  if (!loses || !loses(number)) return;
  const std::int64_t first = number / states_per_block_ * states_per_block_;
  require(sweep_.lose(first), "nothing is left");
  const std::int64_t end = std::min(first + states_per_block_, sweep_.anchors().count());
  for (std::int64_t lost = first; lost < end; ++lost) rules_.lose(lost);
  promises_.clear();
}

void Driver::after(const Advance& advance) {
  const bool outside =
      sweep_.course().ends.has(advance.first - 1) || sweep_.course().ends.has(advance.last + 1);
  require(!outside, "finish_forward would be taken outside the advance");
  if (sweep_.course().steps != kUnknown) return;
  const bool inside =
      sweep_.course().ends.has(advance.first) && sweep_.course().ends.has(advance.last);
  require(inside, "finish_forward would not be taken inside the advance");
  const std::int64_t n = driving_.steps;
  if (driving_.finish_late ? advance.last <= n : advance.last < n) return;
  sweep_.finish_forward(n);
  rules_.end_is(n);
}

void Driver::note_promise() {
  // While an interval may still be asked for, only the caller can know what is to come.
  const Taken& taken = rules_.taken();
  const bool settled = taken.decisions > 0 ? driving_.steady : driving_.decide == nullptr;
  const bool end_known = sweep_.course().steps != kUnknown;
  promises_.push_back({sweep_.advances_remaining(), sweep_.course().adjoints_left,
                       run_in_all(taken), steps_in_all(taken), taken.decisions, end_known,
                       end_known && (turned_ || open_end_ || settled)});
}

void Driver::check_promises() const {
  const Taken& taken = rules_.taken();
  for (std::size_t i = 0; i < promises_.size(); ++i) {
    const Promise& promise = promises_[i];
    const std::int64_t advances = run_in_all(taken) - promise.advanced;
    const std::int64_t adjoints = steps_in_all(taken) - promise.adjoined;
    const bool binds = promise.must_be_known || promise.decisions == taken.decisions;
    const bool open = promise.advances == kUnknown ? !promise.must_be_known : !binds;
    const bool unknown = promise.adjoints == kUnknown && !promise.end_known;
    if ((open || promise.advances == advances) && (unknown || promise.adjoints == adjoints))
      continue;
    throw std::logic_error("after " + std::to_string(i) + " actions " +
                           std::to_string(promise.advances) + " advances and " +
                           std::to_string(promise.adjoints) + " adjoints were promised, " +
                           std::to_string(advances) + " and " + std::to_string(adjoints) + " came");
  }
}

Taken replay(const StackOptions& options, std::unique_ptr<Planner> planner) {
  StackSweep sweep(options, std::move(planner));
  return Driver(sweep, rules_of(options, sweep.planner()), {.steps = options.steps}).sweep();
}

// ---- anchors at intervals, or x_0 in RAM ----

AskedSweep::AskedSweep(const AnchoredCase& given) : given_(given) {
  const bool end_known = given.steps != kUnknown;
  const bool tapes = given.anchored && !given.keep_every && given.tape_units > 0;
  const std::int64_t most = std::max(given.most_slots, given.slots);
  options_.steps = given.steps;
  options_.record = given.record;
  options_.tape_units = tapes ? given.tape_units : 0;
  options_.leaves_states = given.leaves_states;
  std::unique_ptr<Planner> planner;
  if (given.anchored) {
    options_.x_0 = Place::kDisk;
    options_.anchors_stay = true;
    options_.units = most - 1;
    options_.disk_slots = given.most_anchors;
    options_.retain = end_known && given.slots >= given.steps && !given.all_anchors && !tapes;
    planner = std::make_unique<AnchoredPlanner>(AnchoredOptions{.steps = given.steps,
                                                                .slots = given.slots,
                                                                .most_slots = given.most_slots,
                                                                .interval = given.interval,
                                                                .all_anchors = given.all_anchors,
                                                                .record = given.record,
                                                                .tape_units = options_.tape_units});
  } else {
    options_.x_0 = Place::kRam;
    options_.units = given.slots;
    options_.retain = end_known ? given.slots >= given.steps : given.keep_every;
    if (end_known) planner = std::make_unique<RevolvePlanner>();
    if (!end_known) {
      planner = std::make_unique<OnlinePlanner>(
          OnlineOptions{.slots = given.slots, .keep_every = given.keep_every});
    }
  }
  sweep_ = std::make_unique<StackSweep>(options_, std::move(planner));
}

RuleOptions AskedSweep::rules() const { return rules_of(options_, sweep_->planner()); }

AnchoredPlanner& AskedSweep::anchored() {
  return dynamic_cast<AnchoredPlanner&>(sweep_->planner());
}

std::vector<Taken> replay(AskedSweep& sweep, std::int64_t steps, const ReplayOptions& options,
                          const std::vector<std::int64_t>& rewinds) {
  Driving driving{.steps = steps, .finish_late = options.finish_late, .steady = options.steady};
  if (options.decide) {
    driving.decide = [&](std::int64_t live) {
      const Answer answer = options.decide(live);
      if (answer.probe) return sweep.probe(answer.steps);
      sweep.set_interval(answer.steps);
    };
  }
  Driver driver(sweep.sweep(), sweep.rules(), driving);
  std::vector<Taken> all = {driver.sweep()};
  for (const std::int64_t restorable : rewinds) all.push_back(driver.rewind(restorable));
  for (Taken& taken : all) taken.advances += taken.recorded;
  return all;
}

Taken replay(const AnchoredCase& given, std::int64_t steps, const ReplayOptions& options) {
  AskedSweep sweep(given);
  return replay(sweep, steps, options, {}).front();
}

}  // namespace anadrome::schedule
