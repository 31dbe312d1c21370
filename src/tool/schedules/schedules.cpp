// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/index.h"
#include "base/words.h"
#include "planners/two_tier/two_tier_costs.h"

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

Estimate refused(const char* schedule, std::string why) {
  Estimate estimate;
  estimate.schedule = schedule;
  estimate.remark = std::move(why);
  return estimate;
}

Estimate without_memory(const char* schedule, std::int64_t needed, const WhatIf& question) {
  std::string bytes = format_bytes(needed);
  if (bytes == format_bytes(question.memory)) bytes = std::to_string(needed) + " bytes";
  return refused(schedule, "needs " + bytes + " of memory per rank");
}

Estimate row_of(const char* schedule, const WhatIf& question) {
  Estimate estimate;
  estimate.schedule = schedule;
  estimate.sweep.record = question.has_tape();
  estimate.sweep.steps = question.steps + (question.has_tape() ? 0 : 1);
  return estimate;
}

Prices prices_of(const WhatIf& question) {
  const schedule::TwoTierCosts ticks = schedule::costs_in_ticks(
      question.forward, question.adjoint, question.write_seconds(), question.read_seconds());
  return {{ticks.advance, 0}, {ticks.adjoint, 0}, {ticks.write, 0}, {ticks.read, 0}};
}

void price(Estimate& estimate, const WhatIf& question, std::int64_t disk_states) {
  Counts& counts = estimate.counts;
  // The adjoint reads a tape: every step is recorded, apart from its adjoint.
  if (question.has_tape()) counts.recorded = wide(question.steps);
  estimate.runs = true;
  if (counts.writes > 0 || counts.reads > 0) {
    estimate.waiting = static_cast<double>(counts.writes) * question.write_seconds() +
                       static_cast<double>(counts.reads) * question.read_seconds();
  }
  estimate.seconds = static_cast<double>(estimate.forward_steps()) * question.forward +
                     real(question.steps) * question.adjoint + estimate.waiting;
  const auto on_disk = wide(question.compression.of(question.state_bytes) * question.ranks);
  estimate.disk_bytes = checked_multiply(wide(disk_states), on_disk);
  estimate.written = checked_multiply(counts.writes, on_disk);
  estimate.read = checked_multiply(counts.reads, on_disk);
}

std::span<const Schedule> all_schedules() {
  static const std::vector<Schedule> all = {
      store_all_schedule(),    revolve_schedule(),      async_schedule(),
      overlapped_schedule(),   disk_revolve_schedule(), hrevolve_schedule(),
      multistage_schedule(),   mixed_schedule(),        double_schedule(),
      least_memory_schedule(), uneven_schedule(),       online_schedule(),
      undo_schedule()};
  return all;
}

std::string schedule_names(bool counted) {
  std::string names;
  for (const Schedule& schedule : all_schedules()) {
    if (counted && schedule.count == nullptr) continue;
    names += (names.empty() ? "" : ", ") + std::string(schedule.name);
  }
  return names;
}

const Schedule& schedule_named(const char* option, std::string_view name) {
  const std::string word = in_small_letters(name);
  for (const Schedule& schedule : all_schedules()) {
    if (schedule.name == word) return schedule;
  }
  throw Error(ANADROME_ERR_ARGUMENT, std::string(option) + " '" + std::string(name) +
                                         "' is not one of " + schedule_names());
}

}  // namespace anadrome::tool
