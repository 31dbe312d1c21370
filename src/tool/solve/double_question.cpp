// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "planners/questions/double_published.h"
#include "tool/exact_json.h"
#include "tool/pictures/nested_picture.h"
#include "tool/schedules/action_sources.h"
#include "tool/schedules/actions_json.h"

namespace anadrome::tool {
namespace {

using schedule::DoubleSweep;

struct DoubleAsked {
  std::int64_t steps = 0, tape = 1;
  std::optional<std::int64_t> transfer_steps, off_chip;
};

Answer answer(const DoubleAsked& asked) {
  const std::int64_t steps = asked.steps, tape = asked.tape;
  const bool two_levels = asked.transfer_steps || asked.off_chip;
  std::int64_t interval = steps;
  if (two_levels) {
    interval = questions::double_interval(steps, asked.transfer_steps.value_or(1),
                                          asked.off_chip.value_or(schedule::kMostSteps));
  }
  const DoubleSweep sweep = questions::double_sweep(steps, interval, tape);
  const auto exact = [](std::int64_t number) { return exact_json(wide(number)); };
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "double";
  json["steps"] = exact(steps);
  json["tape_slots"] = exact(tape);
  json["interval"] = exact(sweep.interval);
  json["part"] = exact(sweep.full.part);
  json["parts"] = exact(sweep.full.parts);
  if (two_levels) json["off_chip"] = exact(sweep.intervals);
  // One interval alone: what its reversal takes, from its start.
  json["advances"] =
      two_levels ? exact_json(questions::forwards_of(sweep)) : exact(sweep.full.forwards());
  json["cost"] = exact(sweep.full.local_units);
  Problem problem;
  problem.steps = steps;
  problem.slots = sweep.full.local_units;
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
    counts.writes = counts.reads = wide(sweep.intervals);
    draw_nested("double",
                "a copy every " + std::to_string(sweep.interval) + " steps, parts of " +
                    std::to_string(sweep.full.part) + " with all their tapes",
                problem, counts, actions, out);
  };
  return answer;
}

Ask add_double_options(Options& options) {
  constexpr std::int64_t kMost = schedule::kMostSteps;
  const auto asked = std::make_shared<DoubleAsked>();
  options.count("--steps", asked->steps, 1, kMost, {"forward steps", "60"})->required();
  options.count("--tape-size", asked->tape, 1, kMost, {"a step's tape, in states", "2", "1"});
  options.add("--transfer-steps", "N",
              {"steps during which a copy goes off chip", "20", "one interval"},
              [asked](const std::string& text) {
                asked->transfer_steps = parse_count("--transfer-steps", text, 1, kMost);
              });
  options.add("--offchip", "N", {"states that fit off chip", "8", "unlimited"},
              [asked](const std::string& text) {
                asked->off_chip = parse_count("--offchip", text, 1, kMost);
              });
  return [asked] { return answer(*asked); };
}

}  // namespace

Question double_question() {
  return {"double", "Double checkpointing: two levels for fixed buffers.",
          "--steps 60 --transfer-steps 20", add_double_options};
}

}  // namespace anadrome::tool
