#include "tool/plan/double_question.h"

#include "base/error.h"
#include "schedule/double_sweep.h"
#include "tool/pictures/nested_picture.h"
#include "tool/plan/action_sources.h"
#include "tool/plan/actions_json.h"

namespace anadrome::tool {
namespace {

using schedule::DoubleSweep;

Answer answer(const PlanFlags& flags) {
  constexpr std::int64_t kMost = schedule::kMostSteps;
  const QuestionFlags& own = flags.own;
  flags.need("--steps");
  const std::int64_t steps = parse_count("--steps", flags.steps, 1, kMost);
  const std::int64_t tape =
      flags.given("--tape-size") ? parse_count("--tape-size", flags.tape_size, 1, kMost) : 1;
  const bool two_levels = flags.given("--transfer-steps") || flags.given("--offchip");
  std::int64_t interval = steps;
  if (two_levels) {
    interval = schedule::double_interval(
        steps,
        flags.given("--transfer-steps")
            ? parse_count("--transfer-steps", own.transfer_steps, 1, kMost)
            : 1,
        flags.given("--offchip") ? parse_count("--offchip", own.off_chip, 1, kMost) : kMost);
  }
  const DoubleSweep sweep = schedule::double_sweep(steps, interval, tape);
  const auto exact = [](std::int64_t number) { return exact_json(static_cast<uint128>(number)); };
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "double";
  json["steps"] = exact(steps);
  json["tape_slots"] = exact(tape);
  json["interval"] = exact(sweep.interval);
  json["part"] = exact(sweep.full.part);
  json["parts"] = exact(sweep.full.parts);
  if (two_levels) json["off_chip"] = exact(sweep.off_chip_states());
  // One interval alone: what its reversal takes, from its start.
  json["advances"] = two_levels ? exact_json(sweep.forwards()) : exact(sweep.full.forwards());
  json["cost"] = exact(sweep.local_units());
  Problem problem;
  problem.steps = steps;
  problem.slots = sweep.local_units();
  problem.disk_slots = sweep.intervals;
  problem.record = true;
  problem.tape_slots = tape;
  const auto actions = [problem, sweep] {
    return nested_actions(problem, std::make_unique<schedule::DoublePlanner>(sweep));
  };
  answer.write_actions = [actions](TextOut& out) { write_actions(actions(), out); };
  answer.draw = [problem, sweep, actions](TextOut& out) {
    schedule::Segment all;
    all.last = problem.steps;
    Counts counts;
    counts.advances = schedule::DoublePlanner(sweep).advances(all);
    counts.writes = counts.reads = static_cast<uint128>(sweep.intervals);
    draw_nested("double",
                "a copy every " + std::to_string(sweep.interval) + " steps, parts of " +
                    std::to_string(sweep.full.part) + " with all their tapes",
                problem, counts, actions, out);
  };
  return answer;
}

}  // namespace

Question double_question() {
  return {"double",
          [](const PlanFlags& flags) { return flags.own.twice; },
          {"--double", "--steps", "--tape-size", "--transfer-steps", "--offchip"},
          answer};
}

}  // namespace anadrome::tool
