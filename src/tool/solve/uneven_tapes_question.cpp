// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <array>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "planners/questions/uneven_tapes.h"
#include "tool/exact_json.h"
#include "tool/pictures/sweep_picture.h"

namespace anadrome::tool {
namespace {

using questions::TapesAction;
using questions::TapesKind;
using questions::UnevenTapes;
using questions::UnevenTapesPlan;

void put_actions(const UnevenTapesPlan& plan, TextOut& out) {
  for (const TapesAction& action : plan.actions) {
    constexpr std::array kWords = {"advance", "keep", "restore", "keep_tape", "record", "adjoint"};
    out.put("{\"action\": \"").put(kWords[static_cast<std::size_t>(action.kind)]);
    out.put("\", \"step\": ").integer(action.first);
    if (action.kind == TapesKind::kAdvance) out.put(", \"last\": ").integer(action.last);
    out.put("}\n");
  }
  out.flush();
}

SpanPicture picture_of(const UnevenTapesPlan& plan, const UnevenTapes& chain, double tick) {
  SpanPicture picture;
  picture.last_step = chain.steps();
  std::int64_t run_before = 0;
  double now = 0;
  const auto add = [&](Doing doing, std::int64_t ticks, std::int64_t from, std::int64_t to) {
    const double end = now + real(ticks) * tick;
    picture.spans.push_back({doing, now, end, from, to});
    now = end;
  };
  for (const TapesAction& action : plan.actions) {
    if (action.kind == TapesKind::kKeep || action.kind == TapesKind::kRestore) continue;
    if (action.kind == TapesKind::kAdjoint) {
      add(Doing::kAdjoint, chain.adjoint[at(action.first)], action.first + 1, action.first);
      continue;
    }
    for (std::int64_t step = action.first; step < action.last; ++step) {
      add(step < run_before ? Doing::kRecompute : Doing::kAdvance, chain.forward[at(step)], step,
          step + 1);
      run_before = std::max(run_before, step + 1);
    }
  }
  picture.seconds = now;
  picture.title = "uneven tapes: " + std::to_string(chain.steps()) + " steps";
  picture.remark = "states and tapes of uneven size in one memory";
  return picture;
}

struct UnevenTapesAsked {
  std::string costs;
  std::int64_t memory = 0;
};

Answer answer(const UnevenTapesAsked& asked) {
  const ChainCosts costs = chain_costs(asked.costs);
  if (!costs.write.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "--costs: transfers are a question of solve offload");
  }
  if (costs.tape_units.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "--costs: expected lines f b a tape, or \"tape\": []");
  }
  const int digits = digits_of(costs);
  UnevenTapes chain;
  chain.forward = ticks_of(costs.forward, digits);
  chain.adjoint = ticks_of(costs.adjoint, digits);
  chain.state_units = costs.units;
  chain.tape_units = costs.tape_units;
  chain.units = asked.memory;
  const auto plan = questions::plan_uneven_tapes(chain);
  Answer answer;
  answer.possible = plan.has_value();
  std::int64_t forwards = 0, tapes = 0;
  if (plan) {
    for (const TapesAction& action : plan->actions) {
      const bool runs = action.kind == TapesKind::kAdvance || action.kind == TapesKind::kTape ||
                        action.kind == TapesKind::kRecord;
      forwards += runs ? action.last - action.first : 0;
      tapes += action.kind == TapesKind::kTape ? 1 : 0;
    }
  }
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "uneven_tapes";
  json["steps"] = chain.steps();
  json["memory"] = chain.units;
  json["advances"] = forwards;
  json["tapes"] = tapes;
  json["cost"] = plan ? decimal_json(wide(plan->time), digits) : nlohmann::ordered_json(nullptr);
  if (!plan) return answer;
  answer.write_actions = [plan](TextOut& out) { put_actions(*plan, out); };
  answer.draw = [plan, chain, digits](TextOut& out) {
    double tick = 1;
    for (int i = 0; i < digits; ++i) tick /= 10;
    draw_spans(picture_of(*plan, chain, tick), out);
  };
  return answer;
}

Ask add_uneven_tapes_options(Options& options) {
  const auto asked = std::make_shared<UnevenTapesAsked>();
  options
      .file("--costs", asked->costs,
            {"{\"f\": [], \"b\": [], \"a\": [], \"tape\": []}, or lines f b a tape", "chain.txt"})
      ->required();
  options
      .bytes("--memory", asked->memory, 0,
             {"for states and tapes, in the unit of their sizes", "60"})
      ->required();
  return [asked] { return answer(*asked); };
}

}  // namespace

Question uneven_tapes_question() {
  return {"uneven_tapes", "States and tapes of uneven size in one memory: the least time.",
          "--costs chain.txt --memory 60", add_uneven_tapes_options};
}

}  // namespace anadrome::tool
