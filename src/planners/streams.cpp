// SPDX-License-Identifier: BSD-2-Clause
#include "planners/streams.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "planners/lists/list_sweep.h"
#include "planners/lists/state_places.h"
#include "planners/memory/least_memory.h"
#include "planners/memory/uneven.h"
#include "planners/offload/offload_chain.h"
#include "planners/offload/offloaded_plan.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/double_sweep.h"
#include "planners/two_tier/multistage.h"
#include "planners/two_tier/two_tier_costs.h"

namespace anadrome::schedule {
namespace {

// ---- in memory ----

SweepPtr in_divided_memory(StreamProblem& problem) {
  StackOptions options = stack_options(problem);
  options.units = problem.divided->units;
  return played(options, std::move(problem.divided->planner));
}

// In whole ticks, 2^20 for the largest; at least one, so that plans have no needless advances.
std::vector<std::int64_t> ticks_of(const std::vector<double>& costs) {
  const double largest = *std::max_element(costs.begin(), costs.end());
  const double scale = largest > 0 ? 0x1p20 / largest : 0;
  std::vector<std::int64_t> ticks;
  ticks.reserve(costs.size());
  for (const double cost : costs) {
    ticks.push_back(std::max<std::int64_t>(std::llround(cost * scale), 1));
  }
  return ticks;
}

UnevenSteps uneven_steps(const StreamProblem& problem, std::int64_t bytes) {
  return {.costs = ticks_of(problem.step_costs),
          .bytes = bytes,
          .turn_is_a_step = !problem.sizing.record};
}

SweepPtr make_uneven(StreamProblem& problem) {
  if (problem.divided) return in_divided_memory(problem);
  if (problem.step_costs.empty()) return in_slots(problem, false);  // there is no step
  StackOptions options = stack_options(problem);
  auto planner = std::make_unique<UnevenPlanner>(uneven_steps(problem, options.units));
  options.units = planner->units();
  return played(options, std::move(planner));
}

DividedMemory divide_for_uneven(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                                std::int64_t memory) {
  UnevenSteps steps = uneven_steps(problem, memory);
  steps.state_bytes = std::move(bytes);
  auto planner = std::make_unique<UnevenPlanner>(steps);
  DividedMemory divided;
  divided.units = planner->units();
  divided.unit_bytes = planner->unit_bytes();
  divided.planner = std::move(planner);
  return divided;
}

SweepPtr make_least_memory(StreamProblem& problem) {
  if (problem.divided) return in_divided_memory(problem);
  return played(stack_options(problem), least_memory_of_equal_states(problem.sizing.chain()));
}

// The state at the end of the chain is live when it is needed, and takes nothing.
DividedMemory divide_for_least_memory(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                                      std::int64_t) {
  ChainSizes sizes;
  sizes.bytes = std::move(bytes);
  sizes.bytes.resize(size(problem.sizing.chain() + 1), 0);
  LeastMemory least = least_memory(sizes, Accounting::kPlayed);
  DividedMemory divided;
  divided.units = least.peak;
  divided.planner =
      std::make_unique<LeastMemoryPlanner>(std::move(sizes.bytes), std::move(least.kept));
  return divided;
}

SweepPtr make_join(StreamProblem& problem) {
  return checked(std::make_unique<BranchSweep>(problem.branches), rules_of(problem.branches));
}

// ---- on two tiers ----

// Where states on disk replace each other.
SweepPtr replacing(const StreamProblem& problem, std::int64_t disk_slots,
                   std::unique_ptr<Planner> planner, std::int64_t tape_units = 0) {
  StackOptions options = stack_options(problem);
  options.disk_slots = disk_slots;
  if (tape_units > 0) options.tape_units = tape_units;
  return played(options, std::move(planner));
}

std::int64_t two_tier_slots(const StreamProblem& problem) {
  return std::min(problem.blocks_on_disk, problem.sizing.steps + 1);
}

// The best for RAM and disk; Disk-Revolve, if its disk is unbounded and its states fit anyway.
std::unique_ptr<Planner> two_tier_planner(const StreamProblem& problem, bool unbounded) {
  const std::int64_t steps = problem.sizing.steps + 1, disk_slots = two_tier_slots(problem);
  const StepCosts& costs = problem.costs;
  const TwoTierCosts ticks = costs_in_ticks(costs.forward, costs.adjoint, costs.write, costs.read);
  if (unbounded) {
    auto planner = std::make_unique<DiskRevolvePlanner>(steps, problem.slots, ticks);
    // x_0 may be on disk beside its states. Where they do not fit, the best that fits.
    if (planner->disk_slots() < disk_slots) return planner;
  }
  return std::make_unique<HRevolvePlanner>(steps, problem.slots, disk_slots, ticks);
}

SweepPtr on_two_tiers(const StreamProblem& problem, bool unbounded) {
  return replacing(problem, two_tier_slots(problem), two_tier_planner(problem, unbounded));
}

// A stack of more is not needed where an interval was given.
std::int64_t most_anchors(const Sizing& sizing) {
  if (!sizing.end_known()) return kMostDoubleAnchors;
  if (sizing.interval > 0) return ceil_divide(sizing.steps + 1, sizing.interval);
  return std::min(kMostDoubleAnchors, sizing.steps + 1);
}

SweepPtr make_disk_revolve(StreamProblem& problem) { return on_two_tiers(problem, true); }
SweepPtr make_hrevolve(StreamProblem& problem) { return on_two_tiers(problem, false); }

SweepPtr make_multistage(StreamProblem& problem) {
  return replacing(problem, two_tier_slots(problem), std::make_unique<MultistagePlanner>());
}

// The same on all ranks for the same times. The longest interval follows from the memory, the
// shortest from the disk: they may leave none.
SweepPtr make_double(StreamProblem& problem) {
  const Sizing& sizing = problem.sizing;
  const std::int64_t steps =
      sizing.end_known() ? sizing.steps + (sizing.record ? 0 : 1) : kMostSteps;
  const bool end_known = steps < kMostSteps;
  const std::int64_t disk_slots = std::min(problem.blocks_on_disk, most_anchors(sizing));
  const DoubleMemory memory = {problem.slots, problem.shared.tape_units};
  const std::int64_t longest = longest_double_interval(memory), interval = sizing.interval;
  const std::int64_t least =
      end_known ? ceil_divide(std::max<std::int64_t>(steps, 1), disk_slots) : 1;
  const std::string reverses = "slots=" + std::to_string(problem.checkpoints) +
                               " reverses at most " + std::to_string(longest) + " steps at a time";
  if (interval > longest && steps > longest) {
    throw Error(ANADROME_ERR_ARGUMENT, "schedule=double with interval=" + std::to_string(interval) +
                                           ": " + reverses +
                                           "; raise slots, or take a shorter interval");
  }
  if (end_known && least > (interval > 0 ? interval : longest)) {
    throw Error(ANADROME_ERR_NO_SPACE,
                "schedule=double: " + reverses + ", and " + std::to_string(sizing.steps) +
                    " steps with " + counted(disk_slots, "state") + " on disk need intervals of " +
                    std::to_string(least) +
                    "; raise slots, disk_slots or interval, or take schedule=async");
  }
  const DoubleSweep sweep =
      interval > 0
          ? double_sweep_within(steps, std::clamp<std::int64_t>(steps, 1, interval), memory)
          : best_double_sweep(steps, least, memory,
                              {problem.costs, sizing.record, problem.read_ahead > 0});
  return replacing(problem, disk_slots, std::make_unique<DoublePlanner>(sweep), memory.tape_units);
}

// ---- lists: each transfer has its place between the steps ----

ListOptions list_options(const StreamProblem& problem) {
  ListOptions options;
  options.steps = problem.sizing.steps;
  options.slots = problem.slots;
  options.record = problem.sizing.record;
  if (problem.divided) {
    options.slots = problem.divided->units;
    options.units = problem.divided->state_units;
  }
  options.most_on_disk = problem.blocks_on_disk;
  return options;
}

// In whole ticks, so that all ranks reckon alike; what was given may be in any unit.
OffloadChain offload_chain(const StreamProblem& problem, const std::vector<std::int64_t>& units,
                           std::int64_t unit_bytes, const OverlapTimes& times) {
  const std::vector<double>&forward = problem.step_costs, &adjoint = problem.adjoint_costs;
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
  const auto full = real(std::max<std::int64_t>(problem.divided->largest, 1));
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
  const std::vector<double>& adjoint = problem.adjoint_costs;
  const double sweep = std::accumulate(adjoint.begin(), adjoint.end(), forward);
  const double ops = std::min(sweep * kShare / kSecondsPerOp, real(kMost));
  return std::max(static_cast<std::int64_t>(ops), kFewest);
}

SweepPtr make_overlapped(StreamProblem& problem) {
  const ListOptions options = list_options(problem);
  const OverlapTimes times = overlap_times(problem.costs, options.record);
  return checked(std::make_unique<ListSweep>(options, list_plan(options, times)),
                 rules_of(options));
}

// A plan for the costs of each step.
SweepPtr make_offload(StreamProblem& problem) {
  if (problem.step_costs.empty()) return make_overlapped(problem);  // there is no step
  const ListOptions options = list_options(problem);
  const OverlapTimes times = overlap_times(problem.costs, options.record);
  const std::int64_t unit_bytes = problem.divided ? problem.divided->unit_bytes : 1;
  OverlappedPlan plan = plan_offloaded(offload_chain(problem, options.units, unit_bytes, times),
                                       options.slots, most_offload_ops(problem, times.forward));
  std::vector<OverlapAction> actions = plan.actions;
  if (number_disk_states(actions) > options.most_on_disk) plan = list_plan(options, times);
  return checked(std::make_unique<ListSweep>(options, std::move(plan)), rules_of(options));
}

// Whole pages, and few enough of them to be counted. The state at the end of the chain is live when
// it is needed.
DividedMemory divide_for_offload(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                                 std::int64_t memory) {
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
  DividedMemory divided;
  divided.unit_bytes = unit_bytes;
  divided.units = std::max(std::min(memory / unit_bytes, all), largest);
  if (!problem.sizing.record) bytes.push_back(bytes.back());
  divided.state_units = std::move(bytes);
  return divided;
}

// ---- the rows ----

constexpr auto kStreams = std::to_array<StreamEntry>({
    {.name = "store_all",
     .in_runs = true,
     .tapes = KeptTapes::kAll,
     .make = [](StreamProblem& problem) { return make_store_all(problem); },
     .keeps_every_state = true},
    {.name = "revolve",
     .in_runs = true,
     .make = [](StreamProblem& problem) { return make_revolve(problem); }},
    {.name = "async",
     .needs = {.on_disk = StreamOnDisk::kAnchors},
     .in_runs = true,
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = [](StreamProblem& problem) { return make_async(problem); }},
    {.name = "overlapped",
     .needs = {.on_disk = StreamOnDisk::kReplaced,
               .steps = true,
               .most_steps = kMostOverlappedSteps - 1,
               .limit = "plans less than 1000000 steps; take async"},
     .make = make_overlapped},
    {.name = "mixed",
     .needs = {.steps = true, .tape = true},
     .in_runs = true,
     .tapes = KeptTapes::kSome,
     .make = [](StreamProblem& problem) { return make_mixed(problem); }},
    {.name = "disk_revolve",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_disk_revolve},
    {.name = "hrevolve",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_hrevolve},
    {.name = "multistage",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_multistage},
    {.name = "online", .make = [](StreamProblem& problem) { return make_revolve(problem); }},
    {.name = "uneven",
     .needs = {.steps = true,
               .each_step = {.costs = true, .sizes = true},
               .most_steps = kMostUnevenSteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .divide = divide_for_uneven,
     .make = make_uneven},
    {.name = "least_memory",
     .needs = {.steps = true,
               .each_step = {.sizes = true},
               .most_steps = kMostLeastMemorySteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .states_held = least_slots,
     .divide = divide_for_least_memory,
     .make = make_least_memory},
    {.name = "offload",
     .needs = {.on_disk = StreamOnDisk::kReplaced,
               .steps = true,
               .each_step = {.costs = true, .adjoint_costs = true, .sizes = true},
               .most_steps = kMostOffloadedSteps - 1,
               .limit = "plans less than 20000 steps; take overlapped or async"},
     .divide = divide_for_offload,
     .make = make_offload},
    {.name = "double",
     .needs = {.on_disk = StreamOnDisk::kReplaced},
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = make_double},
    {.name = "join", .needs = {.steps = true, .branches = true}, .make = make_join},
});

}  // namespace

std::span<const StreamEntry> streams() { return kStreams; }

const StreamEntry* find_stream(std::string_view name) {
  const auto found = std::find_if(kStreams.begin(), kStreams.end(),
                                  [&](const StreamEntry& entry) { return entry.name == name; });
  return found != kStreams.end() ? &*found : nullptr;
}

}  // namespace anadrome::schedule
