// SPDX-License-Identifier: BSD-2-Clause
// bench_planning: processor seconds and peak memory to plan a sweep with RAM and disk, and
// nanoseconds per action to go through it. Each case is a process of its own, so that the peak is
// its own. A Markdown table on standard output. `bench_planning all` has the cases that take
// minutes, too.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/multistage.h"
#include "schedule/stack/stack_sweep.h"

namespace {

using namespace anadrome::schedule;

enum class Schedule { kDiskRevolve, kHRevolve, kMultistage };

struct Case {
  Schedule schedule;
  std::int64_t steps, ram_slots, disk_slots, transfer;  ///< write = read, in advances
  bool sweep = true;                                    ///< go through its actions, too
};

struct Outcome {
  double plan_seconds = 0, cost = 0, nanoseconds_per_action = 0;
};

// Seconds of the processor: other programs do not count.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Outcome measure(const Case& given) {
  const TwoTierCosts costs{1, 0, given.transfer, given.transfer};
  Outcome measured;
  StackOptions options;
  options.steps = given.steps;
  options.units = given.ram_slots;
  options.disk_slots = given.disk_slots;
  options.turn = false;
  const double start = seconds();
  std::unique_ptr<Planner> planner;
  uint128 cost = 0;
  if (given.schedule == Schedule::kDiskRevolve) {
    auto disk = std::make_unique<DiskRevolvePlanner>(given.steps, given.ram_slots, costs);
    cost = disk->cost();
    options.disk_slots = disk->disk_slots();
    planner = std::move(disk);
  } else if (given.schedule == Schedule::kHRevolve) {
    auto disk =
        std::make_unique<HRevolvePlanner>(given.steps, given.ram_slots, given.disk_slots, costs);
    cost = disk->cost();
    planner = std::move(disk);
  } else {
    cost = two_tier_cost(
        given.steps,
        anadrome::schedule::multistage_use(given.steps, given.ram_slots, given.disk_slots), costs);
    planner = std::make_unique<MultistagePlanner>();
  }
  measured.plan_seconds = seconds() - start;
  measured.cost = static_cast<double>(cost);
  if (!given.sweep) return measured;
  StackSweep sweep(options, std::move(planner));
  const double sweep_start = seconds();
  std::int64_t actions = 1;
  while (!std::holds_alternative<Done>(sweep.next())) ++actions;
  measured.nanoseconds_per_action = (seconds() - sweep_start) / static_cast<double>(actions) * 1e9;
  return measured;
}

const char* name_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::kDiskRevolve:
      return "Disk-Revolve";
    case Schedule::kHRevolve:
      return "H-Revolve";
    case Schedule::kMultistage:
      break;
  }
  return "multistage";
}

// Runs in a child, which reports through a pipe.
bool run(const Case& given) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    try {
      const Outcome measured = measure(given);
      const bool whole = write(ends[1], &measured, sizeof measured) == sizeof measured;
      std::_Exit(whole ? 0 : 3);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_planning: %s\n", error.what());
      std::_Exit(3);
    }
  }
  close(ends[1]);
  Outcome measured;
  const bool whole = read(ends[0], &measured, sizeof measured) == sizeof measured;
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  if (!whole || status != 0) return false;
  const std::string disk = given.schedule == Schedule::kDiskRevolve
                               ? std::string("any")
                               : std::to_string(given.disk_slots);
  std::printf("| %s | %" PRId64 " | %" PRId64 " | %s | %" PRId64 " | %.4f | %.0f | %.6g |",
              name_of(given.schedule), given.steps, given.ram_slots, disk.c_str(), given.transfer,
              measured.plan_seconds, static_cast<double>(used.ru_maxrss) / 1024, measured.cost);
  if (given.sweep) std::printf(" %.0f |\n", measured.nanoseconds_per_action);
  if (!given.sweep) std::printf(" |\n");
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases;
  for (const std::int64_t transfer : {2, 20, 200}) {
    for (const std::int64_t steps : {10000, 100000}) {
      cases.push_back({Schedule::kHRevolve, steps, 5, 10, transfer});
    }
  }
  for (const std::int64_t ram_slots : {1, 2, 3}) {
    cases.push_back({Schedule::kHRevolve, 100000, ram_slots, 10, 2});
  }
  cases.push_back({Schedule::kHRevolve, 10000, 5, 100, 20});
  cases.push_back({Schedule::kHRevolve, 10000, 1, 1000, 2});
  for (const std::int64_t transfer : {2, 200, 20000, 2000000}) {
    cases.push_back({Schedule::kDiskRevolve, 1000000, 5, 0, transfer, transfer == 200});
  }
  cases.push_back({Schedule::kDiskRevolve, 1000000, 1, 0, 20000, false});
  cases.push_back({Schedule::kDiskRevolve, 1000000, 1, 0, 2000000, false});
  cases.push_back({Schedule::kDiskRevolve, 1000000000000, 5, 0, 200, false});
  cases.push_back({Schedule::kMultistage, 1000000, 5, 10, 20});
  if (argc > 1 && std::strcmp(argv[1], "all") == 0) {
    for (const std::int64_t transfer : {2, 20, 200}) {
      cases.push_back({Schedule::kHRevolve, 1000000, 5, 10, transfer, false});
    }
  }
  std::puts(
      "| schedule | steps | RAM | disk | w = r | plan, s | peak, MiB | cost | ns per action |");
  std::puts("|---|---|---|---|---|---|---|---|---|");
  bool good = true;
  for (const Case& given : cases) good = run(given) && good;
  return good ? 0 : 3;
}
