// SPDX-License-Identifier: BSD-2-Clause
// bench_overlap: how long a reversal takes whose transfers run beside the computation, as planned,
// against the periodic plan, Revolve, and a time that cannot be beaten. Times are counted in
// forward steps; nothing is run. A table in Markdown on standard output.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "overlap_bound.h"
#include "planners/lists/overlapped.h"
#include "schedule/words/revolve.h"

namespace {

using namespace anadrome::schedule;

struct Problem {
  std::int64_t steps, slots;
  double write, read, adjoint;
};

constexpr Problem kProblems[] = {
    {100, 2, 8, 8, 2},       {100, 4, 16, 16, 2},   {100, 8, 30, 30, 1},   {300, 3, 4, 4, 1},
    {1000, 2, 4, 4, 1},      {1000, 2, 8, 8, 2},    {1000, 3, 16, 16, 2},  {1000, 4, 16, 16, 2},
    {1000, 4, 32, 16, 2},    {1000, 8, 64, 64, 2},  {10000, 1, 16, 16, 2}, {10000, 2, 8, 8, 2},
    {10000, 3, 2.5, 5, 1.5}, {10000, 4, 16, 16, 2}, {10000, 8, 64, 64, 2}, {10000, 8, 32, 32, 3},
    {10000, 16, 100, 100, 2}};

struct Periodic {
  double best = std::numeric_limits<double>::infinity();
  double published = std::numeric_limits<double>::infinity();
  std::int64_t interval = 0;  ///< of the best
};

// Every interval up to twice the published one, with and without an anchor read ahead.
Periodic periodic(const Problem& p, const OverlapTimes& times) {
  Periodic found;
  const auto published = static_cast<std::int64_t>(std::ceil(p.write));
  for (std::int64_t interval = 1; interval <= 2 * published + 10; ++interval) {
    for (const bool read_ahead : {false, true}) {
      if (read_ahead && p.slots == 1) continue;
      const double time = periodic_plan(p.steps, p.slots, times, interval, read_ahead).makespan;
      if (interval == published) found.published = std::min(found.published, time);
      if (time >= found.best) continue;
      found.best = time;
      found.interval = interval;
    }
  }
  return found;
}

void print_row(const Problem& p) {
  const OverlapTimes times{1, p.adjoint, p.write, p.read};
  const auto begin = std::chrono::steady_clock::now();
  const double plan = plan_overlapped(p.steps, p.slots, times).makespan;
  const std::chrono::duration<double> planning = std::chrono::steady_clock::now() - begin;
  const Periodic other = periodic(p, times);
  const double revolve = static_cast<double>(extra_advances(p.steps, p.slots)) +
                         static_cast<double>(p.steps) * p.adjoint;
  const double bound = anadrome::bench::overlapped_lower_bound(p.steps, p.slots, times);
  const auto more = [&](double time) { return 100 * (time / plan - 1); };
  std::printf("| %" PRId64 " | %" PRId64 " | %g | %g | %g | %.1f | %.1f (I = %" PRId64
              ") | +%.1f %% | +%.1f %% | +%.1f %% | %.1f | %.1f %% | %.2f |\n",
              p.steps, p.slots, p.write, p.read, p.adjoint, plan, other.best, other.interval,
              more(other.best), more(other.published), more(revolve), bound,
              100 * (plan / bound - 1), planning.count());
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::puts(
      "| n | slots | write | read | adjoint | planned | periodic, best interval | it takes longer "
      "| "
      "published interval | Revolve | lower bound | plan above it | seconds to plan |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Problem& problem : kProblems) print_row(problem);
  return 0;
}
