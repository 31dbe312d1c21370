#include "tool/plan/two_tier_schedules.h"

#include <algorithm>
#include <memory>

#include "base/byte_size.h"
#include "base/checked.h"
#include "schedule/disk_revolve.h"
#include "schedule/hrevolve.h"
#include "schedule/multistage.h"
#include "tool/plan/action_sources.h"
#include "tool/plan/disk_use.h"

namespace anadrome::tool {
namespace {

schedule::TwoTierCosts ticks_of(const Prices& prices) {
  const int digits = prices.digits();
  return {prices.advance.ticks(digits), prices.adjoint.ticks(digits), prices.write.ticks(digits),
          prices.read.ticks(digits)};
}

// Disk-Revolve takes as many states on disk as it likes.
std::unique_ptr<schedule::DiskRevolvePlanner> disk_revolve(const Problem& problem,
                                                           const schedule::TwoTierCosts& costs) {
  auto planner =
      std::make_unique<schedule::DiskRevolvePlanner>(problem.steps, problem.slots, costs);
  if (planner->disk_slots() > problem.disk_slots) {
    throw Error(ANADROME_ERR_ARGUMENT, "takes " + std::to_string(planner->disk_slots()) +
                                           " states on disk at a time; there is room for " +
                                           std::to_string(problem.disk_slots));
  }
  return planner;
}

std::unique_ptr<schedule::HRevolvePlanner> hrevolve(const Problem& problem,
                                                    const schedule::TwoTierCosts& costs) {
  const std::int64_t disk_slots = std::min(problem.disk_slots, schedule::kMostSteps);
  return std::make_unique<schedule::HRevolvePlanner>(problem.steps, problem.slots, disk_slots,
                                                     costs);
}

Counts counted(schedule::Planner& planner, const Problem& problem) {
  schedule::Segment all;
  all.last = problem.steps;
  all.units = problem.slots;
  all.disk_slots = problem.disk_slots;
  Counts counts;
  if (problem.steps > 1) counts.advances = planner.advances(all);
  const DiskUse use = disk_use(planner, problem);
  counts.writes = use.writes;
  counts.reads = use.reads;
  return counts;
}

Counts count_disk_revolve(const Problem& problem) {
  return counted(*disk_revolve(problem, ticks_of(problem.prices)), problem);
}

Counts count_hrevolve(const Problem& problem) {
  return counted(*hrevolve(problem, ticks_of(problem.prices)), problem);
}

Counts count_multistage(const Problem& problem) {
  const schedule::TwoTierUse use = schedule::multistage_use(
      problem.steps, problem.slots, std::min(problem.disk_slots, schedule::kMostSteps));
  Counts counts;
  counts.advances = use.advances;
  counts.writes = use.writes;
  counts.reads = use.reads;
  return counts;
}

ActionSource disk_revolve_actions(const Problem& problem) {
  return nested_actions(problem, disk_revolve(problem, ticks_of(problem.prices)));
}

ActionSource hrevolve_actions(const Problem& problem) {
  return nested_actions(problem, hrevolve(problem, ticks_of(problem.prices)));
}

ActionSource multistage_actions(const Problem& problem) {
  return nested_actions(problem, std::make_unique<schedule::MultistagePlanner>());
}

// The seconds of a run as prices, in whole ticks: what the planner compares.
Prices prices_of(const WhatIf& question) {
  const schedule::TwoTierCosts ticks = schedule::costs_in_ticks(
      question.forward, question.adjoint, question.write_seconds(), question.read_seconds());
  return {{ticks.advance, 0}, {ticks.adjoint, 0}, {ticks.write, 0}, {ticks.read, 0}};
}

template <class Count>
Estimate estimate_two_tier(const char* name, const WhatIf& question, const Count& count) {
  if (!question.has_disk()) return refused(name, "needs --write-rate, and room on disk");
  const Blocks blocks = cut_memory(question, true);
  if (blocks.count < 2) {
    return refused(name, "needs " + bytes_text(static_cast<uint128>(blocks.bytes) * 2) +
                             " of memory per rank: a state, and one on its way");
  }
  Estimate estimate;
  estimate.schedule = name;
  Problem& sweep = estimate.sweep;
  sweep = run_of(question);
  sweep.slots =
      std::min((blocks.count - 1) * blocks.states, std::max<std::int64_t>(question.steps, 1));
  sweep.disk_slots = disk_states(question, blocks);
  sweep.prices = prices_of(question);
  std::int64_t states = 0;
  estimate.counts = count(sweep, states);
  estimate.ram_bytes = (ceil_divide(sweep.slots, blocks.states) + 1) * blocks.bytes;
  price(estimate, question, states);
  estimate.remark = std::to_string(sweep.slots) + " states in RAM, up to " +
                    std::to_string(states) + " on disk; waits for each transfer";
  return estimate;
}

Estimate estimate_disk_revolve(const WhatIf& question) {
  return estimate_two_tier("disk_revolve", question, [](Problem& sweep, std::int64_t& states) {
    const auto planner = disk_revolve(sweep, ticks_of(sweep.prices));
    states = planner->disk_slots();
    return counted(*planner, sweep);
  });
}

Estimate estimate_hrevolve(const WhatIf& question) {
  return estimate_two_tier("hrevolve", question, [](Problem& sweep, std::int64_t& states) {
    const auto planner = hrevolve(sweep, ticks_of(sweep.prices));
    states = disk_use(*planner, sweep).most_states;
    return counted(*planner, sweep);
  });
}

Estimate estimate_multistage(const WhatIf& question) {
  return estimate_two_tier("multistage", question, [](Problem& sweep, std::int64_t& states) {
    states = std::clamp<std::int64_t>(sweep.steps - 1 - sweep.slots, 0, sweep.disk_slots);
    return count_multistage(sweep);
  });
}

}  // namespace

Schedule disk_revolve_schedule() {
  return {"disk_revolve",
          "states in RAM and on disk, at the least cost; the disk has room",
          true,
          false,
          count_disk_revolve,
          disk_revolve_actions,
          estimate_disk_revolve};
}

Schedule hrevolve_schedule() {
  return {"hrevolve",
          "the same with a number of slots on disk",
          true,
          false,
          count_hrevolve,
          hrevolve_actions,
          estimate_hrevolve};
}

Schedule multistage_schedule() {
  return {"multistage",
          "Revolve with all slots, the least used ones on disk",
          true,
          false,
          count_multistage,
          multistage_actions,
          estimate_multistage};
}

}  // namespace anadrome::tool
