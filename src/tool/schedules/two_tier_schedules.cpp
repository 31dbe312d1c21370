// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <memory>
#include <string>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "planners/streams.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/double_sweep.h"
#include "planners/two_tier/multistage.h"
#include "tool/schedules/action_sources.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

schedule::TwoTierCosts ticks_of(const Prices& prices) {
  const int digits = prices.digits();
  return {prices.advance.ticks(digits), prices.adjoint.ticks(digits), prices.write.ticks(digits),
          prices.read.ticks(digits)};
}

std::string room_wanted(std::int64_t wanted, std::int64_t disk_slots) {
  return "takes " + counted(wanted, "state") + " on disk at a time; there is room for " +
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

std::unique_ptr<schedule::HRevolvePlanner> hrevolve(const Problem& problem) {
  return std::make_unique<schedule::HRevolvePlanner>(
      problem.steps, problem.slots, std::min(problem.disk_slots, schedule::kMostSteps),
      ticks_of(problem.prices));
}

// How often a planner for RAM and disk writes and reads.
struct DiskTransfers {
  uint128 writes = 0, reads = 0;
  std::int64_t most_states = 0;  ///< on disk at a time
};

// Asks the planner about every segment that begins with a state on disk. Segments that begin in RAM
// stay there, as with all of these planners.
DiskTransfers disk_transfers(schedule::Planner& planner, const Problem& problem) {
  constexpr int kMostSegments = 20'000'000;
  struct Part {
    std::int64_t first, last, states_below;
  };
  DiskTransfers sum;
  std::vector<Part> live = {{0, problem.steps, 0}};  // with x_first live only
  for (int segments = 0; !live.empty();) {
    const Part part = live.back();
    live.pop_back();
    schedule::Segment segment = {.first = part.first, .last = part.last, .units = problem.slots};
    std::int64_t states = part.states_below;
    while (segment.last - segment.first > 1) {
      if (++segments > kMostSegments) {
        throw Error(ANADROME_ERR_ARGUMENT,
                    "to count the transfers of so many steps takes too long; take fewer --steps or "
                    "more --slots");
      }
      segment.disk_slots = problem.disk_slots == kNoLimit ? kNoLimit : problem.disk_slots - states;
      const schedule::Placement placement = planner.place(segment);
      if (placement.place == schedule::Place::kDisk) {
        segment.held = schedule::Place::kDisk;
        ++sum.writes;
        sum.most_states = std::max(sum.most_states, ++states);
      } else if (placement.place == schedule::Place::kNowhere) {
        ++sum.reads;
        live.push_back({segment.first + placement.advance, segment.last, states});
        segment.last = segment.first + placement.advance;
      } else {
        break;
      }
    }
  }
  return sum;
}

Counts counts_on_two_tiers(schedule::Planner& planner, const Problem& problem) {
  const DiskTransfers use = disk_transfers(planner, problem);
  return {.advances = advances_of(planner, problem.steps, problem.slots, problem.disk_slots),
          .writes = use.writes,
          .reads = use.reads};
}

Counts count_disk_revolve(const Problem& problem) {
  return counts_on_two_tiers(*disk_revolve(problem), problem);
}

Counts count_hrevolve(const Problem& problem) {
  return counts_on_two_tiers(*hrevolve(problem), problem);
}

Counts count_multistage(const Problem& problem) {
  const schedule::TwoTierUse use = schedule::multistage_use(
      problem.steps, problem.slots, std::min(problem.disk_slots, schedule::kMostSteps));
  return {.advances = use.advances, .writes = use.writes, .reads = use.reads};
}

ActionSource disk_revolve_actions(const Problem& problem) {
  return nested_actions(problem, disk_revolve(problem));
}

ActionSource hrevolve_actions(const Problem& problem) {
  return nested_actions(problem, hrevolve(problem));
}

ActionSource multistage_actions(const Problem& problem) {
  return nested_actions(problem, std::make_unique<schedule::MultistagePlanner>());
}

// As many of the slots on disk as half a second is enough to plan for.
constexpr std::int64_t kSplitsCompared = std::int64_t{1} << 29;

template <class Count>
Estimate estimate_two_tier(const char* name, const WhatIf& question, const StreamRoom& room,
                           const Count& count) {
  Estimate estimate = row_of(name, question);
  Problem& sweep = estimate.sweep;
  sweep.slots = std::min(room.slots, question.steps);
  sweep.disk_slots = std::min(room.disk_states, question.steps + 1);
  sweep.prices = prices_of(question);
  std::int64_t states = 0;
  estimate.counts = count(sweep, states);
  if (states > sweep.disk_slots) return refused(name, room_wanted(states, sweep.disk_slots));
  estimate.ram_bytes = room.bytes_of(sweep.slots);
  price(estimate, question, states);
  estimate.remark = counted(sweep.slots, "state") + " in RAM, up to " + std::to_string(states) +
                    " on disk; each transfer counted in full";
  return estimate;
}

Estimate estimate_disk_revolve(const WhatIf& question, const StreamRoom& room) {
  return estimate_two_tier(
      "disk_revolve", question, room, [](Problem& sweep, std::int64_t& states) {
        schedule::DiskRevolvePlanner planner(sweep.steps, sweep.slots, ticks_of(sweep.prices));
        states = planner.disk_slots();
        return states > sweep.disk_slots ? Counts{} : counts_on_two_tiers(planner, sweep);
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
    return counts_on_two_tiers(planner, sweep);
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

// ---- double ----

schedule::DoubleSweep double_sweep_of(const Problem& problem) {
  return schedule::double_sweep_within(problem.steps, problem.interval,
                                       {problem.slots, problem.tape_slots});
}

// The last anchor is still in memory when it is restored.
ActionSource double_actions(const Problem& problem) {
  const schedule::DoubleSweep sweep = double_sweep_of(problem);
  const ActionSource next =
      nested_actions(problem, std::make_unique<schedule::DoublePlanner>(sweep));
  return [next, last = sweep.intervals - 1] {
    schedule::Action action = next();
    auto* const kept = std::get_if<schedule::Restore>(&action);
    const bool restores = kept != nullptr && kept->tier == schedule::kDiskTier;
    if (restores && kept->place == last) kept->tier = schedule::kRamTier;
    return action;
  };
}

Counts count_double(const Problem& problem) {
  const schedule::DoubleSweep sweep = double_sweep_of(problem);
  schedule::DoublePlanner planner(sweep);
  return {.advances = advances_of(planner, problem.steps, problem.slots),
          .writes = wide(sweep.intervals),
          .reads = wide(sweep.intervals - 1),
          .overlapped = true};
}

Estimate estimate_double(const WhatIf& question, const StreamRoom& room) {
  Estimate estimate = row_of("double", question);
  Problem& sweep = estimate.sweep;
  const std::int64_t ahead = room.slots > 1 ? 1 : 0;
  sweep.disk_slots = std::min(room.disk_states, schedule::kMostDoubleAnchors);
  if (question.has_tape()) {
    sweep.tape_slots = ceil_divide(question.tape_bytes, question.state_bytes);
  }
  // More than all tapes, or all states, are of no use.
  sweep.slots =
      slots_within(room.slots - ahead,
                   wide(question.steps) * wide(std::max<std::int64_t>(sweep.tape_slots, 1)) + 1);
  const schedule::DoubleMemory memory = {sweep.slots, sweep.tape_slots};
  const std::int64_t least = ceil_divide(std::max<std::int64_t>(sweep.steps, 1), sweep.disk_slots);
  const std::int64_t longest = schedule::longest_double_interval(memory);
  if (least > longest) {
    return refused("double", "reverses " + std::to_string(longest) +
                                 " steps at a time; room on disk for " +
                                 counted(sweep.disk_slots, "state") + " wants intervals of " +
                                 std::to_string(least));
  }
  const schedule::DoubleCosts costs = {
      .step = room.costs, .record = sweep.record, .reads_ahead = ahead > 0};
  const schedule::DoubleSweep best = schedule::best_double_sweep(sweep.steps, least, memory, costs);
  const schedule::DoubleTime time = schedule::double_time(best, costs);
  sweep.interval = best.interval;
  estimate.counts = count_double(sweep);
  price(estimate, question, best.intervals);
  estimate.seconds = time.seconds;
  estimate.waiting = time.waiting;
  estimate.disk.reads_ahead = costs.reads_ahead ? 1 : 0;
  estimate.ram_bytes = room.bytes_of(sweep.slots + ahead);
  estimate.remark = "an anchor every " + std::to_string(best.interval) + " steps, parts of " +
                    std::to_string(best.full.part) + " with all their " +
                    (sweep.record ? "tapes" : "states") +
                    (ahead > 0 ? ", one read ahead" : ", none read ahead");
  return estimate;
}

}  // namespace

Schedule disk_revolve_schedule() {
  return {"disk_revolve",       true, false, count_disk_revolve, disk_revolve_actions, nullptr,
          estimate_disk_revolve};
}

Schedule hrevolve_schedule() {
  return {"hrevolve", true, false, count_hrevolve, hrevolve_actions, nullptr, estimate_hrevolve};
}

Schedule multistage_schedule() {
  return {"multistage",       true, false, count_multistage, multistage_actions, nullptr,
          estimate_multistage};
}

Schedule double_schedule() {
  return {"double", true, false, nullptr, double_actions, nullptr, estimate_double};
}

}  // namespace anadrome::tool
