// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/index.h"
#include "planners/join/join_planner.h"
#include "planners/questions/join_actions.h"
#include "tool/exact_json.h"
#include "tool/pictures/sweep_picture.h"

namespace anadrome::tool {
namespace {

using questions::JoinAction;
using questions::JoinKind;
using schedule::JoinPlan;
using schedule::JoinProblem;

void put_action(const JoinAction& action, TextOut& out) {
  constexpr std::array kWords = {"advance", "drop", "turn", "adjoint"};
  out.put("{\"action\": \"").put(kWords[static_cast<std::size_t>(action.kind)]).put("\"");
  if (action.kind != JoinKind::kTurn) out.put(", \"branch\": ").integer(action.branch);
  if (action.kind == JoinKind::kAdvance) {
    out.put(", \"first\": ").integer(action.first).put(", \"last\": ").integer(action.last);
    if (action.keep) out.put(", \"keep\": true");
  } else if (action.kind != JoinKind::kTurn) {
    out.put(", \"step\": ").integer(action.first);
  }
  out.put("}\n");
}

// The branches one above the other; a step takes a second, an adjoint step two.
SpanPicture picture_of(const JoinProblem& problem, const std::vector<JoinAction>& actions) {
  SpanPicture picture;
  std::vector<std::int64_t> base{0};
  for (const std::int64_t steps : problem.steps) {
    base.push_back(base.back() + steps);
  }
  picture.last_step = base.back();
  picture.slots = problem.slots;
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, double>> held;
  std::set<std::int64_t> used;
  double now = 0;
  const auto take = [&](std::int64_t branch, std::int64_t step, double when) {
    std::int64_t slot = 0;
    while (used.contains(slot)) ++slot;
    used.insert(slot);
    held[{branch, step}] = {slot, when};
  };
  const auto release = [&](std::int64_t branch, std::int64_t step) {
    const auto found = held.find({branch, step});
    if (found == held.end()) return;
    picture.held.push_back({schedule::kRamTier, found->second.first, 1, found->second.second, now});
    used.erase(found->second.first);
    held.erase(found);
  };
  if (problem.charged_inputs) {
    for (std::int64_t b = 0; b < problem.branches(); ++b) take(b, 0, 0);
  }
  bool turned = false;
  for (const JoinAction& action : actions) {
    const std::int64_t from = base[size(action.branch)];
    const auto at = [from](std::int64_t step) { return from + step; };
    switch (action.kind) {
      case JoinKind::kAdvance: {
        const double end = now + real(action.last - action.first);
        picture.spans.push_back({turned ? Doing::kRecompute : Doing::kAdvance, now, end,
                                 at(action.first), at(action.last)});
        take(action.branch, action.last, now);
        now = end;
        break;
      }
      case JoinKind::kDrop:
        release(action.branch, action.first);
        break;
      case JoinKind::kTurn:
        turned = true;
        for (std::int64_t b = 0; b < problem.branches(); ++b) {
          release(b, problem.steps[size(b)]);
        }
        break;
      case JoinKind::kAdjoint:
        picture.spans.push_back(
            {Doing::kAdjoint, now, now + 2, at(action.first + 1), at(action.first)});
        now += 2;
        break;
    }
  }
  picture.seconds = now;
  return picture;
}

struct JoinAsked {
  std::string branches, inputs = "free", ends = "pooled", objective = "joint";
  std::int64_t slots = 0;
};

Answer answer(const JoinAsked& asked) {
  JoinProblem problem;
  problem.steps = counts_in("--branches", asked.branches, 1);
  problem.slots = asked.slots;
  problem.charged_inputs = asked.inputs == "charged";
  problem.ends_apart = asked.ends == "apart";
  const bool reducible = asked.objective == "reducible";
  const JoinPlan plan =
      reducible ? schedule::plan_reducible_join(problem) : schedule::plan_join(problem);
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "join";
  json["branches"] = problem.steps;
  json["slots"] = exact_json(problem.slots);
  json["inputs"] = asked.inputs;
  json["objective"] = asked.objective;
  json["exact"] = plan.exact;
  json["advances"] = exact_json(plan.advances);
  json["cost"] = exact_json(plan.advances);
  json["segments"] = nlohmann::ordered_json::array();
  for (const schedule::JoinSegment& segment : plan.segments) {
    json["segments"].push_back({segment.branch, segment.begin, segment.end});
  }
  if (reducible) return answer;
  answer.write_actions = [problem, plan](TextOut& out) {
    questions::visit_actions(problem, plan,
                             [&](const JoinAction& action) { put_action(action, out); });
    out.flush();
  };
  answer.draw = [problem, plan, branches = asked.branches](TextOut& out) {
    SpanPicture picture = picture_of(problem, questions::actions_of(problem, plan));
    picture.title = "join: branches of " + branches + " steps";
    picture.remark =
        decimal_text(plan.advances) + " advances with " + std::to_string(problem.slots) + " slots";
    picture.axis = "steps of the branches, one above the other";
    draw_spans(picture, out);
  };
  return answer;
}

Ask add_join_options(Options& options) {
  const auto asked = std::make_shared<JoinAsked>();
  options.text("--branches", asked->branches, "N,N,..", {"steps of each branch", "20,20,8"})
      ->required();
  options.count("--slots", asked->slots, 1, schedule::kMostSteps, {"states that fit in RAM", "6"})
      ->required();
  options.word("--inputs", asked->inputs, {"free", "charged"},
               {"first states: from elsewhere, or in slots from the start", "charged", "free"});
  options.word(
      "--ends", asked->ends, {"pooled", "apart"},
      {"last states: in slots, or in buffers of their own until the turn", "apart", "pooled"});
  options.word("--objective", asked->objective, {"joint", "reducible"},
               {"reducible: a sum over branches, which need not meet", "reducible", "joint"});
  return [asked] { return answer(*asked); };
}

}  // namespace

Question join_question() {
  return {"join", "Branches that meet in one objective: the fewest steps run again.",
          "--branches 20,20,8 --slots 6", add_join_options};
}

}  // namespace anadrome::tool
