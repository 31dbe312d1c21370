// SPDX-License-Identifier: BSD-2-Clause
#include "planners/join/join_problem.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {

std::int64_t JoinProblem::sum() const {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

std::vector<std::int64_t> JoinProblem::by_steps(std::int64_t sign) const {
  std::vector<std::int64_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return sign * steps[at(a)] < sign * steps[at(b)];
  });
  return order;
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

std::optional<uint128> price(const JoinProblem& problem, std::vector<JoinSegment>& segments) {
  auto cost = wide(problem.sum());
  const auto count = std::ssize(segments);
  std::int64_t held = problem.charged_inputs ? problem.branches() : 0;
  std::int64_t cuts = count - problem.branches();
  for (JoinSegment& segment : segments) {
    segment.free = problem.room() - cuts - held;
    if (segment.end - segment.begin > 1) {
      if (segment.free < 1) return std::nullopt;
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

}  // namespace anadrome::schedule
