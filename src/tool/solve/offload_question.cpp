// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/checked.h"
#include "base/index.h"
#include "planners/offload/offload_planner.h"
#include "tool/exact_json.h"
#include "tool/pictures/sweep_picture.h"

namespace anadrome::tool {
namespace {

using schedule::Fate;
using schedule::OffloadChain;
using schedule::OffloadPlan;

struct Scaled {
  OffloadChain chain;
  int digits = 0;  ///< of a tick after the point
};

Scaled scaled(ChainCosts costs, const std::string& bandwidth) {
  constexpr int kDigitsOfTransfers = 6;
  Scaled result;
  result.digits = digits_of(costs);
  const bool by_bandwidth = !bandwidth.empty();
  if (by_bandwidth == !costs.write.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, by_bandwidth
                                           ? "--bandwidth: --costs has transfers already"
                                           : "--bandwidth is missing, or transfers in --costs");
  }
  OffloadChain& chain = result.chain;
  chain.state_units = costs.units;
  if (by_bandwidth) {
    result.digits = std::max(result.digits, kDigitsOfTransfers);
    const Decimal rate = parse_decimal("--bandwidth", bandwidth);
    if (rate.value < 1) throw Error(ANADROME_ERR_ARGUMENT, "--bandwidth must be above 0");
    for (const std::int64_t units : costs.units) {
      const std::int64_t ticks = Decimal{units, 0}.ticks(result.digits + rate.digits);
      chain.write.push_back(ceil_divide(ticks, rate.value));
    }
    chain.read = chain.write;
  }
  if (costs.forward.size() == costs.adjoint.size() && !costs.forward.empty()) {
    costs.forward.pop_back();  // the last step is run by its adjoint only
  }
  chain.forward = ticks_of(costs.forward, result.digits);
  chain.adjoint = ticks_of(costs.adjoint, result.digits);
  if (!by_bandwidth) {
    chain.write = ticks_of(costs.write, result.digits);
    chain.read = ticks_of(costs.read, result.digits);
  }
  return result;
}

void put_spans(const OffloadPlan& plan, int digits, TextOut& out) {
  std::vector<schedule::Span<std::int64_t>> spans = plan.run.spans;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const auto& span : spans) {
    const Doing doing = span.doing == Doing::kRecompute ? Doing::kAdvance : span.doing;
    out.put("{\"action\": \"").put(engine::to_string(activity_of(doing)));
    out.put("\", \"step\": ").integer(span.step());
    out.put(", \"start\": ").put(decimal_text(wide(span.start), digits));
    out.put(", \"end\": ").put(decimal_text(wide(span.end), digits)).put("}\n");
  }
  out.flush();
}

SpanPicture picture_of(const OffloadPlan& plan, const OffloadChain& chain) {
  SpanPicture picture;
  picture.seconds = real(plan.run.makespan);
  picture.last_step = chain.steps();
  picture.disk = true;
  for (const auto& span : plan.run.spans) {
    picture.spans.push_back({span.doing, real(span.start), real(span.end), span.first, span.last});
  }
  return picture;
}

struct OffloadAsked {
  std::string costs, bandwidth, duplex = "half", allow = "offload,recompute";
  std::int64_t fast_memory = 0;
};

Answer answer(const OffloadAsked& asked) {
  const ChainCosts costs = chain_costs(asked.costs);
  if (!costs.tape_units.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "--costs: tapes are a question of solve uneven_tapes");
  }
  Scaled problem = scaled(costs, asked.bandwidth);
  problem.chain.fast_memory = asked.fast_memory;
  problem.chain.full_duplex = asked.duplex == "full";
  const OffloadPlan plan =
      schedule::plan_offload(problem.chain, {asked.allow != "recompute", asked.allow != "offload"});
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "offload";
  json["steps"] = problem.chain.steps();
  json["fast_memory"] = problem.chain.fast_memory;
  answer.possible = plan.run.makespan >= 0;
  std::int64_t forwards = 0, writes = 0, reads = 0;
  for (const auto& span : plan.run.spans) {
    writes += span.doing == Doing::kWrite ? 1 : 0;
    reads += span.doing == Doing::kRead ? 1 : 0;
    forwards += span.doing <= Doing::kRecompute ? 1 : 0;
  }
  std::string fates;
  for (const Fate fate : plan.fates) fates += "KOD"[static_cast<std::size_t>(fate)];
  json["advances"] = forwards;
  json["writes"] = writes;
  json["reads"] = reads;
  json["cost"] = answer.possible ? decimal_json(wide(plan.run.makespan), problem.digits)
                                 : nlohmann::ordered_json(nullptr);
  json["lower_bound"] = decimal_json(wide(plan.lower_bound), problem.digits);
  json["fates"] = fates;
  if (!answer.possible) return answer;
  answer.write_actions = [plan, problem](TextOut& out) { put_spans(plan, problem.digits, out); };
  answer.draw = [plan, problem](TextOut& out) {
    SpanPicture picture = picture_of(plan, problem.chain);
    for (int i = 0; i < problem.digits; ++i) {
      picture.seconds /= 10;
      for (Span& span : picture.spans) {
        span.start /= 10;
        span.end /= 10;
      }
    }
    picture.title = "offload: " + std::to_string(problem.chain.steps()) + " uneven steps";
    picture.remark =
        "keep, offload or recompute: " + decimal_text(wide(plan.run.makespan), problem.digits) +
        " s; with no limit on memory " + decimal_text(wide(plan.lower_bound), problem.digits) +
        " s";
    draw_spans(picture, out);
  };
  return answer;
}

Ask add_offload_options(Options& options) {
  const auto asked = std::make_shared<OffloadAsked>();
  options
      .file("--costs", asked->costs,
            {"{\"f\": [], \"b\": [], \"a\": [], \"transfer\": []}, or lines f b a", "costs.json"})
      ->required();
  options
      .count("--fast-memory", asked->fast_memory, 0, schedule::kMostSteps,
             {"limit for all states together, in the unit of a", "1200"})
      ->required();
  options.text("--bandwidth", asked->bandwidth, "a/TIME",
               {"a per time, where --costs has no transfers", "6"});
  options.word("--duplex", asked->duplex, {"half", "full"},
               {"half: a write or a read at a time", "full", "half"});
  options.word("--allow", asked->allow,
               {"offload,recompute", "recompute,offload", "offload", "recompute"},
               {"permitted treatment of a state that is not kept", "offload", "both"});
  return [asked] { return answer(*asked); };
}

}  // namespace

Question offload_question() {
  return {"offload", "Keep, offload or recompute each state of uneven steps: the least time.",
          "--costs costs.json --fast-memory 1200 --bandwidth 6", add_offload_options};
}

}  // namespace anadrome::tool
