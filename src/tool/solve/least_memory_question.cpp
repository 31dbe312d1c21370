// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <memory>
#include <string>

#include "base/error.h"
#include "planners/memory/least_memory.h"
#include "planners/questions/static_memory.h"
#include "tool/exact_json.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

using schedule::ChainSizes;
using schedule::LeastMemory;
using schedule::LeastMemoryPlanner;

struct LeastMemoryAsked {
  std::string sizes, workspace, accounting = "released";
};

Answer answer(const LeastMemoryAsked& asked) {
  ChainSizes sizes;
  sizes.bytes = counts_in("--sizes", text_of_file("--sizes", asked.sizes), 0);
  if (!asked.workspace.empty()) {
    sizes.workspace = counts_in("--workspace", text_of_file("--workspace", asked.workspace), 0);
  }
  const LeastMemory plan = asked.accounting == "static"
                               ? questions::least_static_memory(sizes)
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
  options.file("--workspace", asked->workspace,
               {"bytes that the reversal of each step needs besides", "workspace.txt", "none"});
  options.word("--accounting", asked->accounting, {"static", "released"},
               {"static: kept states stay to the end", "static", "released"});
  return [asked] { return answer(*asked); };
}

}  // namespace

Question least_memory_question() {
  return {"least_memory", "The least memory in which no step runs more than twice.",
          "--sizes sizes.txt", add_least_memory_options};
}

}  // namespace anadrome::tool
