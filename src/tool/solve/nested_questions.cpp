// SPDX-License-Identifier: BSD-2-Clause
// The questions whose answers are sweeps with nested checkpoints.
#include <memory>
#include <string>

#include "base/error.h"
#include "planners/memory/least_memory.h"
#include "planners/questions/kept_objects.h"
#include "planners/two_tier/double_sweep.h"
#include "tool/exact_json.h"
#include "tool/pictures/sweep_picture.h"
#include "tool/schedules/action_sources.h"
#include "tool/solve/questions.h"

namespace anadrome::tool {
namespace {

/// A sweep whose checkpoints nest, as nested_actions plays it.
struct NestedSweep {
  const char* schedule;
  std::string remark;
  Problem problem;  ///< its tapes and disk slots are drawn
  Counts counts;
  std::function<std::unique_ptr<schedule::Planner>()> planner;
};

// Its actions and its picture, in which a forward step takes a second and an adjoint step two.
void show(const NestedSweep& sweep, Answer& answer) {
  const auto actions = [sweep] { return nested_actions(sweep.problem, sweep.planner()); };
  answer.write_actions = [actions](TextOut& out) { write_actions(actions(), out); };
  answer.draw = [sweep, actions](TextOut& out) {
    const Problem& problem = sweep.problem;
    WhatIf question;
    question.steps = problem.record ? problem.steps : problem.steps - 1;
    question.state_bytes = 1;
    question.forward = 1;
    question.adjoint = 2;
    question.write_rate = question.read_rate = 4;
    question.tape_bytes = problem.record ? 1 : 0;
    Estimate estimate;
    estimate.schedule = sweep.schedule;
    estimate.sweep = problem;
    estimate.counts = sweep.counts;
    price(estimate, question, problem.disk_slots);
    estimate.remark = sweep.remark;
    draw_sweep(actions, question, estimate, out);
  };
}

// ---- objects ----

using questions::KeptObjects;
using questions::Objects;

struct ObjectsAsked {
  std::string objects = "mixed", start;
  std::int64_t steps = 0, slots = 0, tape = 1;
  bool stiff = false;
};

Objects objects_of(const std::string& name) {
  if (name == "state") return Objects::kStates;
  return name == "tape" ? Objects::kTapes : Objects::kMixed;
}

Answer answer(const ObjectsAsked& asked) {
  KeptObjects kept;
  kept.objects = objects_of(asked.objects);
  kept.tape_units = asked.tape;
  // Where only tapes are kept there is nothing else to go on from.
  const bool tapes_only = kept.objects == Objects::kTapes;
  kept.tape_restarts = tapes_only || asked.stiff;
  kept.free_start = asked.start.empty() ? tapes_only : asked.start == "free";
  Problem problem;
  problem.steps = asked.steps;
  problem.slots = asked.slots;
  problem.record = true;
  problem.tape_slots = kept.objects == Objects::kStates ? 0 : kept.tape_units;
  problem.tape_restarts = kept.tape_restarts;
  problem.disk_slots = kept.free_start ? 1 : 0;
  const uint128 forwards = questions::forwards_of(problem.steps, problem.slots, kept);
  Answer answer;
  answer.json["schedule"] = "mixed";
  answer.json["objects"] = asked.objects;
  answer.json["start"] = kept.free_start ? "free" : "charged";
  answer.json["steps"] = exact_json(problem.steps);
  answer.json["slots"] = exact_json(problem.slots);
  answer.json["tape_slots"] = exact_json(kept.tape_units);
  answer.json["advances"] = exact_json(forwards);
  answer.json["cost"] = exact_json(forwards);
  show({"mixed",
        "room for " + std::to_string(problem.slots) + " states",
        problem,
        {.advances = forwards - wide(problem.steps)},
        [kept] { return questions::planner_for(kept); }},
       answer);
  return answer;
}

Ask add_objects_options(Options& options) {
  constexpr std::int64_t kMost = schedule::kMostSteps;
  const auto asked = std::make_shared<ObjectsAsked>();
  options.word("--objects", asked->objects, {"state", "tape", "mixed"},
               {"what is kept", "tape", "mixed"});
  options.count("--steps", asked->steps, 1, kMost, {"forward steps", "60"})->required();
  options.count("--slots", asked->slots, 0, kMost, {"states that fit in memory", "8"})->required();
  options.count("--tape-size", asked->tape, 1, kMost, {"a step's tape, in states", "2", "1"});
  options.digit("--stiff", asked->stiff,
                {"1: the tape of a step holds the state after it", "1", "0"});
  options.word("--start", asked->start, {"charged", "free"},
               {"x_0 occupies a slot, or none", "free", "charged, and free with tapes only"});
  return [asked] { return answer(*asked); };
}

// ---- double ----

using schedule::DoubleSweep;

struct DoubleAsked {
  std::int64_t steps = 0, tape = 1, transfer_steps = 0;  ///< 0: one interval
};

Answer answer(const DoubleAsked& asked) {
  const std::int64_t steps = asked.steps, tape = asked.tape;
  const bool two_levels = asked.transfer_steps > 0;
  const DoubleSweep sweep =
      schedule::double_sweep(steps, two_levels ? asked.transfer_steps : steps, tape);
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "double";
  json["steps"] = exact_json(steps);
  json["tape_slots"] = exact_json(tape);
  json["interval"] = exact_json(sweep.interval);
  json["part"] = exact_json(sweep.full.part);
  json["parts"] = exact_json(sweep.full.parts);
  if (two_levels) json["off_chip"] = exact_json(sweep.intervals);
  // One interval alone: what its reversal takes, from its start.
  json["advances"] =
      two_levels ? exact_json(schedule::forwards_of(sweep)) : exact_json(sweep.full.forwards());
  json["cost"] = exact_json(sweep.full.local_units);
  Problem problem;
  problem.steps = steps;
  problem.slots = sweep.full.local_units;
  problem.disk_slots = sweep.intervals;
  problem.record = true;
  problem.tape_slots = tape;
  schedule::DoublePlanner planner(sweep);
  const Counts counts = {.advances = advances_of(planner, steps, problem.slots),
                         .writes = wide(sweep.intervals),
                         .reads = wide(sweep.intervals)};
  show({"double",
        "a copy every " + std::to_string(sweep.interval) + " steps, parts of " +
            std::to_string(sweep.full.part) + " with all their tapes",
        problem, counts, [sweep] { return std::make_unique<schedule::DoublePlanner>(sweep); }},
       answer);
  return answer;
}

Ask add_double_options(Options& options) {
  constexpr std::int64_t kMost = schedule::kMostSteps;
  const auto asked = std::make_shared<DoubleAsked>();
  options.count("--steps", asked->steps, 1, kMost, {"forward steps", "60"})->required();
  options.count("--tape-size", asked->tape, 1, kMost, {"a step's tape, in states", "2", "1"});
  options.count("--transfer-steps", asked->transfer_steps, 1, kMost,
                {"steps during which a copy goes off chip", "20", "one interval"});
  return [asked] { return answer(*asked); };
}

// ---- least_memory ----

using schedule::ChainSizes;
using schedule::LeastMemory;
using schedule::LeastMemoryPlanner;

struct LeastMemoryAsked {
  std::string sizes, accounting = "released";
};

Answer answer(const LeastMemoryAsked& asked) {
  ChainSizes sizes;
  sizes.bytes = counts_in("--sizes", text_of_file("--sizes", asked.sizes), 0);
  const LeastMemory plan = asked.accounting == "static"
                               ? schedule::least_static_memory(sizes)
                               : schedule::least_memory(sizes, schedule::Accounting::kReleased);
  Problem problem;
  problem.steps = sizes.steps();
  problem.slots = plan.peak;
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "least_memory";
  json["steps"] = problem.steps;
  json["accounting"] = asked.accounting;
  // Every step once, and once more with the states of its segment kept.
  json["advances"] = 2 * problem.steps;
  json["cost"] = exact_json(plan.peak);
  json["lower_bound"] = exact_json(plan.lower_bound);
  json["kept"] = plan.kept;
  const auto planner = [sizes, plan] {
    return std::make_unique<LeastMemoryPlanner>(sizes.bytes, plan.kept);
  };
  Problem run = problem;
  ++run.steps;  // x_n is live at TURN
  show({"least_memory",
        std::to_string(plan.kept.size()) + " states are kept by the first sweep",
        run,
        {.advances = advances_of(*planner(), run.steps, run.slots)},
        planner},
       answer);
  answer.write_actions = [problem, planner](TextOut& out) {
    write_actions(nested_actions(problem, planner()), out);
  };
  answer.draw = [draw = answer.draw, peak = plan.peak](TextOut& out) {
    constexpr std::int64_t kMostUnits = 4096;
    if (peak > kMostUnits) {
      throw Error(ANADROME_ERR_ARGUMENT, "--svg: memory of up to 4096 bytes is drawn");
    }
    draw(out);
  };
  return answer;
}

Ask add_least_memory_options(Options& options) {
  const auto asked = std::make_shared<LeastMemoryAsked>();
  options.file("--sizes", asked->sizes, {"bytes of x_0 .. x_n", "sizes.txt"})->required();
  options.word("--accounting", asked->accounting, {"static", "released"},
               {"static: kept states stay to the end", "static", "released"});
  return [asked] { return answer(*asked); };
}

}  // namespace

Question objects_question() {
  return {"objects", "States, tapes or both in one memory: the fewest forward steps.",
          "--objects tape --steps 60 --slots 8 --tape-size 2", add_objects_options};
}

Question double_question() {
  return {"double", "Double checkpointing: two levels for fixed buffers.",
          "--steps 60 --transfer-steps 20", add_double_options};
}

Question least_memory_question() {
  return {"least_memory", "The least memory in which no step runs more than twice.",
          "--sizes sizes.txt", add_least_memory_options};
}

}  // namespace anadrome::tool
