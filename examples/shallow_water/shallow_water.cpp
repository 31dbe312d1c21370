// Shallow water h_t + q_x = 0, q_t + (q^2/h + g h^2/2)_x = 0 on a periodic interval, cut into one
// piece per rank (Lax-Friedrichs); the gradient of J = dx/2 sum (h(T) - d)^2 with respect to the
// water level and the discharge at time 0; and its check. Exit code 1: the gradient is wrong.
//   mpirun -n 2 shallow_water [steps]
#include <mpi.h>

#include <anadrome/anadrome.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kCells = 400;
constexpr double kGravity = 9.81, dx = 1.0 / kCells, dt = 0.2 * dx, c = dt / (2.0 * dx);

struct Cell {
  double h, q;
};
using Cells = std::vector<Cell>;

int rank, ranks, first;

// The cells with one neighbour at each end.
Cells with_neighbours(const Cells& cells) {
  Cells padded(cells.size() + 2);
  std::copy(cells.begin(), cells.end(), padded.begin() + 1);
  const int west = (rank + ranks - 1) % ranks, east = (rank + 1) % ranks;
  MPI_Sendrecv(&cells.front(), 2, MPI_DOUBLE, west, 0, &padded.back(), 2, MPI_DOUBLE, east, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&cells.back(), 2, MPI_DOUBLE, east, 1, &padded.front(), 2, MPI_DOUBLE, west, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return padded;
}

Cell flux(const Cell& u) { return {u.q, u.q * u.q / u.h + 0.5 * kGravity * u.h * u.h}; }

void step(Cells& u) {
  const Cells old = with_neighbours(u);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Cell &west = old[i], &east = old[i + 2];
    const Cell in = flux(west), out = flux(east);
    u[i] = {0.5 * (west.h + east.h) - c * (out.h - in.h),
            0.5 * (west.q + east.q) - c * (out.q - in.q)};
  }
}

// lambda_{k+1} -> lambda_k with x_k in u: the transposed Jacobian of the flux at x_k.
void adjoint_step(const Cells& u, Cells& lambda) {
  const Cells old = with_neighbours(lambda);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Cell &west = old[i], &east = old[i + 2];
    const double v = u[i].q / u[i].h, jump_h = east.h - west.h, jump_q = east.q - west.q;
    lambda[i] = {0.5 * (west.h + east.h) + c * (kGravity * u[i].h - v * v) * jump_q,
                 0.5 * (west.q + east.q) + c * (jump_h + 2.0 * v * jump_q)};
  }
}

double place(std::size_t i) { return 2.0 * M_PI * dx * (first + static_cast<double>(i)); }

double target(std::size_t i) { return 1.0 + 0.05 * std::cos(place(i)); }

Cells initial(double epsilon) {  // moved by epsilon times a direction
  Cells u(static_cast<std::size_t>((rank + 1) * kCells / ranks - first));
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = {1.0 + 0.1 * std::sin(place(i)) + epsilon * std::cos(3.0 * place(i)),
            0.2 + epsilon * std::sin(2.0 * place(i))};
  return u;
}

double total(double sum) {
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

double objective(const Cells& u) {
  double sum = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += 0.5 * dx * std::pow(u[i].h - target(i), 2);
  return total(sum);
}

// dJ/dx_0 in lambda: what an adjoint code has to say to anadrome.
double gradient(std::int64_t steps, Cells& lambda) {
  Cells u = initial(0.0);
  double value = 0.0;
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("memory", "200KiB");
  run.add_field("hq", &u.front().h, 2 * u.size());
  for (const anadrome::Action& action : run.sweep(steps)) {
    if (action.kind == ANADROME_ADVANCE)
      for (std::int64_t k = action.first; k < action.last; ++k) step(u);
    if (action.kind == ANADROME_TURN) {
      value = objective(u);
      for (std::size_t i = 0; i < u.size(); ++i) lambda.push_back({dx * (u[i].h - target(i)), 0.0});
    }
    if (action.kind == ANADROME_ADJOINT) adjoint_step(u, lambda);
  }
  return value;
}

// J(x_0 + e v) = J + e <gradient, v> + O(e^2): half the e, a quarter of the remainder.
double taylor_slope(std::int64_t steps, double value, const Cells& lambda) {
  const Cells base = initial(0.0), moved = initial(1.0);
  double derivative = 0.0, remainder[2];
  for (std::size_t i = 0; i < base.size(); ++i)
    derivative += lambda[i].h * (moved[i].h - base[i].h) + lambda[i].q * (moved[i].q - base[i].q);
  derivative = total(derivative);
  for (int half : {0, 1}) {
    const double epsilon = std::ldexp(1e-3, -half);
    Cells u = initial(epsilon);
    for (std::int64_t k = 0; k < steps; ++k) step(u);
    remainder[half] = std::fabs(objective(u) - value - epsilon * derivative);
  }
  return std::log2(remainder[0] / remainder[1]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first = rank * kCells / ranks;
  int exit_code = 1;
  try {
    const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 1000;
    Cells lambda;
    const double value = gradient(steps, lambda);
    const double slope = taylor_slope(steps, value, lambda);
    if (rank == 0) std::printf("objective %.16e  taylor slope %.4f\n", value, slope);
    exit_code = std::fabs(slope - 2.0) < 0.1 ? 0 : 1;
  } catch (const anadrome::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return exit_code;
}
