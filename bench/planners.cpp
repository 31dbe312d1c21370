// Nanoseconds per action of the schedules that a Planner places, per step of a sweep whose end is
// not known, and what a plan of uneven steps takes before the sweep begins. No I/O and no MPI.
#include <benchmark/benchmark.h>

#include <memory>

#include "schedule/mixed.h"
#include "schedule/nested.h"
#include "schedule/plain_planners.h"
#include "schedule/sequence.h"
#include "schedule/uneven.h"

namespace {

using namespace anadrome::schedule;

void per_event(benchmark::State& state, std::int64_t events, const char* name) {
  state.counters[name] = benchmark::Counter(
      static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

std::int64_t play(Nested nested) {
  std::int64_t actions = 0;
  for (Kind kind = Kind::kAdvance; kind != Kind::kDone; ++actions) {
    const Action action = nested.next();
    benchmark::DoNotOptimize(action);
    kind = action.kind;
  }
  return actions;
}

void revolve_actions(benchmark::State& state) {
  NestedOptions options;
  options.steps = state.range(0);
  options.units = state.range(1);
  std::int64_t actions = 0;
  for (auto _ : state) actions += play(Nested(options, std::make_unique<RevolvePlanner>()));
  per_event(state, actions, "per_action");
}

void mixed_actions(benchmark::State& state) {
  NestedOptions options;
  options.steps = state.range(0);
  options.units = state.range(1);
  options.tape_units = state.range(2);
  options.record = true;
  std::int64_t actions = 0;
  for (auto _ : state) {
    actions += play(Nested(options, std::make_unique<MixedPlanner>(options.tape_units, false)));
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
  for (auto _ : state) benchmark::DoNotOptimize(uneven_cost(steps));
  report(state, steps, state.range(1));
}

void plan_uneven_sizes(benchmark::State& state) {
  const std::vector<std::int64_t> sizes = uneven(state.range(0), 1000000, 2000000);
  const UnevenSteps steps{.costs = std::vector<std::int64_t>(sizes.size(), 1),
                          .state_bytes = sizes,
                          .bytes = 2000000 * state.range(1)};
  for (auto _ : state) benchmark::DoNotOptimize(uneven_cost(steps));
  report(state, steps, state.range(1));
}

// The forward sweep only: keeps, drops, advances of one step.
void unknown_end(benchmark::State& state) {
  std::int64_t steps = 0;
  for (auto _ : state) {
    Sequence sequence({.steps = kUnknown, .slots = state.range(1)});
    std::int64_t live = 0;
    while (live < state.range(0)) {
      const Action action = sequence.next();
      benchmark::DoNotOptimize(action);
      live = action.kind == Kind::kAdvance ? action.last : live;
    }
    steps += live;
  }
  per_event(state, steps, "per_step");
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

}  // namespace

BENCHMARK_MAIN();
