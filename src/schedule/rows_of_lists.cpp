// SPDX-License-Identifier: BSD-2-Clause
// Schedules that are lists: each transfer has its place between the steps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "schedule/list_sweep.h"
#include "schedule/offload_chain.h"
#include "schedule/offloaded_plan.h"
#include "schedule/rows.h"

namespace anadrome::schedule {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The memory of the search is part of the budget: it must be a small part.
bool searches_thoroughly(std::int64_t memory) { return memory >= 16 * kOverlapSearchBytes; }

ListOptions list_options(const Problem& problem) {
  ListOptions options;
  options.steps = problem.sizing.steps;
  options.slots = problem.slots;
  options.record = problem.sizing.record;
  options.may_search = searches_thoroughly(problem.sizing.memory);
  options.always_searches = problem.in_the_abstract;
  if (problem.divided != nullptr) {
    options.slots = problem.divided->units;
    options.units = problem.divided->state_units;
  }
  options.most_on_disk = problem.blocks_on_disk;
  return options;
}

// Times of an earlier sweep are known at once.
SweepPtr planned(const ListOptions& options, const Problem& problem) {
  auto sweep = std::make_unique<ListSweep>(options);
  if (problem.costs_known && !sweep->planned()) {
    sweep->plan(overlap_times(problem.costs, options.record));
  }
  return checked(std::move(sweep), options);
}

}  // namespace

// ---- overlapped ----

SweepPtr make_overlapped(Problem& problem, EarlierPlans&) {
  return planned(list_options(problem), problem);
}

std::int64_t overlapped_list_bytes(const Sizing& sizing) {
  return overlapped_bytes(sizing.steps) +
         (searches_thoroughly(sizing.memory) ? kOverlapSearchBytes : 0);
}

// ---- offload ----

namespace {

// In whole ticks, so that all ranks reckon alike; what was given may be in any unit.
OffloadChain offload_chain(const Problem& problem, const std::vector<std::int64_t>& units,
                           std::int64_t unit_bytes, const OverlapTimes& times) {
  const std::vector<double>&forward = *problem.tables.costs,
        &adjoint = *problem.tables.adjoint_costs;
  const bool record = problem.sizing.record;
  const auto steps = static_cast<std::int64_t>(forward.size());
  double sum = 0, largest = std::max({times.write, times.read, times.forward});
  for (const double cost : forward) sum += cost;
  const double scale = sum > 0 ? times.forward * static_cast<double>(steps) / sum : 0;
  for (const double cost : forward) largest = std::max(largest, cost * scale);
  for (const double cost : adjoint) largest = std::max(largest, cost);
  const auto ticks = [largest](double seconds) {
    return std::max<std::int64_t>(std::llround(seconds / largest * 0x1p20), 1);
  };
  OffloadChain chain;
  for (std::size_t k = 0; k < forward.size(); ++k) {
    const double recording = record ? forward[k] * scale : 0;
    chain.forward.push_back(ticks(forward[k] * scale));
    chain.adjoint.push_back(ticks(adjoint[k] + recording));
  }
  if (record) {
    chain.forward.pop_back();
  } else {
    chain.adjoint.push_back(0);  // TURN
  }
  const std::size_t states = chain.adjoint.size();
  chain.state_units.assign(states, 1);
  chain.write.assign(states, ticks(times.write));
  chain.read.assign(states, ticks(times.read));
  if (units.empty()) return chain;
  chain.state_units = units;
  const auto full = static_cast<double>(std::max<std::int64_t>(problem.largest_state_bytes, 1));
  for (std::size_t k = 0; k < states; ++k) {
    const auto bytes = static_cast<double>(units[k] * unit_bytes);
    const double part = std::min(bytes / full, 1.0);
    chain.write[k] = ticks(times.write * part);
    chain.read[k] = ticks(times.read * part);
  }
  return chain;
}

// Planning is to take a few percent of the sweep.
std::int64_t most_offload_ops(const Problem& problem, double forward_seconds) {
  constexpr double kShare = 0.03, kSecondsPerOp = 15e-9;
  constexpr std::int64_t kFewest = 200'000, kMost = 6'000'000;
  const double forward = forward_seconds * static_cast<double>(problem.sizing.steps);
  const std::vector<double>& adjoint = *problem.tables.adjoint_costs;
  const double sweep = std::accumulate(adjoint.begin(), adjoint.end(), forward);
  const double ops = std::min(sweep * kShare / kSecondsPerOp, static_cast<double>(kMost));
  return std::max(static_cast<std::int64_t>(ops), kFewest);
}

bool still_holds(const EarlierPlans::OfTransfers& made, const EarlierPlans::OfTransfers& wanted) {
  return made.memory == wanted.memory && made.record == wanted.record &&
         made.forward == wanted.forward && made.adjoint == wanted.adjoint &&
         made.units == wanted.units && times_hold(made.times, wanted.times);
}

}  // namespace

// A plan for the costs of each step, where these are known. Ranks agree on the times, and on what
// was measured of the steps: all of them make a new plan, or none.
SweepPtr make_offload(Problem& problem, EarlierPlans& earlier) {
  ListOptions options = list_options(problem);
  options.plan_name = "the plan of schedule=offload";
  if (!problem.tables.all_costs_known()) return planned(options, problem);
  const std::int64_t unit_bytes = problem.divided != nullptr ? problem.divided->unit_bytes : 1;
  options.other_plan = [asked = problem, units = options.units, unit_bytes, slots = options.slots,
                        &earlier](const OverlapTimes& times) {
    EarlierPlans::OfTransfers wanted;
    wanted.forward = *asked.tables.costs;
    wanted.adjoint = *asked.tables.adjoint_costs;
    wanted.units = units;
    wanted.memory = slots;
    wanted.record = asked.sizing.record;
    wanted.times = times;
    std::optional<EarlierPlans::OfTransfers>& made = earlier.transfers;
    if (!made || !still_holds(*made, wanted)) {
      wanted.plan = plan_offloaded(offload_chain(asked, units, unit_bytes, times), slots,
                                   most_offload_ops(asked, times.forward));
      made = std::move(wanted);
    }
    return OtherPlan{&made->plan, made->times};
  };
  return planned(options, problem);
}

// Whole pages, and few enough of them to be counted. The state at the end of the chain is live when
// it is needed.
void divide_for_offload(const Problem& problem, std::vector<std::int64_t> bytes,
                        std::int64_t memory, DividedMemory& divided) {
  constexpr std::int64_t kMostUnits = std::int64_t{1} << 14, kPage = 4096;
  const std::int64_t needed =
      std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}, checked_add);
  const std::int64_t unit_bytes =
      round_up(std::max(std::min(memory, needed) / kMostUnits, kPage), kPage);
  std::int64_t all = 0, largest = 0;
  for (std::int64_t& size : bytes) {
    size = ceil_divide(size, unit_bytes);
    all += size;
    largest = std::max(largest, size);
  }
  divided.unit_bytes = unit_bytes;
  divided.units = std::max(std::min(memory / unit_bytes, all), largest);
  if (!problem.sizing.record) bytes.push_back(bytes.back());
  divided.state_units = std::move(bytes);
}

std::int64_t offload_bytes(const Sizing& sizing) {
  return overlapped_list_bytes(sizing) +
         (sizing.steps + 2) * (kOffloadBytesPerStep + bytes_of_a_size(sizing));
}

}  // namespace anadrome::schedule
