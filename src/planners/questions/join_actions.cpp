// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/join_actions.h"

#include <algorithm>

namespace anadrome::questions {
namespace {

using schedule::JoinPlan;
using schedule::JoinProblem;
using schedule::JoinSegment;

class Actions {
 public:
  Actions(const JoinProblem& problem, const JoinPlan& plan,
          const std::function<void(const JoinAction&)>& visit)
      : problem_(problem), plan_(plan), visit_(visit) {}

  void run() {
    for (std::int64_t branch = 0; branch < problem_.branches(); ++branch) forward(branch);
    visit_({JoinKind::kTurn, 0, 0, 0, false});
    for (const JoinSegment& segment : plan_.segments) {
      branch_ = segment.branch;
      reverse(segment.begin, segment.end, segment.free);
      if (in_pool(segment.begin)) drop(segment.begin);
    }
  }

 private:
  bool in_pool(std::int64_t step) const { return step > 0 || problem_.charged_inputs; }

  // One sweep through the begins of its segments, each of which stays.
  void forward(std::int64_t branch) {
    branch_ = branch;
    std::vector<std::int64_t> stops;
    for (const JoinSegment& segment : plan_.segments) {
      if (segment.branch == branch) stops.push_back(segment.end);
    }
    std::sort(stops.begin(), stops.end());
    std::int64_t from = 0;
    for (const std::int64_t to : stops) {
      advance(from, to);
      from = to;
    }
  }

  void advance(std::int64_t first, std::int64_t last) {
    visit_({JoinKind::kAdvance, branch_, first, last, in_pool(first)});
  }
  void drop(std::int64_t step) { visit_({JoinKind::kDrop, branch_, step, step, false}); }

  // Revolve; `slots` counts the begin's, and not the one of the state under way.
  void reverse(std::int64_t begin, std::int64_t end, std::int64_t slots) {
    std::vector<std::int64_t> begins = {begin};
    for (;;) {
      begin = begins.back();
      const std::int64_t steps = end - begin;
      if (steps > 1) {
        const std::int64_t left = slots - std::ssize(begins) + 1;
        begins.push_back(begin + splitter_.advance(steps, left));
        advance(begin, begins.back());
        continue;
      }
      visit_({JoinKind::kAdjoint, branch_, begin, end, false});
      begins.pop_back();
      if (begins.empty()) return;
      drop(begin);
      end = begin;
    }
  }

  const JoinProblem& problem_;
  const JoinPlan& plan_;
  const std::function<void(const JoinAction&)>& visit_;
  std::int64_t branch_ = 0;
  schedule::Splitter splitter_;
};

}  // namespace

void visit_actions(const JoinProblem& problem, const JoinPlan& plan,
                   const std::function<void(const JoinAction&)>& visit) {
  Actions(problem, plan, visit).run();
}

std::vector<JoinAction> actions_of(const JoinProblem& problem, const JoinPlan& plan) {
  std::vector<JoinAction> actions;
  visit_actions(problem, plan, [&](const JoinAction& action) { actions.push_back(action); });
  return actions;
}

}  // namespace anadrome::questions
