// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/checked_sweep.h"

#include <optional>
#include <utility>

namespace anadrome::schedule {

RuleOptions rules_of(const StackOptions& options, const Planner& planner) {
  RuleOptions rules;
  rules.steps = {options.steps};
  rules.units = options.units;
  rules.disk_slots = options.disk_slots;
  rules.tape_units = options.tape_units;
  rules.tape_restarts = options.tape_restarts;
  rules.record = options.record;
  rules.turn = options.turn;
  rules.anchors_stay = options.anchors_stay;
  rules.state_units = [&planner](std::int64_t step) { return planner.state_units(step); };
  return rules;
}

#ifdef ANADROME_CHECK_RULES
namespace {

class CheckedSweep final : public Sweep {
 public:
  CheckedSweep(std::unique_ptr<Sweep> sweep, const RuleOptions& rules)
      : sweep_(std::move(sweep)), rules_(rules) {}
  CheckedSweep(std::unique_ptr<Sweep> sweep, const Remains& remains)
      : sweep_(std::move(sweep)), rules_(RuleOptions{}) {
    rules_->remain(remains);
  }

  Action next() override {
    Action action = sweep_->next();
    if (rules_) rules_->play(action);
    return action;
  }
  void finish_forward(std::int64_t steps) override {
    sweep_->finish_forward(steps);
    if (rules_) rules_->end_is(steps);
  }
  bool lose(std::int64_t number) override {
    const bool goes_on = sweep_->lose(number);
    if (rules_) rules_->lose(number);
    return goes_on;
  }
  bool mark() override {
    const bool marks = sweep_->mark();
    if (marks) marked_ = rules_;
    return marks;
  }
  void go_back() override {
    sweep_->go_back();
    if (marked_) rules_.emplace(*marked_);
  }
  void rewind(std::int64_t restorable) override {
    sweep_->rewind(restorable);
    if (rules_) rules_->rewind(restorable);
  }
  std::optional<Remains> remains() override { return sweep_->remains(); }
  void begin_pass(const Pass& pass) override {
    sweep_->begin_pass(pass);
    if (rules_) rules_->begin_pass(pass);
  }
  // What goes on in the middle is not checked.
  void resume(const Middle& middle) override {
    rules_.reset();
    sweep_->resume(middle);
  }

  Next decide(const Measured& measured) override { return sweep_->decide(measured); }
  Course course() const override { return sweep_->course(); }
  std::int64_t advances_remaining() const override { return sweep_->advances_remaining(); }
  void disk_is_full(const DiskLeft& left) override {
    sweep_->disk_is_full(left);
    if (rules_) rules_->allow(left.slots);
  }
  void disk_holds(std::int64_t anchors) override {
    sweep_->disk_holds(anchors);
    if (rules_) rules_->allow_on_disk(anchors);
  }
  void make_room_for_anchors() override { sweep_->make_room_for_anchors(); }
  const AnchorList& anchors() const override { return sweep_->anchors(); }

 private:
  std::unique_ptr<Sweep> sweep_;
  std::optional<Rules> rules_, marked_;
};

}  // namespace

std::unique_ptr<Sweep> checked(std::unique_ptr<Sweep> sweep, const RuleOptions& rules) {
  return std::make_unique<CheckedSweep>(std::move(sweep), rules);
}
std::unique_ptr<Sweep> checked_passes(const Remains& remains) {
  return std::make_unique<CheckedSweep>(std::make_unique<PassSweep>(remains), remains);
}
#else
std::unique_ptr<Sweep> checked(std::unique_ptr<Sweep> sweep, const RuleOptions&) { return sweep; }
std::unique_ptr<Sweep> checked_passes(const Remains& remains) {
  return std::make_unique<PassSweep>(remains);
}
#endif

}  // namespace anadrome::schedule
