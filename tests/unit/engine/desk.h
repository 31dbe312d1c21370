// The parts of a run on one rank, without the run: what they agree on is remembered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/beginning.h"
#include "engine/caller.h"
#include "engine/decisions.h"
#include "engine/meeting.h"
#include "temporary_directory.h"
#include "thread_ranks.h"

namespace anadrome::engine {

class RecordingMeeting final : public Meeting {
 public:
  struct Agreed {
    Call call = Call::kBegin;
    std::int64_t equal = 0;
    std::string equal_name;
  };
  explicit RecordingMeeting(Context& context) : context_(context) {}

  Agreement::Output agree(Call call, std::int64_t equal, const char* equal_name,
                          const Failure& lost) override {
    agreed.push_back({call, equal, equal_name});
    Agreement::Input input;
    input.call = call;
    input.failure = context_.held.failure();
    input.equal = equal;
    input.equal_name = equal_name;
    input.lost = lost;
    if (bring) bring(input);
    const Agreement::Output output = context_.agreement.agree(input);
    context_.measured.take(output);
    if (take) take(output);
    return output;
  }
  using Meeting::agree;
  void commit_if_due(Call call, const Agreement::Output&) override { commits.push_back(call); }

  std::vector<Agreed> agreed;
  std::vector<Call> commits;  ///< moments for one
  std::function<void(Agreement::Input&)> bring;
  std::function<void(const Agreement::Output&)> take;

 private:
  Context& context_;
};

// A sweep that answers what a test wants of it.
class ScriptedSweep : public schedule::Sweep {
 public:
  schedule::Action next() override { return schedule::Done{}; }
  schedule::Next decide(const schedule::Measured& measured) override {
    asked.push_back(measured);
    const schedule::Next answer = answers.empty() ? schedule::Next::kGoOn : answers.front();
    if (!answers.empty()) answers.erase(answers.begin());
    return answer;
  }
  void plan(const schedule::Measured&) override {
    ++plans;
    if (no_plan) throw Error(no_plan.status, no_plan.message);
  }
  std::int64_t fingerprint() const override { return print; }
  const char* plan_name() const override { return "the plan"; }
  std::int64_t steps() const override { return 100; }
  bool turned() const override { return false; }
  std::int64_t advances_remaining() const override { return 100; }
  std::int64_t adjoints_remaining() const override { return adjoints; }
  bool lose(std::int64_t number) override {
    lost.push_back(number);
    return number > 0;
  }
  void add_no_more_anchors() override { ++told_no_more; }
  bool can_rewind() const override { return true; }
  void rewind(std::int64_t restorable) override { rewound_to = restorable; }
  bool plans_anew() const override { return anew; }
  bool anchors_stay() const override { return stay; }
  const schedule::AnchorList& anchors() const override { return list; }
  std::int64_t anchor_ahead() const override { return ahead; }
  bool ends_in_ram() const override { return in_ram; }
  std::int64_t slots() const override { return 7; }
  std::int64_t prefetch_depth() const override { return depth; }

  // What it says.
  std::vector<schedule::Next> answers;
  Failure no_plan;
  std::int64_t print = 1, adjoints = 100, ahead = schedule::kUnknown, depth = schedule::kUnknown;
  bool anew = false, stay = true, in_ram = false;
  schedule::AnchorList list;
  // What it was told.
  std::vector<schedule::Measured> asked;
  std::vector<std::int64_t> lost;
  std::int64_t plans = 0, told_no_more = 0, rewound_to = -1;
};

class Desk {
 public:
  Desk(Ranks& ranks, std::int64_t state_bytes, std::int64_t tape_bytes)
      : context(ranks),
        state(static_cast<std::size_t>(state_bytes)),
        tape(static_cast<std::size_t>(tape_bytes)) {
    options.directory = directory.path();
    options.warnings = false;
    add("u", ANADROME_ROLE_STATE, state);
    if (tape_bytes > 0) add("t", ANADROME_ROLE_TAPE, tape);
    fields.begin_sweep();
  }
  void add(const char* name, anadrome_role role, std::vector<unsigned char>& values) {
    store::Field field;
    field.name = name;
    field.role = role;
    field.count = static_cast<std::int64_t>(values.size());
    field.values = values.data();
    fields.add(field);
  }

  SweepPlan plan(const char* schedule, std::int64_t steps) {
    SweepPlan plan;
    plan.steps = steps;
    plan.schedule = schedule::find_schedule(schedule);
    plan.budget = options.memory;
    plan.record = fields.has_tape();
    return plan;
  }
  SweepPlan planned(const char* schedule, std::int64_t steps) {
    SweepPlan made = plan(schedule, steps);
    planning.require_fit(made);
    planning.plan_memory(made, nullptr);
    planning.make_sweep(made, false);
    return made;
  }
  /// As a run does.
  void begin(const char* schedule, std::int64_t steps) {
    options.schedule = schedule::find_schedule(schedule);
    SweepPlan begun;
    begun.steps = steps;
    resumption.abandon();
    keeper.abandon();
    beginning.begin(std::move(begun), Options(options), {});
    meeting.agreed.clear();
  }
  /// What is played from here on.
  ScriptedSweep& script() {
    auto made = std::make_unique<ScriptedSweep>();
    ScriptedSweep& sweep = *made;
    context.plan.sweep = std::move(made);
    return sweep;
  }

  // The state of a step has its last byte everywhere.
  void step_to(std::int64_t step) {
    std::fill(state.begin(), state.end(), static_cast<unsigned char>(step));
  }
  bool is_at(std::int64_t step) const {
    return std::count(state.begin(), state.end(), static_cast<unsigned char>(step)) ==
           static_cast<std::ptrdiff_t>(state.size());
  }

  store::TemporaryDirectory directory;
  Context context;
  std::vector<unsigned char> state, tape;
  Options& options = context.options;
  Fields& fields = context.fields;
  RecordingMeeting meeting{context};
  Storage storage{context};
  Planning planning{context, storage};
  Keeper keeper{context, meeting, storage};
  Decisions decisions{context, meeting, planning, keeper};
  Choice choice{context, planning, storage, keeper};
  Resumption resumption{context, meeting, planning, storage, keeper};
  Report report{context, planning, storage, keeper};
  Beginning beginning{context, storage, planning, keeper, choice, resumption};
  Caller caller{context, storage, keeper, report};
};

inline void alone(std::int64_t state_bytes, std::int64_t tape_bytes,
                  const std::function<void(Desk&)>& body) {
  ThreadRanks all(1);
  ThreadRanks::Rank rank(all, 0);
  Desk desk(rank, state_bytes, tape_bytes);
  body(desk);
}

}  // namespace anadrome::engine
