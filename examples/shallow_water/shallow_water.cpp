// SPDX-License-Identifier: BSD-2-Clause
// Shallow water h_t + q_x = 0, q_t + (q^2/h + g h^2/2)_x = 0 on a periodic interval, cut into one
// piece per rank (Lax-Friedrichs); the gradient of J = dx/2 sum (h(T) - d)^2 with respect to the
// water level and the discharge at time 0; and its check. Exit code 1: the gradient is wrong.
#include <anadrome/anadrome.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int kCells = 400, kSteps = 1000;
constexpr double g = 9.81, dx = 1.0 / kCells, dt = 0.2 * dx, c = dt / (2.0 * dx);

struct Cell {
  double h, q;
};
Cell operator+(Cell a, Cell b) { return {a.h + b.h, a.q + b.q}; }
Cell operator-(Cell a, Cell b) { return {a.h - b.h, a.q - b.q}; }
Cell operator*(double s, Cell a) { return {s * a.h, s * a.q}; }
using Cells = std::vector<Cell>;

int rank, ranks;
std::vector<double> x;  // 2 pi times the places of this rank's cells

// The cells with one neighbour at each end.
Cells with_neighbours(const Cells& cells) {
  const int west = (rank + ranks - 1) % ranks, east = (rank + 1) % ranks;
  Cells padded = {{0.0, 0.0}, {0.0, 0.0}};
  padded.insert(padded.begin() + 1, cells.begin(), cells.end());
  MPI_Sendrecv(&cells.front(), 2, MPI_DOUBLE, west, 0, &padded.back(), 2, MPI_DOUBLE, east, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&cells.back(), 2, MPI_DOUBLE, east, 1, &padded.front(), 2, MPI_DOUBLE, west, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return padded;
}

Cell flux(Cell u) { return {u.q, u.q * u.q / u.h + 0.5 * g * u.h * u.h}; }

void step(Cells& u) {
  const Cells w = with_neighbours(u);
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = 0.5 * (w[i] + w[i + 2]) - c * (flux(w[i + 2]) - flux(w[i]));
}

// lambda_{k+1} -> lambda_k with x_k in u: the transposed Jacobian of the flux at x_k.
void adjoint_step(const Cells& u, Cells& lambda) {
  const Cells w = with_neighbours(lambda);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Cell jump = w[i + 2] - w[i];
    const double v = u[i].q / u[i].h;
    lambda[i] = 0.5 * (w[i] + w[i + 2]) +
                c * Cell{(g * u[i].h - v * v) * jump.q, jump.h + 2.0 * v * jump.q};
  }
}

Cells initial(double epsilon) {  // moved by epsilon times a direction
  Cells u;
  for (const double p : x)
    u.push_back(Cell{1.0 + 0.1 * std::sin(p), 0.2} +
                epsilon * Cell{std::cos(3.0 * p), std::sin(2.0 * p)});
  return u;
}

double total(double sum) {
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

double off(const Cells& u, std::size_t i) { return u[i].h - 1.0 - 0.05 * std::cos(x[i]); }

double objective(const Cells& u) {
  double sum = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += 0.5 * dx * off(u, i) * off(u, i);
  return total(sum);
}

// J, and dJ/dx_0 in lambda: what an adjoint code has to say to anadrome.
double gradient(Cells& lambda) {
  Cells u = initial(0.0);
  double value = 0.0;
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("memory", "200KiB");
  run.add_field("hq", &u.front().h, 2 * u.size());
  for (const anadrome::Action& action : run.sweep(kSteps)) {
    if (action.kind == ANADROME_ADVANCE)
      for (std::int64_t k = action.first; k < action.last; ++k) step(u);
    if (action.kind == ANADROME_TURN) {
      value = objective(u);
      for (std::size_t i = 0; i < u.size(); ++i) lambda.push_back({dx * off(u, i), 0.0});
    }
    if (action.kind == ANADROME_ADJOINT) adjoint_step(u, lambda);
  }
  return value;
}

// J(x_0 + e v) = J + e <gradient, v> + O(e^2): half the e, a quarter of the remainder.
double taylor_slope(double value, const Cells& lambda) {
  double derivative = 0.0, remainder[2];
  for (std::size_t i = 0; i < x.size(); ++i)
    derivative += lambda[i].h * std::cos(3.0 * x[i]) + lambda[i].q * std::sin(2.0 * x[i]);
  derivative = total(derivative);
  for (int half : {0, 1}) {
    const double epsilon = std::ldexp(1e-3, -half);
    Cells u = initial(epsilon);
    for (int k = 0; k < kSteps; ++k) step(u);
    remainder[half] = std::fabs(objective(u) - value - epsilon * derivative);
  }
  return std::log2(remainder[0] / remainder[1]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = rank * kCells / ranks; i < (rank + 1) * kCells / ranks; ++i)
    x.push_back(2.0 * M_PI * dx * i);
  double slope = 0.0;
  try {
    Cells lambda;
    const double value = gradient(lambda);
    slope = taylor_slope(value, lambda);
    if (rank == 0) std::printf("objective %.16e  taylor slope %.4f\n", value, slope);
  } catch (const anadrome::Error& error) {
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
  }
  std::fflush(stdout);  // mpirun ends every rank as soon as one stops with an exit code
  MPI_Finalize();
  return std::fabs(slope - 2.0) < 0.1 ? 0 : 1;
}
