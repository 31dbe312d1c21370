// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/problems/problem.h"

#include <algorithm>

namespace anadrome::tool {

int Prices::digits() const {
  return std::max({advance.digits, adjoint.digits, write.digits, read.digits});
}

int Problem::digits() const {
  int digits = prices.digits();
  for (const Decimal& cost : step_costs) digits = std::max(digits, cost.digits);
  return digits;
}

uint128 cost_of(const Problem& problem, const Counts& counts) {
  const Prices& prices = problem.prices;
  const int digits = problem.digits();
  uint128 cost = 0;
  const auto add = [&](uint128 count, const Decimal& each) {
    cost = checked_add(cost, checked_multiply(count, wide(each.ticks(digits))));
  };
  if (counts.uneven) {
    cost = counts.advance_cost;
  } else {
    add(checked_add(counts.advances, counts.recorded), prices.advance);
  }
  add(counts.writes, prices.write);
  add(counts.reads, prices.read);
  add(wide(problem.steps), prices.adjoint);
  return cost;
}

}  // namespace anadrome::tool
