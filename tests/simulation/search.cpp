// SPDX-License-Identifier: BSD-2-Clause
// simulation_search [--jobs N] [--seed FIRST] [--processes N] [--verbose]
//
// Random jobs of 1 to 8 ranks, each of which must end as job.h says. The first seeds that do not
// are printed with what they drew; `--seed S --jobs 1 --verbose` plays one of them again, turn by
// turn the same.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "job.h"
#include "real_threads.h"

namespace {

using namespace anadrome::simulation;
namespace fs = std::filesystem;

struct Sums {
  std::atomic<std::int64_t> jobs, runs, faults, resumed, errors, killed, hit, turns, unlike, next;
};

struct Options {
  std::int64_t jobs = 100;
  std::uint64_t first = 1;
  int processes = 1;
  bool verbose = false;
};

// One process: the next seed, until there is none. Every 50th job is carried out twice.
void search(const Options& options, int number, Sums& sums) {
  stay_on_a_core(number);
  const std::string directory = "/dev/shm/anadrome-simulation-" + std::to_string(getpid());
  fs::create_directory(directory);
  constexpr std::int64_t kTwice = 50, kMostFaults = 3;
  for (;;) {
    const std::int64_t mine = sums.next++;
    if (mine >= options.jobs || sums.faults >= kMostFaults) break;
    const Job job = Job::drawn(options.first + static_cast<std::uint64_t>(mine));
    if (options.verbose) std::printf("%s\n", job.text().c_str());
    std::fflush(stdout);
    const Result result = carry_out(job, directory);
    if (!result.fault.empty()) {
      ++sums.faults;
      std::printf("FAULT: %s\n  %s\n", result.fault.c_str(), job.text().c_str());
      std::fflush(stdout);
    }
    if (mine % kTwice == 0 && carry_out(job, directory).trace != result.trace) {
      ++sums.unlike;
      std::printf("NOT THE SAME AGAIN: %s\n", job.text().c_str());
    }
    ++sums.jobs;
    sums.runs += static_cast<std::int64_t>(job.runs.size());
    sums.resumed += result.resumed;
    sums.errors += result.errors;
    sums.killed += result.killed;
    sums.hit += result.hit;
    sums.turns += result.turns;
  }
  fs::remove_all(directory);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (flag == "--jobs") {
      options.jobs = std::atoll(value);
    } else if (flag == "--seed") {
      options.first = static_cast<std::uint64_t>(std::atoll(value));
    } else if (flag == "--processes") {
      options.processes = std::atoi(value);
    } else {
      std::fprintf(stderr, "usage: %s [--jobs N] [--seed FIRST] [--processes N] [--verbose]\n",
                   argv[0]);
      return 2;
    }
    ++i;
  }
  // scripts/mutants: up to 10,000 runs for each of them.
  if (const char* full = std::getenv("ANADROME_TEST_FULL"); full != nullptr) options.jobs *= 4;
  void* const shared =
      mmap(nullptr, sizeof(Sums), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const sums = new (shared) Sums{};
  const double start = real_seconds();
  for (int i = 0; i < options.processes; ++i) {
    if (fork() == 0) {
      search(options, i, *sums);
      _exit(0);
    }
  }
  while (wait(nullptr) > 0) {
  }
  const double seconds = real_seconds() - start;
  std::printf(
      "%lld jobs of %lld runs: %lld killed, %lld resumed, %lld faults hit, %lld clear errors; %lld "
      "turns\n",
      static_cast<long long>(sums->jobs), static_cast<long long>(sums->runs),
      static_cast<long long>(sums->killed), static_cast<long long>(sums->resumed),
      static_cast<long long>(sums->hit), static_cast<long long>(sums->errors),
      static_cast<long long>(sums->turns));
  std::printf("%.0f runs a second; not as it must be: %lld; not the same again: %lld\n",
              static_cast<double>(sums->runs) / seconds, static_cast<long long>(sums->faults),
              static_cast<long long>(sums->unlike));
  return sums->faults > 0 || sums->unlike > 0 || sums->jobs < options.jobs ? 1 : 0;
}
