#include "tool/plan/schedule.h"

#include <cmath>
#include <utility>

#include "base/byte_size.h"
#include "base/text_out.h"
#include "schedule/two_tier_costs.h"

namespace anadrome::tool {

Estimate refused(const char* schedule, std::string why) {
  Estimate estimate;
  estimate.schedule = schedule;
  estimate.remark = std::move(why);
  return estimate;
}

Problem run_of(const WhatIf& question) {
  Problem problem;
  problem.record = question.has_tape();
  problem.steps = problem.record ? question.steps : question.steps + 1;
  return problem;
}

Prices prices_of(const WhatIf& question) {
  const schedule::TwoTierCosts ticks = schedule::costs_in_ticks(
      question.forward, question.adjoint, question.write_seconds(), question.read_seconds());
  return {{ticks.advance, 0}, {ticks.adjoint, 0}, {ticks.write, 0}, {ticks.read, 0}};
}

void price(Estimate& estimate, const WhatIf& question, std::int64_t disk_states) {
  Counts& counts = estimate.counts;
  // The adjoint reads a tape: every step is recorded, apart from its adjoint.
  if (question.has_tape()) counts.recorded = static_cast<uint128>(question.steps);
  estimate.runs = true;
  if (counts.writes > 0 || counts.reads > 0) {
    estimate.waiting = static_cast<double>(counts.writes) * question.write_seconds() +
                       static_cast<double>(counts.reads) * question.read_seconds();
  }
  estimate.seconds = static_cast<double>(estimate.forward_steps()) * question.forward +
                     static_cast<double>(question.steps) * question.adjoint + estimate.waiting;
  const auto state_of_all = static_cast<uint128>(question.state_bytes * question.ranks);
  estimate.disk_bytes = checked_multiply(static_cast<uint128>(disk_states), state_of_all);
  estimate.written = checked_multiply(counts.writes, state_of_all);
  estimate.read = checked_multiply(counts.reads, state_of_all);
}

std::string power_text(double number) {
  if (number < 9999.5) return format_fixed(number, 0);
  const int exponent = static_cast<int>(std::floor(std::log10(number)));
  return format_fixed(std::round(number / std::pow(10.0, exponent)), 0) + "e" +
         std::to_string(exponent);
}

std::string bytes_text(uint128 bytes) {
  constexpr uint128 kExbibyte = uint128{1} << 60;
  if (bytes < 1000 * kExbibyte / 1024) return format_bytes(static_cast<std::int64_t>(bytes));
  return power_text(static_cast<double>(bytes) / static_cast<double>(kExbibyte)) + " EiB";
}

}  // namespace anadrome::tool
