// SPDX-License-Identifier: BSD-2-Clause
// As sweep.c, with anadrome.hpp. Prints "equal" on rank 0.
#include <anadrome/anadrome.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int kSteps = 60;

void step(std::vector<double>& x) {
  for (double& value : x) value += 0.05 * std::sin(value);
}

void adjoint_step(const std::vector<double>& x, std::vector<double>& lambda) {
  for (std::size_t i = 0; i < x.size(); ++i) lambda[i] *= 1.0 + 0.05 * std::cos(x[i]);
}

std::vector<double> initial_state(int rank) {
  std::vector<double> x(1000 - 100 * static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.01 * static_cast<double>(i) + rank;
  return x;
}

std::vector<double> turn(const std::vector<double>& x) {
  std::vector<double> lambda;
  for (const double value : x) lambda.push_back(2.0 * value);
  return lambda;
}

std::vector<double> by_hand(int rank) {
  std::vector<std::vector<double>> states = {initial_state(rank)};
  for (int k = 0; k < kSteps; ++k) {
    states.push_back(states.back());
    step(states.back());
  }
  std::vector<double> lambda = turn(states.back());
  for (int k = kSteps - 1; k >= 0; --k) adjoint_step(states[static_cast<std::size_t>(k)], lambda);
  return lambda;
}

std::vector<double> with_anadrome(int rank) {
  std::vector<double> x = initial_state(rank), lambda;
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("memory", "100KiB");
#if __cplusplus >= 202002L
  run.add_field("x", std::span<double>(x));
#else
  run.add_field("x", x);
#endif
  for (const anadrome::Action& action : run.sweep(kSteps)) {
    if (action.kind == ANADROME_ADVANCE)
      for (std::int64_t k = action.first; k < action.last; ++k) step(x);
    if (action.kind == ANADROME_TURN) lambda = turn(x);
    if (action.kind == ANADROME_ADJOINT) adjoint_step(x, lambda);
  }
  return lambda;
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0, equal = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    equal = with_anadrome(rank) == by_hand(rank) ? 1 : 0;
  } catch (const anadrome::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\n", equal == 1 ? "equal" : "DIFFERENT");
  MPI_Finalize();
  return equal == 1 ? 0 : 1;
}
