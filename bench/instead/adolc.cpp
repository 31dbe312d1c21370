// SPDX-License-Identifier: BSD-2-Clause
// The problem with its forward step alone, which ADOL-C records:
//   bench_instead_adolc WAY SIDE STEPS SLOTS GRADIENT_FILE DIRECTORY
// WAY: adolc (its own checkpointing), anadrome, nothing (no state is kept). Prints
// seconds,forward_steps and the most bytes of memory.
#include <adolc/checkpointing.h>
#include <sys/resource.h>

#include <anadrome/adolc.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "../adolc_checkpoints.h"
#include "../guarded_main.h"
#include "reaction.h"

namespace {

std::size_t side;
long forward_steps;  // those that were not recorded

// Linear and its own transpose, which ADOL-C is told.
void diffuse(double* u, std::size_t cells) {
  std::vector<double> of(u, u + cells);
  reaction::diffusion(side, of.data(), [&](std::size_t i, double d) { u[i] = d; });
}
const anadrome::adolc::Exchange kDiffuse(diffuse, diffuse);

void step(double* u, std::size_t) {
  static std::vector<double> work;
  work.resize(side * side);
  ++forward_steps;
  reaction::step(side, u, work.data());
}
void step(adouble* u, std::size_t cells) {
  std::vector<adouble> spread(u, u + cells);
  kDiffuse(spread);
  for (std::size_t i = 0; i < cells; ++i)
    u[i] += reaction::kDt * (spread[i] + reaction::rate(u[i]));
}

template <class T>
T half_of_squares(const T* u, std::size_t cells) {
  T sum = 0;
  for (std::size_t i = 0; i < cells; ++i) sum += u[i] * u[i];
  return 0.5 * sum;
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

std::vector<double> by_adolc(const std::vector<double>& u_0, int steps, int slots) {
  static CP_Context context(recorded_step);
  std::vector<double> gradient;
  bench::by_adolc_checkpoints(context, step_of_doubles, u_0, steps, slots, half_of_squares<adouble>,
                              gradient);
  return gradient;
}

std::vector<double> by_anadrome(const std::vector<double>& u_0, int steps, int slots,
                                const std::string& directory) {
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("memory", std::to_string(static_cast<std::size_t>(slots) * u_0.size() * 8) + "B");
  run.set("directory", directory);
  return anadrome::adolc::gradient(run, MPI_COMM_WORLD, kStep, u_0, {}, steps, kObjective).by_state;
}

std::vector<double> by_nothing(std::vector<double> u, int steps) {
  const std::vector<double> nothing;
  std::vector<double> lambda = u, none;
  for (int k = 0; k < steps; ++k) kStep(u, nothing, k);
  anadrome::adolc::reverse(kStep, u, none, 0, lambda, none);
  return lambda;
}

void body(int argc, char** argv) {
  if (argc != 7) throw std::runtime_error("WAY SIDE STEPS SLOTS GRADIENT_FILE DIRECTORY");
  const std::string way = argv[1];
  side = std::stoul(argv[2]);
  const int steps = std::stoi(argv[3]), slots = std::stoi(argv[4]);
  std::vector<double> u_0(side * side);
  reaction::fill(side, u_0.data());
  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> gradient = way == "adolc"      ? by_adolc(u_0, steps, slots)
                                       : way == "anadrome" ? by_anadrome(u_0, steps, slots, argv[6])
                                                           : by_nothing(u_0, steps);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  std::printf("%.6f,%ld,%ld\n", took.count(), forward_steps, 1024 * used.ru_maxrss);
  std::FILE* out = std::fopen(argv[5], "wb");
  if (!out || std::fwrite(gradient.data(), 8, gradient.size(), out) != gradient.size())
    throw std::runtime_error("cannot write the gradient");
  std::fclose(out);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::guarded_main(argc, argv, [&] { body(argc, argv); });
}
