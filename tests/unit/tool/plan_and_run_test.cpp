// SPDX-License-Identifier: BSD-2-Clause
// The answer of anadrome plan for a run, and a run with the same times: the run's parts decide as
// they do after a sweep that measured them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "engine/plan/choice.h"
#include "engine/sweep/context.h"
#include "schedule/anchored/full_disk.h"
#include "schedule/passes/pass_sweep.h"
#include "thread_ranks.h"
#include "tool/plan/comparison.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

WhatIf drawn(std::mt19937& random) {
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  WhatIf question;
  question.steps = static_cast<std::int64_t>(between(1, 900));
  question.state_bytes = static_cast<std::int64_t>(between(2e6, 4e7));
  if (random() % 4 == 0) question.state_bytes = static_cast<std::int64_t>(between(24, 1e5));
  const auto state = static_cast<double>(question.state_bytes);
  question.memory = static_cast<std::int64_t>(state * between(2.5, 60)) + 64 * 1024;
  if (random() % 4 == 0) question.memory += 400 * kMiB;
  question.forward = between(0.001, 1);
  question.adjoint = question.forward * between(0.5, 4);
  question.write_rate = state / (question.forward * between(0.05, 60));
  question.read_rate = question.write_rate * between(0.5, 2);
  if (random() % 3 == 0) {
    question.disk = static_cast<std::int64_t>(state * between(3, 300)) + 4 * kMiB;
  }
  if (random() % 4 == 0) question.tape_bytes = static_cast<std::int64_t>(state * between(0.3, 5));
  return question;
}

// A run of one rank whose last sweep measured the question's times.
class MeasuredRun {
 public:
  MeasuredRun(engine::Ranks& ranks, const WhatIf& question) : context(ranks), question_(question) {
    add("u", ANADROME_ROLE_STATE, question.state_bytes);
    if (question.has_tape()) add("t", ANADROME_ROLE_TAPE, question.tape_bytes);
    context.asked.fields.begin_sweep();
    context.asked.options.memory = question.memory;
    context.asked.options.disk = question.disk == kNoLimit ? -1 : question.disk;
    engine::Agreement::Output times;
    times.largest = {question.forward, question.adjoint, question.write_seconds(),
                     question.read_seconds()};
    times.smallest = 1;
    context.notes.measured.take(times);
    context.notes.measured.sweep_is_done(true);
  }

  engine::SweepPlan plan_with(const schedule::Entry* entry) const {
    engine::SweepPlan plan;
    plan.steps = question_.steps;
    plan.schedule = entry;
    plan.budget = question_.memory;
    plan.record = question_.has_tape();
    return plan;
  }

  // The choice of schedule=auto.
  const schedule::Entry* by_auto() {
    engine::SweepPlan plan = plan_with(nullptr);
    choice.choose(plan, context.play.sweep);
    return plan.schedule;
  }

  // A sweep of async up to its first decision.
  engine::SweepPlan decided() {
    const schedule::Entry* const async = schedule::find_schedule("async");
    context.asked.options.schedule = async;
    engine::SweepPlan plan = plan_with(async);
    planning.plan_memory(plan, nullptr);
    planning.make_sweep(plan, false);
    schedule::Measured measured;
    measured.costs = planning.costs(plan);
    measured.write_times_known = measured.of_earlier_sweep = true;
    measured.agreement = 1;
    for (schedule::Action action; !std::holds_alternative<schedule::Turn>(action);) {
      action = plan.sweep->next();
      if (!std::holds_alternative<schedule::Decide>(action)) continue;
      EXPECT_EQ(plan.sweep->decide(measured), schedule::Next::kGoOn);
      break;
    }
    return plan;
  }

  // Forward steps that passes run after a sweep: forward and in reverse, of each together.
  std::pair<std::int64_t, std::int64_t> steps_of_passes(const schedule::Entry& entry) {
    context.asked.options.schedule = &entry;
    context.asked.options.passes = question_.passes;
    engine::SweepPlan plan = plan_with(&entry);
    planning.plan_memory(plan, nullptr);
    planning.make_sweep(plan, false);
    schedule::Measured measured;
    measured.costs = planning.costs(plan);
    measured.costs.passes = planning.passes();
    measured.write_times_known = measured.of_earlier_sweep = true;
    for (schedule::Action action; !std::holds_alternative<schedule::Done>(action);) {
      action = plan.sweep->next();
      if (!std::holds_alternative<schedule::Decide>(action)) continue;
      ++measured.agreement;
      schedule::decide_at_once(*plan.sweep, measured);
    }
    schedule::PassSweep sweep(*plan.sweep->remains());
    schedule::Pass pass;
    pass.restorable = std::max<std::int64_t>(plan.sweep->anchors().count(), 1);
    pass.states_per_block = plan.memory.layout.states();
    std::pair<std::int64_t, std::int64_t> steps;
    for (std::int64_t number = 0; number < question_.passes; ++number) {
      const bool forward = number % 2 == 0;
      pass.direction = forward ? schedule::Direction::kForward : schedule::Direction::kReverse;
      sweep.begin_pass(pass);
      (forward ? steps.first : steps.second) += sweep.advances_remaining();
      while (!std::holds_alternative<schedule::Done>(sweep.next())) continue;
    }
    return steps;
  }

  engine::Context context;

 private:
  void add(const char* name, anadrome_role role, std::int64_t bytes) {
    store::Field field;
    field.name = name;
    field.role = role;
    field.count = bytes;
    context.asked.fields.add(field);
  }

  const WhatIf& question_;
  engine::Storage storage_{context.peers, context.asked, context.notes.measured,
                           context.notes.warnings};

 public:
  engine::Planning planning{context.peers, context.asked, context.notes.measured, storage_};
  engine::Choice choice{context.peers, context.asked, planning};
};

void with_run(const WhatIf& question, const std::function<void(MeasuredRun&)>& body) {
  engine::ThreadRanks::run(1, [&](engine::Ranks& ranks) {
    MeasuredRun run(ranks, question);
    body(run);
  });
}

TEST(PlanAndRun, ChooseTheSameIntervalDepthAndSlots) {
  std::mt19937 random(20261123);
  int with_anchors = 0, read_ahead = 0, refused = 0;
  for (int number = 0; number < 1000; ++number) {
    const WhatIf question = drawn(random);
    with_run(question, [&](MeasuredRun& run) {
      const schedule::Entry& async = *schedule::find_schedule("async");
      const Failure no_plan = failure_from([&] { RunProblem(question, async); });
      const Failure no_run = failure_from([&] { (void)run.decided(); });
      if (no_plan || no_run) {
        ++refused;
        const bool no_disk =
            no_run.status == ANADROME_ERR_NO_SPACE && RunProblem(question, async).disk_states() < 1;
        EXPECT_TRUE(no_disk || no_plan.message == no_run.message)
            << number << ": " << no_run.message;
        return;
      }
      const Estimate planned =
          schedule_named("", "async").estimate(question, RunProblem(question, async));
      const engine::SweepPlan plan = run.decided();
      const schedule::Course course = plan.sweep->course();
      if (course.interval == 0) {  // no anchor but x_0
        EXPECT_EQ(planned.sweep.most_anchors, 1) << number;
        return;
      }
      ++with_anchors;
      const std::int64_t most =
          question.steps * std::max<std::int64_t>(planned.sweep.tape_slots, 1);
      EXPECT_EQ(planned.sweep.interval, course.interval) << number;
      EXPECT_EQ(planned.disk.reads_ahead > 0, course.prefetch_depth > 0) << number;
      EXPECT_EQ(planned.sweep.slots, std::min(course.slots, most)) << number;
      read_ahead += planned.disk.reads_ahead > 0 ? 1 : 0;
    });
  }
  EXPECT_GT(with_anchors, 400);
  EXPECT_GT(read_ahead, 100);
  EXPECT_LT(read_ahead, with_anchors - 10);
  EXPECT_GT(refused, 5);
}

TEST(PlanAndRun, ChooseTheSameScheduleForAuto) {
  std::mt19937 random(20261124);
  std::map<std::string, int> chosen;
  for (int number = 0; number < 1000; ++number) {
    const WhatIf question = drawn(random);
    const schedule::Entry* const planned = auto_choice(question);
    if (planned == nullptr) {
      ++chosen["nothing"];
      continue;
    }
    ++chosen[planned->name];
    with_run(question, [&](MeasuredRun& run) {
      EXPECT_EQ(planned->name, std::string(run.by_auto()->name)) << number;
    });
  }
  for (const char* schedule : {"store_all", "async"}) {
    EXPECT_GT(chosen[schedule], 10) << schedule;
  }
}

TEST(PlanAndRun, RunAsManyStepsInPasses) {
  std::mt19937 random(20261125);
  std::map<std::string, int> compared;
  for (int number = 0; number < 100; ++number) {
    WhatIf question = drawn(random);
    question.steps = 1 + question.steps % 200;
    question.passes = 1 + number % 30;
    question.read_rate *= 100;  // no anchor is left out
    for (const Schedule& schedule : all_schedules()) {
      const schedule::Entry* const found = schedule::find_schedule(schedule.name);
      if (found == nullptr || (found->needs.tape && !question.has_tape())) continue;
      const schedule::Entry& entry = *found;
      Estimate planned;
      if (failure_from([&] { planned = estimate_of(schedule, question); }) || !planned.serves())
        continue;
      ++compared[schedule.name];
      with_run(question, [&](MeasuredRun& run) {
        const auto [forward, reverse] = run.steps_of_passes(entry);
        EXPECT_EQ(planned.forward_pass.forward_steps, static_cast<double>(forward))
            << number << schedule.name;
        EXPECT_EQ(planned.reverse_pass.forward_steps, static_cast<double>(reverse))
            << number << schedule.name;
        EXPECT_EQ(planned.forward_pass.passes + planned.reverse_pass.passes,
                  static_cast<double>(question.passes));
      });
    }
  }
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    EXPECT_GT(compared[schedule], 5) << schedule;
  }
}

}  // namespace
}  // namespace anadrome::tool
