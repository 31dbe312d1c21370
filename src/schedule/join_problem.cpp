#include "schedule/join_problem.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"

namespace anadrome::schedule {
namespace {

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
        const std::int64_t left = slots - static_cast<std::int64_t>(begins.size()) + 1;
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
  Splitter splitter_;
};

}  // namespace

std::int64_t JoinProblem::sum() const {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

void check(const JoinProblem& problem) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 31;
  const auto wrong = [](const std::string& what) {
    return Error(ANADROME_ERR_ARGUMENT, "a join " + what);
  };
  if (problem.steps.empty() || problem.steps.size() > 100000) {
    throw wrong("has 1 to 100000 branches");
  }
  for (const std::int64_t steps : problem.steps) {
    if (steps < 1 || steps > kLongest) throw wrong("has branches of 1 to 2^31 steps");
  }
  if (problem.slots < 1 || problem.most_cuts() < 0) {
    throw wrong("of " + std::to_string(problem.branches()) + " branches needs " +
                std::to_string(std::max<std::int64_t>(problem.slots - problem.most_cuts(), 1)) +
                " slots; there are " + std::to_string(problem.slots));
  }
}

uint128 price(const JoinProblem& problem, std::vector<JoinSegment>& segments) {
  auto cost = static_cast<uint128>(problem.sum());
  const auto count = static_cast<std::int64_t>(segments.size());
  std::int64_t held = problem.charged_inputs ? problem.branches() : 0;
  std::int64_t cuts = count - problem.branches();
  for (JoinSegment& segment : segments) {
    segment.free = problem.room() - cuts - held;
    if (segment.end - segment.begin > 1) {
      if (segment.free < 1) throw Error(ANADROME_ERR_ARGUMENT, "a join has no slot to go on in");
      cost += extra_advances(segment.end - segment.begin, segment.free);
    }
    if (segment.begin > 0) {
      --cuts;
    } else if (problem.charged_inputs) {
      --held;
    }
  }
  return cost;
}

void visit_actions(const JoinProblem& problem, const JoinPlan& plan,
                   const std::function<void(const JoinAction&)>& visit) {
  Actions(problem, plan, visit).run();
}

std::vector<JoinAction> actions_of(const JoinProblem& problem, const JoinPlan& plan) {
  std::vector<JoinAction> actions;
  visit_actions(problem, plan, [&](const JoinAction& action) { actions.push_back(action); });
  return actions;
}

}  // namespace anadrome::schedule
