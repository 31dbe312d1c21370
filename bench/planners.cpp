// SPDX-License-Identifier: BSD-2-Clause
// Nanoseconds per action of the schedules that a Planner places, per step of a sweep whose end is
// not known, and what a plan of uneven steps takes before the sweep begins. No I/O and no MPI.
#include <benchmark/benchmark.h>

#include <memory>

#include "planners/graph/graph_planner.h"
#include "planners/join/join_planner.h"
#include "planners/memory/least_memory.h"
#include "planners/memory/uneven.h"
#include "planners/offload/offload_planner.h"
#include "planners/questions/kept_objects.h"
#include "planners/questions/uneven_tapes.h"
#include "planners/two_tier/double_sweep.h"
#include "schedule/stack/mixed.h"
#include "schedule/stack/online_planner.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/stack/stack_sweep.h"
#include "two_fields_graph.h"

namespace {

using namespace anadrome::schedule;
using namespace anadrome::questions;

void per_event(benchmark::State& state, std::int64_t events, const char* name) {
  state.counters[name] = benchmark::Counter(
      static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

std::int64_t play(StackSweep sweep) {
  std::int64_t actions = 0;
  for (bool goes_on = true; goes_on; ++actions) {
    const Action action = sweep.next();
    benchmark::DoNotOptimize(action);
    goes_on = !std::holds_alternative<Done>(action);
  }
  return actions;
}

void revolve_actions(benchmark::State& state) {
  StackOptions options;
  options.steps = state.range(0);
  options.units = state.range(1);
  std::int64_t actions = 0;
  for (auto _ : state) actions += play(StackSweep(options, std::make_unique<RevolvePlanner>()));
  per_event(state, actions, "per_action");
}

void mixed_actions(benchmark::State& state) {
  StackOptions options;
  options.steps = state.range(0);
  options.units = state.range(1);
  options.tape_units = state.range(2);
  options.record = true;
  std::int64_t actions = 0;
  for (auto _ : state) {
    actions += play(StackSweep(options, std::make_unique<MixedPlanner>(options.tape_units, false)));
  }
  per_event(state, actions, "per_action");
  state.counters["advances"] =
      static_cast<double>(mixed_advances(options.steps, options.units, options.tape_units, false));
  state.counters["of_revolve"] = static_cast<double>(extra_advances(options.steps, options.units));
}

// The same numbers on every machine.
std::vector<std::int64_t> uneven(std::int64_t n, std::int64_t least, std::int64_t spread) {
  std::vector<std::int64_t> values;
  std::uint32_t x = 12345;
  for (std::int64_t k = 0; k < n; ++k) {
    x = 1103515245U * x + 12345U;
    values.push_back(least + (x >> 16) % spread);
  }
  return values;
}

void report(benchmark::State& state, const UnevenSteps& steps, std::int64_t slots) {
  const UnevenPlanner planner(steps);
  state.counters["cost"] = static_cast<double>(planner.cost());
  state.counters["exact"] = planner.exact() ? 1 : 0;
  state.counters["equal_steps_with_as_many"] =
      static_cast<double>(extra_advances(static_cast<std::int64_t>(steps.costs.size()), slots));
}

void plan_uneven_costs(benchmark::State& state) {
  const UnevenSteps steps{.costs = uneven(state.range(0), 1, 9), .bytes = state.range(1)};
  for (auto _ : state) benchmark::DoNotOptimize(UnevenPlanner(steps).cost());
  report(state, steps, state.range(1));
}

void plan_uneven_sizes(benchmark::State& state) {
  const std::vector<std::int64_t> sizes = uneven(state.range(0), 1000000, 2000000);
  const UnevenSteps steps{.costs = std::vector<std::int64_t>(sizes.size(), 1),
                          .state_bytes = sizes,
                          .bytes = 2000000 * state.range(1)};
  for (auto _ : state) benchmark::DoNotOptimize(UnevenPlanner(steps).cost());
  report(state, steps, state.range(1));
}

// The forward sweep only: keeps, drops, advances of one step.
void unknown_end(benchmark::State& state) {
  std::int64_t steps = 0;
  for (auto _ : state) {
    StackSweep sweep({.steps = kUnknown, .units = state.range(1), .x_0 = Place::kRam},
                     std::make_unique<OnlinePlanner>(OnlineOptions{.slots = state.range(1)}));
    std::int64_t live = 0;
    while (live < state.range(0)) {
      const Action action = sweep.next();
      benchmark::DoNotOptimize(action);
      if (const auto* advance = std::get_if<Advance>(&action)) live = advance->last;
    }
    steps += live;
  }
  per_event(state, steps, "per_step");
}

void objects_actions(benchmark::State& state) {
  const KeptObjects kept{static_cast<Objects>(state.range(2)), state.range(3), true, true};
  StackOptions options;
  options.steps = state.range(0);
  options.units = state.range(1);
  options.disk_slots = 1;
  options.tape_units = state.range(3);
  options.tape_restarts = options.record = true;
  std::int64_t actions = 0;
  for (auto _ : state) actions += play(StackSweep(options, planner_for(kept)));
  per_event(state, actions, "per_action");
  state.counters["forwards"] = static_cast<double>(forwards_of(options.steps, options.units, kept));
}

void double_actions(benchmark::State& state) {
  StackOptions options;
  options.steps = state.range(0);
  options.tape_units = state.range(2);
  options.record = true;
  std::int64_t actions = 0;
  for (auto _ : state) {
    const DoubleSweep sweep = double_sweep(options.steps, state.range(1), options.tape_units);
    options.units = sweep.full.local_units;
    options.disk_slots = sweep.intervals;
    actions += play(StackSweep(options, std::make_unique<DoublePlanner>(sweep)));
  }
  per_event(state, actions, "per_action");
  state.counters["units"] = static_cast<double>(options.units);
}

void plan_least_memory(benchmark::State& state) {
  const ChainSizes sizes{uneven(state.range(0) + 1, 1000000, 2000000)};
  const bool stays = state.range(1) == 0;
  LeastMemory plan;
  for (auto _ : state) {
    plan = stays ? least_static_memory(sizes) : least_memory(sizes, Accounting::kReleased);
  }
  state.counters["peak"] = static_cast<double>(plan.peak);
  state.counters["lower_bound"] = static_cast<double>(plan.lower_bound);
}

void plan_offloading(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  OffloadChain chain;
  chain.forward = uneven(n - 1, 50, 100);
  chain.adjoint = uneven(n, 150, 100);
  chain.state_units = uneven(n, 1000, 2000);
  for (const std::int64_t units : chain.state_units) chain.write.push_back(units / 5);
  chain.read = chain.write;
  chain.fast_memory = 2000 * state.range(1);
  OffloadPlan plan;
  for (auto _ : state) plan = plan_offload(chain);
  state.counters["makespan"] = static_cast<double>(plan.run.makespan);
  state.counters["lower_bound"] = static_cast<double>(plan.lower_bound);
  state.counters["recompute_only"] =
      static_cast<double>(plan_offload(chain, {false, true}).run.makespan);
}

void plan_tapes_of_uneven_size(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const UnevenTapes chain{.forward = uneven(n, 50, 100),
                          .adjoint = uneven(n, 150, 100),
                          .state_units = uneven(n, 1000, 2000),
                          .tape_units = uneven(n, 3000, 6000),
                          .units = 2000 * state.range(1)};
  std::int64_t time = 0;
  for (auto _ : state) time = plan_uneven_tapes(chain)->time;
  state.counters["time"] = static_cast<double>(time);
}

void plan_joins(benchmark::State& state) {
  const JoinProblem problem{
      std::vector<std::int64_t>(static_cast<std::size_t>(state.range(0)), state.range(1)),
      state.range(2), false, false};
  JoinPlan plan;
  for (auto _ : state) plan = plan_join(problem);
  state.counters["advances"] = static_cast<double>(plan.advances);
  state.counters["exact"] = plan.exact ? 1 : 0;
}

// The stages of two fields, which read each other every so many.
void plan_graphs(benchmark::State& state) {
  const StepGraph graph = anadrome::test::two_fields_graph(
      static_cast<std::int32_t>(state.range(0)), static_cast<std::int32_t>(state.range(3)));
  const auto family = static_cast<SetFamily>(state.range(1));
  std::int64_t overhead = -1;
  for (auto _ : state) {
    const auto plan = plan_graph_within(graph, state.range(2), {family});
    overhead = plan ? plan->overhead : -1;
  }
  state.counters["overhead"] = static_cast<double>(overhead);
  state.counters["sets"] = static_cast<double>(lower_sets(graph, family).size());
}

BENCHMARK(revolve_actions)->Args({1000000, 20})->Args({1000000, 100});
BENCHMARK(mixed_actions)
    ->ArgNames({"n", "units", "tape"})
    ->Args({1000000, 20, 1})
    ->Args({1000000, 100, 1})
    ->Args({1000000, 100, 4})
    ->Args({1000000, 1000, 4})
    ->Args({100000000, 20, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_uneven_costs)
    ->ArgNames({"n", "slots"})
    ->Args({1000, 10})
    ->Args({1000, 100})
    ->Args({10000, 10})
    ->Args({10000, 100})
    ->Args({100000, 10})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_uneven_sizes)
    ->ArgNames({"n", "states"})
    ->Args({200, 10})
    ->Args({1000, 10})
    ->Args({10000, 10})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(unknown_end)
    ->ArgNames({"n", "slots"})
    ->Args({100000, 10})
    ->Args({100000, 100})
    ->Args({100000, 500})
    ->Args({1000000, 10000});

BENCHMARK(objects_actions)
    ->ArgNames({"n", "units", "objects", "tape"})
    ->Args({1000000, 100, 1, 4})
    ->Args({1000000, 100, 2, 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(double_actions)
    ->ArgNames({"n", "interval", "tape"})
    ->Args({1000000, 1000, 1})
    ->Args({1000000, 1000, 4})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_least_memory)
    ->ArgNames({"n", "released"})
    ->Args({300, 0})
    ->Args({1000000, 0})
    ->Args({1000000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_offloading)
    ->ArgNames({"n", "states"})
    ->Args({24, 12})
    ->Args({200, 12})
    ->Args({2000, 12})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_tapes_of_uneven_size)
    ->ArgNames({"n", "states"})
    ->Args({100, 20})
    ->Args({300, 20})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_joins)
    ->ArgNames({"branches", "steps", "slots"})
    ->Args({2, 100, 10})
    ->Args({3, 100, 6})
    ->Args({3, 100, 20})
    ->Args({64, 100, 100})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_graphs)
    ->ArgNames({"nodes", "ancestors", "bytes", "exchange"})
    ->Args({60, 0, 110, 1})
    ->Args({60, 0, 110, 5})
    ->Args({60, 0, 110, 30})
    ->Args({60, 1, 110, 5})
    ->Args({1000, 1, 800, 5})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
