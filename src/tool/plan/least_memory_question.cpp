#include "tool/plan/least_memory_question.h"

#include "base/error.h"
#include "schedule/least_memory.h"
#include "tool/pictures/nested_picture.h"
#include "tool/plan/action_sources.h"
#include "tool/plan/actions_json.h"

namespace anadrome::tool {
namespace {

using schedule::Accounting;
using schedule::ChainSizes;
using schedule::LeastMemory;
using schedule::LeastMemoryPlanner;

Answer answer(const PlanFlags& flags) {
  const QuestionFlags& own = flags.own;
  flags.need("--sizes");
  if (flags.given("--objective") && own.objective != "peak") {
    throw Error(ANADROME_ERR_ARGUMENT, "--objective '" + own.objective + "' is not peak");
  }
  ChainSizes sizes;
  sizes.bytes = counts_in("--sizes", text_of_file("--sizes", own.sizes), 0);
  if (flags.given("--workspace")) {
    sizes.workspace = counts_in("--workspace", text_of_file("--workspace", own.workspace), 0);
  }
  const auto accounting =
      static_cast<Accounting>(word_of("--accounting", own.accounting, {"static", "released"}));
  const LeastMemory plan = schedule::least_memory(sizes, accounting);
  Problem problem;
  problem.steps = sizes.steps();
  problem.slots = plan.peak;
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "least_memory";
  json["steps"] = problem.steps;
  json["accounting"] = own.accounting;
  // Every step once, and once more with the states of its segment kept.
  json["advances"] = 2 * problem.steps;
  json["cost"] = exact_json(static_cast<uint128>(plan.peak));
  json["lower_bound"] = exact_json(static_cast<uint128>(plan.lower_bound));
  json["kept"] = plan.kept;
  const auto actions = [sizes, plan](const Problem& sweep) {
    return nested_actions(sweep, std::make_unique<LeastMemoryPlanner>(sizes.bytes, plan.kept));
  };
  answer.write_actions = [problem, actions](TextOut& out) { write_actions(actions(problem), out); };
  answer.draw = [problem, sizes, plan, actions](TextOut& out) {
    constexpr std::int64_t kMostUnits = 4096;
    if (plan.peak > kMostUnits) {
      throw Error(ANADROME_ERR_ARGUMENT, "--svg: memory of up to 4096 bytes is drawn");
    }
    Problem run = problem;
    ++run.steps;  // x_n is live at TURN
    schedule::Segment all;
    all.last = run.steps;
    Counts counts;
    counts.advances = LeastMemoryPlanner(sizes.bytes, plan.kept).advances(all);
    draw_nested(
        "least_memory", std::to_string(plan.kept.size()) + " states are kept by the first sweep",
        run, counts, [actions, run] { return actions(run); }, out);
  };
  return answer;
}

}  // namespace

Question least_memory_question() {
  return {"least_memory",
          [](const PlanFlags& flags) {
            return flags.own.single_recompute || flags.given("--sizes") ||
                   flags.own.objective == "peak";
          },
          {"--single-recompute", "--objective", "--sizes", "--accounting", "--workspace"},
          answer};
}

}  // namespace anadrome::tool
