// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/byte_size.h"
#include "base/checked.h"
#include "planners/questions/multistage_use.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/hrevolve.h"
#include "planners/two_tier/multistage.h"
#include "tool/schedules/action_sources.h"
#include "tool/schedules/disk_transfers.h"

namespace anadrome::tool {
namespace {

schedule::TwoTierCosts ticks_of(const Prices& prices) {
  const int digits = prices.digits();
  return {prices.advance.ticks(digits), prices.adjoint.ticks(digits), prices.write.ticks(digits),
          prices.read.ticks(digits)};
}

std::string room_wanted(std::int64_t wanted, std::int64_t disk_slots) {
  return "takes " + std::to_string(wanted) + " states on disk at a time; there is room for " +
         std::to_string(disk_slots);
}

// Disk-Revolve takes as many states on disk as it likes.
std::unique_ptr<schedule::DiskRevolvePlanner> disk_revolve(const Problem& problem) {
  auto planner = std::make_unique<schedule::DiskRevolvePlanner>(problem.steps, problem.slots,
                                                                ticks_of(problem.prices));
  if (planner->disk_slots() > problem.disk_slots) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "disk_revolve " + room_wanted(planner->disk_slots(), problem.disk_slots));
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
  const DiskTransfers use = disk_transfers(planner, problem);
  counts.writes = use.writes;
  counts.reads = use.reads;
  return counts;
}

Counts count_disk_revolve(const Problem& problem) {
  return counted(*disk_revolve(problem), problem);
}

Counts count_hrevolve(const Problem& problem) {
  return counted(*hrevolve(problem, ticks_of(problem.prices)), problem);
}

Counts count_multistage(const Problem& problem) {
  const schedule::TwoTierUse use = questions::multistage_use(
      problem.steps, problem.slots, std::min(problem.disk_slots, schedule::kMostSteps));
  Counts counts;
  counts.advances = use.advances;
  counts.writes = use.writes;
  counts.reads = use.reads;
  return counts;
}

ActionSource disk_revolve_actions(const Problem& problem) {
  return nested_actions(problem, disk_revolve(problem));
}

ActionSource hrevolve_actions(const Problem& problem) {
  return nested_actions(problem, hrevolve(problem, ticks_of(problem.prices)));
}

ActionSource multistage_actions(const Problem& problem) {
  return nested_actions(problem, std::make_unique<schedule::MultistagePlanner>());
}

// As many of the slots on disk as half a second is enough to plan for: the comparison asks again
// for more of each resource.
constexpr std::int64_t kSplitsCompared = std::int64_t{1} << 29;

template <class Count>
Estimate estimate_two_tier(const char* name, const WhatIf& question, const StreamRoom& room,
                           const Count& count) {
  Estimate estimate;
  estimate.schedule = name;
  Problem& sweep = estimate.sweep;
  sweep = run_of(question);
  sweep.slots = std::min(room.slots(), question.steps);
  sweep.disk_slots = std::min(room.disk_states(), question.steps + 1);
  sweep.prices = prices_of(question);
  std::int64_t states = 0;
  estimate.counts = count(sweep, states);
  if (states > sweep.disk_slots) return refused(name, room_wanted(states, sweep.disk_slots));
  estimate.ram_bytes = room.bytes_of(sweep.slots);
  price(estimate, question, states);
  estimate.remark = std::to_string(sweep.slots) + (sweep.slots == 1 ? " state" : " states") +
                    " in RAM, up to " + std::to_string(states) +
                    " on disk; each transfer counted in full";
  return estimate;
}

Estimate estimate_disk_revolve(const WhatIf& question, const StreamRoom& room) {
  return estimate_two_tier(
      "disk_revolve", question, room, [](Problem& sweep, std::int64_t& states) {
        schedule::DiskRevolvePlanner planner(sweep.steps, sweep.slots, ticks_of(sweep.prices));
        states = planner.disk_slots();
        return states > sweep.disk_slots ? Counts{} : counted(planner, sweep);
      });
}

Estimate estimate_hrevolve(const WhatIf& question, const StreamRoom& room) {
  std::int64_t fit = 0;
  const auto count = [&fit](Problem& sweep, std::int64_t& states) {
    fit = sweep.disk_slots;
    schedule::HRevolvePlanner planner(sweep.steps, sweep.slots, sweep.disk_slots,
                                      ticks_of(sweep.prices), kSplitsCompared);
    sweep.disk_slots = planner.disk_slots();
    states = disk_transfers(planner, sweep).most_states;
    return counted(planner, sweep);
  };
  Estimate estimate = estimate_two_tier("hrevolve", question, room, count);
  if (estimate.runs && estimate.sweep.disk_slots < fit) {
    estimate.remark += ", of " + std::to_string(fit) + " that fit: more take long to plan";
  }
  return estimate;
}

Estimate estimate_multistage(const WhatIf& question, const StreamRoom& room) {
  return estimate_two_tier("multistage", question, room, [](Problem& sweep, std::int64_t& states) {
    states = std::min(sweep.steps - 1, sweep.disk_slots);  // memory or not
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
          nullptr,
          estimate_disk_revolve};
}

Schedule hrevolve_schedule() {
  return {"hrevolve",     "the same with a number of slots on disk",
          true,           false,
          count_hrevolve, hrevolve_actions,
          nullptr,        estimate_hrevolve};
}

Schedule multistage_schedule() {
  return {"multistage",
          "Revolve with all slots, the least used ones on disk",
          true,
          false,
          count_multistage,
          multistage_actions,
          nullptr,
          estimate_multistage};
}

}  // namespace anadrome::tool
