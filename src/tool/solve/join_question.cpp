// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <memory>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "planners/join/branch_sweep.h"
#include "planners/join/join_planner.h"
#include "tool/exact_json.h"
#include "tool/pictures/sweep_picture.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

using schedule::BranchOptions;
using schedule::BranchSweep;
using schedule::JoinPlan;
using schedule::JoinProblem;

// The branches one above the other; a step takes a second, an adjoint step two.
SpanPicture picture_of(const BranchOptions& options, const JoinPlan& plan) {
  SpanPicture picture;
  std::vector<std::int64_t> base{0};
  for (const std::int64_t steps : options.steps) base.push_back(base.back() + steps);
  picture.last_step = base.back();
  picture.slots = options.slots;
  BranchSweep sweep(options, plan);
  const auto next = [&] {
    schedule::Action action = sweep.next();
    std::visit(schedule::Cases{
                   [&](schedule::Advance& run) {
                     run.first += base[at(run.branch)];
                     run.last += base[at(run.branch)];
                   },
                   [&](schedule::Adjoint& adjoint) { adjoint.step += base[at(adjoint.branch)]; },
                   [](auto&) {}},
               action);
    return action;
  };
  questions::SweepSinks sinks;
  sinks.span = [&picture](const Span& span) { picture.spans.push_back(span); };
  sinks.held = [&picture](const Held& held) { picture.held.push_back(held); };
  questions::Machine machine;
  machine.costs = {.forward = 1, .adjoint = 2};
  picture.seconds = questions::simulate(next, machine, sinks);
  return picture;
}

struct JoinAsked {
  std::string branches, inputs = "free", objective = "joint";
  std::int64_t slots = 0;
};

Answer answer(const JoinAsked& asked) {
  JoinProblem problem;
  problem.steps = counts_in("--branches", asked.branches, 1);
  problem.slots = asked.slots;
  problem.charged_inputs = asked.inputs == "charged";
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
  const BranchOptions options{problem.steps, problem.slots, problem.charged_inputs};
  answer.write_actions = [options, plan](TextOut& out) {
    BranchSweep sweep(options, plan);
    write_actions([&sweep] { return sweep.next(); }, out, true);
  };
  answer.draw = [options, plan, problem, branches = asked.branches](TextOut& out) {
    constexpr std::int64_t kMostDrawn = 2'000'000;  // every span of theirs is in memory
    if (problem.sum() > kMostDrawn) {
      throw Error(ANADROME_ERR_ARGUMENT, "--svg: branches of up to " + std::to_string(kMostDrawn) +
                                             " steps together are drawn");
    }
    SpanPicture picture = picture_of(options, plan);
    picture.title = "join: branches of " + branches + " steps";
    picture.remark = decimal_text(plan.advances) + " advances with " +
                     std::to_string(problem.slots) + " slots, the branches one above the other";
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
