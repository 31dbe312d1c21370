#include "tool/plan/objects_question.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "schedule/kept_objects.h"
#include "tool/pictures/nested_picture.h"
#include "tool/plan/action_sources.h"
#include "tool/plan/actions_json.h"

namespace anadrome::tool {
namespace {

using schedule::KeptObjects;
using schedule::Objects;

struct Asked {
  Problem problem;
  KeptObjects kept;
};

// Bytes, or units if no --state says how large one is.
Asked asked(const PlanFlags& flags) {
  const QuestionFlags& own = flags.own;
  Asked asked;
  const std::size_t objects = word_of("--objects", flags.given("--objects") ? own.objects : "mixed",
                                      {"state", "tape", "mixed"});
  asked.kept.objects = static_cast<Objects>(objects);
  const bool tapes_only = asked.kept.objects == Objects::kTapes;
  const std::string start = flags.given("--start") ? own.start : tapes_only ? "free" : "charged";
  asked.kept.free_start = word_of("--start", start, {"charged", "free"}) == 1;
  flags.need("--steps");
  Problem& problem = asked.problem;
  problem.steps = parse_count("--steps", flags.steps, 1, schedule::kMostSteps);
  const std::int64_t state = flags.given("--state") ? parse_bytes(flags.state) : 1;
  if (state < 1) throw Error(ANADROME_ERR_ARGUMENT, "--state: a state has no bytes");
  if (flags.given("--slots") == flags.given("--memory")) {
    throw Error(ANADROME_ERR_ARGUMENT, "--slots or --memory is wanted, one of them");
  }
  problem.slots = flags.given("--slots")
                      ? parse_count("--slots", flags.slots, 0, schedule::kMostSteps)
                      : parse_bytes(flags.memory) / state;
  if (flags.given("--tape-size")) {
    const std::int64_t tape = parse_bytes(flags.tape_size);
    if (tape < 1) throw Error(ANADROME_ERR_ARGUMENT, "--tape-size: a tape has no bytes");
    asked.kept.tape_units = ceil_divide(tape, state);
  }
  // Where only tapes are kept there is nothing else to go on from.
  asked.kept.tape_restarts = tapes_only || parse_count("--stiff", flags.stiff, 0, 1) == 1;
  problem.record = true;
  problem.tape_slots = asked.kept.objects == Objects::kStates ? 0 : asked.kept.tape_units;
  problem.tape_restarts = asked.kept.tape_restarts;
  problem.disk_slots = asked.kept.free_start ? 1 : 0;
  return asked;
}

Answer answer(const PlanFlags& flags) {
  const Asked question = asked(flags);
  const uint128 forwards =
      schedule::forwards_of(question.problem.steps, question.problem.slots, question.kept);
  const auto exact = [](std::int64_t number) { return exact_json(static_cast<uint128>(number)); };
  Answer answer;
  answer.json["schedule"] = "mixed";
  answer.json["objects"] = flags.given("--objects") ? flags.own.objects : "mixed";
  answer.json["start"] = question.kept.free_start ? "free" : "charged";
  answer.json["steps"] = exact(question.problem.steps);
  answer.json["slots"] = exact(question.problem.slots);
  answer.json["tape_slots"] = exact(question.kept.tape_units);
  answer.json["advances"] = exact_json(forwards);
  answer.json["cost"] = exact_json(forwards);
  const auto actions = [question] {
    return nested_actions(question.problem, schedule::planner_for(question.kept));
  };
  answer.write_actions = [actions](TextOut& out) { write_actions(actions(), out); };
  answer.draw = [question, forwards, actions](TextOut& out) {
    Counts counts;
    counts.advances = forwards - static_cast<uint128>(question.problem.steps);
    draw_nested("mixed", "room for " + std::to_string(question.problem.slots) + " states",
                question.problem, counts, actions, out);
  };
  return answer;
}

}  // namespace

Question objects_question() {
  return {"mixed",
          [](const PlanFlags& flags) { return flags.given("--objects") || flags.given("--start"); },
          {"--objects", "--start", "--steps", "--slots", "--memory", "--state", "--tape-size",
           "--stiff"},
          answer};
}

}  // namespace anadrome::tool
