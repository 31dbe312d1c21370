// SPDX-License-Identifier: BSD-2-Clause
// Burgers' equation u_t + u (u_x + u_y) = nu (u_xx + u_yy) + a cos(t) on a torus, in strips of
// rows, one for each rank. Only the forward step is written: ADOL-C has the gradient of
// J = |u(T)|^2 / 2 by u(0), nu and a. A difference of J checks it.
// Exit code 1: it is wrong; 3: an error of the library.
//
//   ANADROME_OPTIONS="memory=512KiB report=-" mpirun -n 4 ./adolc_burgers
#include <anadrome/adolc.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

namespace {

constexpr int kRows = 24, kColumns = 48, kSteps = 400;  // rows of one rank
constexpr double kDt = 0.1;                             // in units of dx

int rank, ranks;

// A strip has a row of its neighbour at each end.
double* row(double* u, int r) { return u + (r + 1) * kColumns; }
void send(double* up, double* down, double* from_above, double* from_below) {
  const int above = (rank + ranks - 1) % ranks, below = (rank + 1) % ranks;
  MPI_Sendrecv(up, kColumns, MPI_DOUBLE, above, 0, from_below, kColumns, MPI_DOUBLE, below, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(down, kColumns, MPI_DOUBLE, below, 1, from_above, kColumns, MPI_DOUBLE, above, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void fill_halos(double* u, std::size_t) {
  send(row(u, 0), row(u, kRows - 1), row(u, -1), row(u, kRows));
}
// Its transpose: the weights of the halos go back to the rows that they are copies of.
void return_halos(double* w, std::size_t) {
  std::vector<double> first(kColumns), last(kColumns);
  send(row(w, -1), row(w, kRows), first.data(), last.data());
  for (int j = 0; j < kColumns; ++j) {
    row(w, 0)[j] += first[j];
    row(w, kRows - 1)[j] += last[j];
    row(w, -1)[j] = row(w, kRows)[j] = 0;
  }
}

struct Step {
  const anadrome::adolc::Exchange& exchange;

  template <class T>
  void operator()(std::vector<T>& u, const std::vector<T>& p, std::int64_t k) const {
    exchange(u);
    const std::vector<T> old = u;
    const T &nu = p[0], force = p[1] * std::cos(0.01 * static_cast<double>(k));
    for (int r = 0; r < kRows; ++r) {
      const int row = (r + 1) * kColumns;
      for (int j = 0; j < kColumns; ++j) {
        const T &w = old[row + j], &up = old[row - kColumns + j], &down = old[row + kColumns + j];
        const T &left = old[row + (j + kColumns - 1) % kColumns],
                &right = old[row + (j + 1) % kColumns];
        u[row + j] = w - kDt * w * (2.0 * w - left - up) +
                     nu * (left + right + up + down - 4.0 * w) + 1e-3 * force;
      }
    }
  }
};

struct Objective {
  template <class T>
  T operator()(const std::vector<T>& u, const std::vector<T>&) const {
    T sum = 0;
    for (int i = kColumns; i < (kRows + 1) * kColumns; ++i) sum += u[i] * u[i];
    return 0.5 * sum;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const anadrome::adolc::Exchange exchange(fill_halos, return_halos);
  const Step step{exchange};
  std::vector<double> u_0((kRows + 2) * kColumns), d(u_0.size());
  for (int i = kColumns; i < (kRows + 1) * kColumns; ++i) {
    const double y = rank + (i / kColumns - 1.0) / kRows, x = 2 * M_PI * i / kColumns;
    u_0[i] = 0.5 + 0.2 * std::sin(x) * std::cos(2 * M_PI * y / ranks);
    d[i] = std::cos(x);
  }
  const std::vector<double> p = {0.05, 0.3};
  anadrome::Derivatives J;
  {
    anadrome::Run run(MPI_COMM_WORLD);
    J = anadrome::adolc::gradient(run, MPI_COMM_WORLD, step, u_0, p, kSteps, Objective{});
  }
  // By central differences, in a direction.
  double both[2] = {std::inner_product(d.begin(), d.end(), J.by_state.begin(), 0.0), 0};
  for (const double e : {1e-4, -1e-4}) {
    std::vector<double> u = u_0, q = {p[0], p[1] + e};
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += e * d[i];
    for (int k = 0; k < kSteps; ++k) step(u, q, k);
    both[1] += Objective{}(u, q) / (2 * e);
  }
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double error = std::fabs((both[0] + J.by_parameters[1]) / both[1] - 1);
  if (rank == 0) {
    std::printf("J %.9f, dJ/dnu %.9f, dJ/da %.9f; by differences the same to %.0e\n", J.objective,
                J.by_parameters[0], J.by_parameters[1], error);
  }
  MPI_Finalize();
  return error < 1e-6 ? 0 : 1;
} catch (const std::exception& error) {  // on every rank
  if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
  MPI_Finalize();
  return 3;
}
