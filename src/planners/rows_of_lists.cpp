// SPDX-License-Identifier: BSD-2-Clause
// Schedules that are lists: each transfer has its place between the steps.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/index.h"
#include "planners/lists/list_sweep.h"
#include "planners/lists/overlap_places.h"
#include "planners/offload/offload_chain.h"
#include "planners/offload/offloaded_plan.h"
#include "planners/rows.h"

namespace anadrome::schedule {
namespace {

ListOptions list_options(const StreamProblem& problem) {
  ListOptions options;
  options.steps = problem.sizing.steps;
  options.slots = problem.slots;
  options.record = problem.sizing.record;
  if (problem.divided != nullptr) {
    options.slots = problem.divided->units;
    options.units = problem.divided->state_units;
  }
  options.most_on_disk = problem.blocks_on_disk;
  return options;
}

}  // namespace

// ---- overlapped ----

SweepPtr make_overlapped(StreamProblem& problem) {
  const ListOptions options = list_options(problem);
  const OverlapTimes times = overlap_times(problem.costs, options.record);
  return checked(std::make_unique<ListSweep>(options, list_plan(options, times)),
                 rules_of(options));
}

// ---- offload ----

namespace {

// In whole ticks, so that all ranks reckon alike; what was given may be in any unit.
OffloadChain offload_chain(const StreamProblem& problem, const std::vector<std::int64_t>& units,
                           std::int64_t unit_bytes, const OverlapTimes& times) {
  const std::vector<double>&forward = *problem.tables.costs,
        &adjoint = *problem.tables.adjoint_costs;
  const bool record = problem.sizing.record;
  const auto steps = std::ssize(forward);
  double sum = 0, largest = std::max({times.write, times.read, times.forward});
  for (const double cost : forward) sum += cost;
  const double scale = sum > 0 ? times.forward * real(steps) / sum : 0;
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
  const auto full = real(std::max<std::int64_t>(problem.largest_state_bytes, 1));
  for (std::size_t k = 0; k < states; ++k) {
    const auto bytes = real(units[k] * unit_bytes);
    const double part = std::min(bytes / full, 1.0);
    chain.write[k] = ticks(times.write * part);
    chain.read[k] = ticks(times.read * part);
  }
  return chain;
}

// Planning is to take a few percent of the sweep.
std::int64_t most_offload_ops(const StreamProblem& problem, double forward_seconds) {
  constexpr double kShare = 0.03, kSecondsPerOp = 15e-9;
  constexpr std::int64_t kFewest = 200'000, kMost = 6'000'000;
  const double forward = forward_seconds * real(problem.sizing.steps);
  const std::vector<double>& adjoint = *problem.tables.adjoint_costs;
  const double sweep = std::accumulate(adjoint.begin(), adjoint.end(), forward);
  const double ops = std::min(sweep * kShare / kSecondsPerOp, real(kMost));
  return std::max(static_cast<std::int64_t>(ops), kFewest);
}

}  // namespace

// A plan for the costs of each step.
SweepPtr make_offload(StreamProblem& problem) {
  if (!problem.tables.all_costs_known()) return make_overlapped(problem);  // there is no step
  const ListOptions options = list_options(problem);
  const OverlapTimes times = overlap_times(problem.costs, options.record);
  const std::int64_t unit_bytes = problem.divided != nullptr ? problem.divided->unit_bytes : 1;
  OverlappedPlan plan = plan_offloaded(offload_chain(problem, options.units, unit_bytes, times),
                                       options.slots, most_offload_ops(problem, times.forward));
  std::vector<OverlapAction> actions = plan.actions;
  if (number_disk_states(actions) > options.most_on_disk) plan = list_plan(options, times);
  return checked(std::make_unique<ListSweep>(options, std::move(plan)), rules_of(options));
}

// Whole pages, and few enough of them to be counted. The state at the end of the chain is live when
// it is needed.
void divide_for_offload(const StreamProblem& problem, std::vector<std::int64_t> bytes,
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

}  // namespace anadrome::schedule
