// SPDX-License-Identifier: BSD-2-Clause
// Nanoseconds per action of a schedule, per step of a run with tiny states, per keep and restore.
// ADOL-C's revolve() beside Revolve, where ADOL-C is installed.
#include <anadrome/anadrome.h>
#include <anadrome/store.h>
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "engine/sweep/live_state.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/stack/stack_sweep.h"
#include "store/tiers/ram_tier.h"
#ifdef ANADROME_BENCH_ADOLC
#include <adolc/revolve.h>
#endif

namespace {

void check(anadrome_status status) {
  if (status == ANADROME_OK) return;
  std::fprintf(stderr, "bench_micro: %s\n", anadrome_last_error());
  std::exit(3);
}

void per_event(benchmark::State& state, std::int64_t events, const char* name) {
  state.counters[name] = benchmark::Counter(
      static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetItemsProcessed(events);
}

// Actions of Revolve: advances, keeps, restores, drops, adjoints.
void revolve_actions(benchmark::State& state) {
  using namespace anadrome::schedule;
  std::int64_t actions = 0;
  for (auto _ : state) {
    StackSweep sweep({.steps = state.range(0), .units = state.range(1), .x_0 = Place::kRam},
                     std::make_unique<RevolvePlanner>());
    for (bool goes_on = true; goes_on; ++actions) {
      const Action action = sweep.next();
      benchmark::DoNotOptimize(action);
      goes_on = !std::holds_alternative<Done>(action);
    }
  }
  per_event(state, actions, "per_action");
}

#ifdef ANADROME_BENCH_ADOLC
void adolc_revolve_actions(benchmark::State& state) {
  std::int64_t actions = 0;
  for (auto _ : state) {
    int check = -1, capo = 0, fine = static_cast<int>(state.range(0)), info = 0;
    revolve_action action = revolve_advance;
    while (action != revolve_terminate && action != revolve_error) {
      action = revolve(&check, &capo, &fine, static_cast<int>(state.range(1)), &info);
      benchmark::DoNotOptimize(action);
      ++actions;
    }
  }
  per_event(state, actions, "per_action");
}
#endif

struct Sweep {
  explicit Sweep(std::size_t doubles, const char* schedule, const char* memory) : u(doubles, 1.0) {
    check(anadrome_open(MPI_COMM_WORLD, &run));
    const char* directory = std::getenv("ANADROME_BENCH_DIRECTORY");
    check(anadrome_set(run, "directory", directory != nullptr ? directory : "."));
    check(anadrome_set(run, "schedule", schedule));
    check(anadrome_set(run, "memory", memory));
    check(anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, u.data(), u.size()));
  }
  ~Sweep() { anadrome_close(&run); }

  // A step and its adjoint that cost next to nothing: what is measured is the library.
  void go(std::int64_t steps) {
    check(anadrome_begin(run, steps));
    anadrome_action action;
    for (;;) {
      check(anadrome_next(run, &action));
      if (action.kind == ANADROME_DONE) break;
      if (action.kind == ANADROME_ADVANCE) u[0] += static_cast<double>(action.last - action.first);
    }
  }
  anadrome_stats statistics() const {
    anadrome_stats stats;
    stats.size = sizeof stats;
    check(anadrome_statistics(run, &stats));
    return stats;
  }

  anadrome_run* run = nullptr;
  std::vector<double> u;
};

// Everything a step costs, forward and adjoint, with 24-byte states.
void tiny_states(benchmark::State& state, const char* schedule, const char* memory,
                 const char* interval) {
  const std::int64_t steps = state.range(0);
  Sweep sweep(3, schedule, memory);
  if (interval != nullptr) check(anadrome_set(sweep.run, "interval", interval));
  sweep.go(steps);  // memory is warm afterwards
  for (auto _ : state) sweep.go(steps);
  per_event(state, steps * static_cast<std::int64_t>(state.iterations()), "per_step");
  const anadrome_stats stats = sweep.statistics();
  state.counters["states_per_write"] = static_cast<double>(stats.states_per_write);
  state.counters["MB_written"] = static_cast<double>(stats.bytes_written) / 1e6;
}

// One state of state.range(0) bytes into the pool, or out of it, `slots` of them in turn.
void ram_slot(benchmark::State& state, bool keep) {
  using namespace anadrome;
  constexpr std::int64_t kSlots = 64;
  std::vector<double> u(static_cast<std::size_t>(state.range(0)) / sizeof(double), 1.0);
  store::Field field;
  field.name = "u";
  field.type = ANADROME_FLOAT64;
  field.count = static_cast<std::int64_t>(u.size());
  field.values = u.data();
  const std::vector<store::Field> fields = {field};
  const store::BlockLayout layout(
      store::choose_block_shape({.state_bytes = field.bytes()}, std::int64_t{1} << 30), fields);
  store::Pool pool(layout.block_bytes(), kSlots / layout.states() + 1);
  store::BlockKeeper blocks(pool);
  engine::LiveState live(layout, fields, blocks);
  store::RamTier slots(layout, blocks, live);
  for (std::int64_t slot = 0; slot < kSlots; ++slot) slots.keep({slot, 0});
  std::int64_t operations = 0;
  for (auto _ : state) {
    if (keep) {  // the pool's turn, as in a stack of checkpoints: the dropped slot is kept again
      slots.drop(kSlots - 1);
      slots.keep({kSlots - 1, 0});
    } else {
      slots.restore({operations % kSlots, 0});
    }
    ++operations;
    benchmark::ClobberMemory();
  }
  per_event(state, operations, keep ? "per_keep" : "per_restore");
}

// Objects of state.range(0) bytes, state.range(1) of them in turn, put in place of the one before,
// or got. All are in memory.
void store_object(benchmark::State& state, bool put) {
  const char* directory = std::getenv("ANADROME_BENCH_DIRECTORY");
  const std::string options =
      std::string("memory=2GiB directory=") + (directory != nullptr ? directory : ".");
  anadrome_store* store = nullptr;
  check(anadrome_store_open(MPI_COMM_WORLD, options.c_str(), &store));
  std::vector<std::byte> values(static_cast<std::size_t>(state.range(0)), std::byte{1});
  const anadrome_part part = {"u", ANADROME_BYTE, values.size(), values.data()};
  const std::int64_t objects = state.range(1);
  for (std::int64_t key = 0; key < 2 * objects; ++key) {  // memory is warm afterwards
    check(anadrome_store_put(store, key % objects, 1, &part));
  }
  std::int64_t operations = 0;
  for (auto _ : state) {
    const std::int64_t key = operations++ % objects;
    check(put ? anadrome_store_put(store, key, 1, &part)
              : anadrome_store_get(store, key, 1, &part));
  }
  check(anadrome_store_close(&store));
  per_event(state, operations, put ? "per_keep" : "per_restore");
}

// The cost of one copy of the same size here, to one place or to as many in turn as the objects
// have.
void copy(benchmark::State& state, std::size_t places) {
  std::vector<std::byte> from(static_cast<std::size_t>(state.range(0)), std::byte{1});
  std::vector<std::byte> to(places * from.size());
  std::size_t place = 0;
  for (auto _ : state) {
    std::memcpy(to.data() + place * from.size(), from.data(), from.size());
    benchmark::ClobberMemory();
    place = (place + 1) % places;
  }
  per_event(state, static_cast<std::int64_t>(state.iterations()), "per_copy");
}

}  // namespace

int main(int argc, char** argv) {
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  benchmark::RegisterBenchmark("revolve/anadrome", revolve_actions)
      ->Args({1000, 10})
      ->Args({100000, 20})
      ->Args({1000000, 100});
#ifdef ANADROME_BENCH_ADOLC
  benchmark::RegisterBenchmark("revolve/adolc", adolc_revolve_actions)
      ->Args({1000, 10})
      ->Args({100000, 20})
      ->Args({1000000, 100});
#endif
  for (const std::int64_t bytes : {24, 256, 1024, 4096, 16384, 65536}) {
    benchmark::RegisterBenchmark("keep", ram_slot, true)->Arg(bytes);
    benchmark::RegisterBenchmark("restore", ram_slot, false)->Arg(bytes);
    benchmark::RegisterBenchmark("copy", copy, 1)->Arg(bytes);
  }
  benchmark::RegisterBenchmark("store/put", store_object, true)
      ->Args({24, 1000000})
      ->Args({8 << 20, 20});
  benchmark::RegisterBenchmark("store/get", store_object, false)
      ->Args({24, 1000000})
      ->Args({8 << 20, 20});
  benchmark::RegisterBenchmark("copy_large", copy, 20)->Args({8 << 20, 20});
  benchmark::RegisterBenchmark(
      "tiny/store_all",
      [](benchmark::State& state) { tiny_states(state, "store_all", "1GiB", nullptr); })
      ->Arg(1000000)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  benchmark::RegisterBenchmark(
      "tiny/revolve",
      [](benchmark::State& state) { tiny_states(state, "revolve", "64KiB", nullptr); })
      ->Arg(1000000)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  benchmark::RegisterBenchmark(
      "tiny/disk", [](benchmark::State& state) { tiny_states(state, "async", "64MiB", "1"); })
      ->Arg(10000000)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  MPI_Finalize();
  return 0;
}
