// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <memory>
#include <optional>
#include <string>

#include "base/checked.h"
#include "planners/questions/kept_objects.h"
#include "tool/exact_json.h"

namespace anadrome::tool {
namespace {

using questions::KeptObjects;
using questions::Objects;

struct ObjectsAsked {
  std::string objects = "mixed", start;
  std::int64_t steps = 0, state = 1, tape = 0;
  std::optional<std::int64_t> slots, memory;
  bool stiff = false;
};

struct KeptProblem {
  Problem problem;
  KeptObjects kept;
};

Objects objects_of(const std::string& name) {
  if (name == "state") return Objects::kStates;
  return name == "tape" ? Objects::kTapes : Objects::kMixed;
}

// Bytes, or units if no --state says how large one is.
KeptProblem problem_of(const ObjectsAsked& asked) {
  KeptProblem posed;
  KeptObjects& kept = posed.kept;
  kept.objects = objects_of(asked.objects);
  const bool tapes_only = kept.objects == Objects::kTapes;
  kept.free_start = asked.start.empty() ? tapes_only : asked.start == "free";
  if (asked.slots.has_value() == asked.memory.has_value()) {
    throw Error(ANADROME_ERR_ARGUMENT, "expected --slots or --memory, one of them");
  }
  Problem& problem = posed.problem;
  problem.steps = asked.steps;
  problem.slots = asked.slots ? *asked.slots : *asked.memory / asked.state;
  if (asked.tape > 0) kept.tape_units = ceil_divide(asked.tape, asked.state);
  // Where only tapes are kept there is nothing else to go on from.
  kept.tape_restarts = tapes_only || asked.stiff;
  problem.record = true;
  problem.tape_slots = kept.objects == Objects::kStates ? 0 : kept.tape_units;
  problem.tape_restarts = kept.tape_restarts;
  problem.disk_slots = kept.free_start ? 1 : 0;
  return posed;
}

Answer answer(const ObjectsAsked& asked) {
  const KeptProblem question = problem_of(asked);
  const uint128 forwards =
      questions::forwards_of(question.problem.steps, question.problem.slots, question.kept);
  Answer answer;
  answer.json["schedule"] = "mixed";
  answer.json["objects"] = asked.objects;
  answer.json["start"] = question.kept.free_start ? "free" : "charged";
  answer.json["steps"] = exact_json(question.problem.steps);
  answer.json["slots"] = exact_json(question.problem.slots);
  answer.json["tape_slots"] = exact_json(question.kept.tape_units);
  answer.json["advances"] = exact_json(forwards);
  answer.json["cost"] = exact_json(forwards);
  show({"mixed",
        "room for " + std::to_string(question.problem.slots) + " states",
        question.problem,
        {.advances = forwards - wide(question.problem.steps)},
        [kept = question.kept] { return questions::planner_for(kept); }},
       answer);
  return answer;
}

Ask add_objects_options(Options& options) {
  constexpr std::int64_t kMost = schedule::kMostSteps;
  const auto asked = std::make_shared<ObjectsAsked>();
  options.word("--objects", asked->objects, {"state", "tape", "mixed"},
               {"what is kept", "tape", "mixed"});
  options.count("--steps", asked->steps, 1, kMost, {"forward steps", "60"})->required();
  options.add(
      "--slots", "N", {"states that fit in memory", "8", "--memory / --state"},
      [asked](const std::string& text) { asked->slots = parse_count("--slots", text, 0, kMost); });
  options.add("--memory", "BYTES", {"the memory", "8GiB"},
              [asked](const std::string& text) { asked->memory = parse_size("--memory", text); });
  options.bytes("--state,--state-size", asked->state, 1, {"a state", "512MiB", "1"});
  options.bytes("--tape-size", asked->tape, 1,
                {"a step's tape, in bytes, or in states where no --state is given", "2", "1"});
  options.digit("--stiff", asked->stiff,
                {"1: the tape of a step holds the state after it", "1", "0"});
  options.word("--start", asked->start, {"charged", "free"},
               {"x_0 occupies a slot, or none", "free", "charged, and free with tapes only"});
  return [asked] { return answer(*asked); };
}

}  // namespace

Question objects_question() {
  return {"objects", "States, tapes or both in one memory: the fewest forward steps.",
          "--objects tape --steps 60 --slots 8 --tape-size 2", add_objects_options};
}

}  // namespace anadrome::tool
