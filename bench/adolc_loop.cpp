// SPDX-License-Identifier: BSD-2-Clause
// A loop of which only the forward step is written, reversed in as many states' memory by
// anadrome::adolc and by ADOL-C's own checkpointing, which is Revolve in RAM. Both record a step
// anew before they reverse it. One rank: ADOL-C knows no MPI. Prints CSV.
#include <adolc/checkpointing.h>

#include <anadrome/adolc.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "adolc_checkpoints.h"
#include "flags.h"
#include "guarded_main.h"

namespace {

std::int64_t steps_of_doubles;  // how often a step was computed without being recorded

// An Arrhenius reaction, and implicit diffusion on a torus of side^2 cells by Jacobi's iteration,
// of which ADOL-C is told that it is linear and its own transpose.
std::size_t side;
std::int64_t iterations;
void diffuse(double* u, std::size_t cells) {
  constexpr double kNumber = 2;  // diffusivity * dt / dx^2
  static std::vector<double> right, next;
  right.assign(u, u + cells);
  next.resize(cells);
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (std::size_t r = 0; r < side; ++r) {
      const double *here = u + r * side, *up = u + (r + side - 1) % side * side,
                   *down = u + (r + 1) % side * side, *of = right.data() + r * side;
      double* to = next.data() + r * side;
      const auto at = [&](std::size_t c, std::size_t left, std::size_t after) {
        to[c] =
            (of[c] + kNumber * (here[left] + here[after] + up[c] + down[c])) / (1 + 4 * kNumber);
      };
      at(0, side - 1, 1);
      for (std::size_t c = 1; c + 1 < side; ++c) at(c, c - 1, c + 1);
      at(side - 1, side - 2, 0);
    }
    std::copy(next.begin(), next.end(), u);
  }
}
const anadrome::adolc::Exchange kDiffuse(diffuse, diffuse);

template <class T>
void step(T* u, std::size_t cells) {
  if (std::is_same_v<T, double>) ++steps_of_doubles;
  std::vector<T> v(cells);
  for (std::size_t i = 0; i < cells; ++i)
    v[i] = u[i] + 0.05 * (1.0 - u[i]) * exp(-1.0 / (u[i] + 0.1));
  kDiffuse(v);
  std::copy(v.begin(), v.end(), u);
}

template <class T>
T half_of_squares(const T* u, std::size_t cells) {
  T sum = 0;
  for (std::size_t i = 0; i < cells; ++i) sum += u[i] * u[i];
  return 0.5 * sum;
}

struct Measured {
  double seconds = 0;
  std::int64_t forward_steps = 0;
  double objective = 0;
  std::vector<double> gradient;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Measured timed(const std::function<void(Measured&)>& sweep) {
  Measured measured;
  steps_of_doubles = 0;
  const auto start = std::chrono::steady_clock::now();
  sweep(measured);
  measured.seconds = seconds_since(start);
  measured.forward_steps = steps_of_doubles;
  return measured;
}

const auto kStep = [](auto& u, const auto&, std::int64_t) { step(u.data(), u.size()); };
const auto kObjective = [](const auto& u, const auto&) {
  return half_of_squares(u.data(), u.size());
};

int step_of_doubles(int cells, double* u) {
  step(u, static_cast<std::size_t>(cells));
  return 0;
}
int recorded_step(int cells, adouble* u) {
  step(u, static_cast<std::size_t>(cells));
  return 0;
}

void by_adolc(const std::vector<double>& u_0, int steps, int slots, Measured& measured) {
  static CP_Context context(recorded_step);
  measured.objective = bench::by_adolc_checkpoints(context, step_of_doubles, u_0, steps, slots,
                                                   half_of_squares<adouble>, measured.gradient);
}

void body(int argc, char** argv) {
  bench::Flags flags(argc, argv);
  side = static_cast<std::size_t>(flags.count("side", 128));
  iterations = flags.count("iterations", 50);
  const std::size_t cells = side * side;
  const std::int64_t steps = flags.count("steps", 1000), slots = flags.count("slots", 5),
                     rounds = flags.count("rounds", 5);
  const std::string directory = flags.text("directory", ".");
  flags.end();
  std::vector<double> u_0(cells);
  for (std::size_t i = 0; i < cells; ++i)
    u_0[i] = 0.3 + 0.2 * std::sin(2 * M_PI * static_cast<double>(i) / static_cast<double>(cells));

  std::vector<double> u = u_0, lambda = u_0, nothing;
  std::printf(
      "round,mode,state_bytes,steps,slots,seconds,forward_steps,step_seconds,adjoint_seconds,"
      "difference\n");
  for (std::int64_t round = 0; round <= rounds; ++round) {
    // A step and the recording and reversal of one, in this turn.
    const int few = 50;
    u = u_0;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < few; ++i) kStep(u, nothing, i);
    const double step_seconds = seconds_since(start) / few;
    start = std::chrono::steady_clock::now();
    for (int i = 0; i < few; ++i) anadrome::adolc::reverse(kStep, u, nothing, i, lambda, nothing);
    const double adjoint_seconds = seconds_since(start) / few;

    const Measured theirs = timed(
        [&](Measured& m) { by_adolc(u_0, static_cast<int>(steps), static_cast<int>(slots), m); });
    const Measured ours = timed([&](Measured& m) {
      anadrome::Run run(MPI_COMM_WORLD);
      run.set("memory",
              std::to_string(slots * static_cast<std::int64_t>(cells * sizeof(double))) + "B");
      run.set("directory", directory);
      anadrome::Derivatives J =
          anadrome::adolc::gradient(run, MPI_COMM_WORLD, kStep, u_0, {}, steps, kObjective);
      m.objective = J.objective;
      m.gradient = std::move(J.by_state);
    });
    double difference = std::fabs(ours.objective / theirs.objective - 1);
    for (std::size_t i = 0; i < cells; ++i)
      difference = std::max(difference, std::fabs(ours.gradient[i] / theirs.gradient[i] - 1));
    for (const auto& [mode, m] : {std::pair{"adolc", &theirs}, std::pair{"anadrome", &ours}}) {
      std::printf("%lld,%s,%zu,%lld,%lld,%.6f,%lld,%.3e,%.3e,%.1e\n", static_cast<long long>(round),
                  mode, cells * sizeof(double), static_cast<long long>(steps),
                  static_cast<long long>(slots), m->seconds,
                  static_cast<long long>(m->forward_steps), step_seconds, adjoint_seconds,
                  difference);
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::guarded_main(argc, argv, [&] { body(argc, argv); });
}
