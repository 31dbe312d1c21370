// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <memory>
#include <optional>
#include <string>

#include "planners/questions/double_published.h"
#include "tool/exact_json.h"
#include "tool/schedules/action_sources.h"

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
      two_levels ? exact_json(questions::forwards_of(sweep)) : exact_json(sweep.full.forwards());
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
