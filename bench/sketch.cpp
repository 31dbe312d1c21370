// SPDX-License-Identifier: BSD-2-Clause
// bench_sketch: seconds of a push and of a correlation of kind COUNT, beside a triad a = a + s b of
// as many doubles, whose a is one of as many arrays, in random order: what goes through the memory
// is alike. Each call is followed by a triad; all memory was touched before.
#include <anadrome/sketch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "flags.h"

namespace {

struct Setup {
  std::size_t count = 0;
  std::int64_t arrays = 0, steps = 0, rounds = 0;
};

Setup read_flags(int argc, char** argv) {
  bench::Flags flags(argc, argv);
  Setup setup;
  setup.count = static_cast<std::size_t>(flags.count("count", 1000000));
  setup.arrays = flags.count("arrays", 48);
  setup.steps = flags.count("steps", 200);
  setup.rounds = flags.count("rounds", 10);
  flags.end();
  return setup;
}

template <class Body>
double seconds(Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Not inlined: the sketch's loops lie behind a call, too.
__attribute__((noinline)) void triad(double* a, double s, const double* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = a[i] + s * b[i];
}

// The mean of a call, and of the triad after it.
template <class Call>
void measure(const Setup& setup, std::int64_t round, const char* part, std::vector<double>& a,
             const std::vector<double>& b, Call&& call) {
  double calls = 0, triads = 0;
  std::uint32_t random = 1;
  for (std::int64_t step = 0; step < setup.steps; ++step) {
    calls += seconds([&] { call(step); });
    random = random * 1664525u + 1013904223u;
    const auto arrays = static_cast<std::uint64_t>(setup.arrays);
    const std::size_t array = static_cast<std::size_t>(random * arrays >> 32);
    triads += seconds([&] { triad(a.data() + array * setup.count, 1e-3, b.data(), setup.count); });
  }
  const auto steps = static_cast<double>(setup.steps);
  std::printf("%d,%s,%.9g\n%d,%s_triad,%.9g\n", static_cast<int>(round), part, calls / steps,
              static_cast<int>(round), part, triads / steps);
}

void run(const Setup& setup) {
  std::vector<double> a(setup.count * static_cast<std::size_t>(setup.arrays), 1.0);
  const std::vector<double> b(setup.count, 1.0), x(setup.count, 1.0);
  std::printf("round,mode,seconds\n");
  for (std::int64_t round = 0; round <= setup.rounds; ++round) {  // the first one warms up
    anadrome::Sketch<double> sketch(setup.count, setup.arrays, round);
    measure(setup, round, "push", a, b, [&](std::int64_t step) { sketch.push(step, x); });
    measure(setup, round, "correlate", a, b, [&](std::int64_t step) { sketch.correlate(step, x); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(read_flags(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 3;
  }
}
