// SPDX-License-Identifier: BSD-2-Clause
// A ring of coupled pendulums, distributed over the MPI ranks, by leapfrog with a Robert-Asselin
// filter, and the gradient of J = 1/2 sum_i (q_i(T) - target_i)^2, target_i = 0.5 cos(0.01 i), by
// q(0) and v(0) with the discrete adjoint. The states are kept by anadrome; a second gradient, with
// every state in memory, must have the same bits.
//
//   q' = v,   v'_i = -sin q_i + kSpring (q_{i-1} - 2 q_i + q_{i+1})
//
// With y = (q, v), f its rate of change and Y the filtered levels:
//
//   y_1     = y_0 + dt f(y_0),  Y_0 = y_0               step 0, by Euler
//   y_{k+1} = Y_{k-1} + 2 dt f(y_k)                     step k
//   Y_k     = y_k + kFilter (Y_{k-1} - 2 y_k + y_{k+1})
#include <anadrome/anadrome.hpp>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr std::size_t kPendulums = 1001;  // an odd number: two ranks have different parts
constexpr std::int64_t kSteps = 1000;
constexpr double kDt = 0.02, kSpring = 4, kFilter = 0.05;

// One time level on this rank: all positions, then all velocities.
using Level = std::vector<double>;

// Which pendulums this rank has, and who has the neighbours of the first and the last.
struct Ring {
  MPI_Comm comm;
  int rank = 0, ranks = 1;
  std::size_t first, count;

  explicit Ring(MPI_Comm comm) : comm(comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(ranks);
    first = kPendulums * r / n;
    count = kPendulums * (r + 1) / n - first;
  }

  // second[i] = x_{i-1} - 2 x_i + x_{i+1}. The two values of the neighbours are fetched each time,
  // so they are not part of the state. The operator is its own transpose.
  void second_difference(const double* x, Level& second) const {
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    double before, after;
    MPI_Sendrecv(x, 1, MPI_DOUBLE, left, 0, &after, 1, MPI_DOUBLE, right, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(x + count - 1, 1, MPI_DOUBLE, right, 1, &before, 1, MPI_DOUBLE, left, 1, comm,
                 MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < count; ++i)
      second[i] = (i == 0 ? before : x[i - 1]) - 2 * x[i] + (i + 1 == count ? after : x[i + 1]);
  }
};

// Before step k, y[k % 2] is y_k and y[(k + 1) % 2] is Y_{k-1}. Step k overwrites Y_{k-1} with
// y_{k+1} and y_k with Y_k. Both levels are the state, and no pointers are swapped.
struct Chain {
  const Ring& ring;
  std::array<Level, 2> y;
  Level rate, second;  // scratch, set by each step before it is read

  explicit Chain(const Ring& ring) : ring(ring), rate(2 * ring.count), second(ring.count) {
    y.fill(Level(2 * ring.count));
  }

  void start() {
    for (std::size_t i = 0; i < ring.count; ++i) {
      const double angle = 2 * M_PI * static_cast<double>(ring.first + i) / kPendulums;
      y[0][i] = 2 * std::sin(3 * angle);
      y[0][ring.count + i] = std::cos(5 * angle);
    }
    y[1].assign(y[1].size(), 0);  // step 0 does not read it
  }

  void step(std::int64_t k) {
    Level& now = y[static_cast<std::size_t>(k % 2)];
    Level& next = y[static_cast<std::size_t>((k + 1) % 2)];
    const std::size_t n = ring.count;
    ring.second_difference(now.data(), second);
    for (std::size_t i = 0; i < n; ++i) {
      rate[i] = now[n + i];
      rate[n + i] = kSpring * second[i] - std::sin(now[i]);
    }
    for (std::size_t i = 0; i < 2 * n; ++i) {
      if (k == 0) {
        next[i] = now[i] + kDt * rate[i];
      } else {
        const double previous = next[i];
        next[i] = previous + 2 * kDt * rate[i];
        now[i] += kFilter * (previous - 2 * now[i] + next[i]);
      }
    }
  }
};

// The adjoint variables of the two levels; after the adjoint of step 0, by[0] is the gradient.
struct Adjoint {
  const Ring& ring;
  std::array<Level, 2> by;
  Level c, second;  // scratch

  explicit Adjoint(const Ring& ring) : ring(ring), c(2 * ring.count), second(ring.count) {}

  // The chain is at x_n.
  void start(const Chain& chain) {
    by.fill(Level(2 * ring.count));
    const std::size_t last = kSteps % 2;
    for (std::size_t i = 0; i < ring.count; ++i)
      by[last][i] = chain.y[last][i] - 0.5 * std::cos(0.01 * static_cast<double>(ring.first + i));
  }

  // The chain is at x_k, the state before step k. On entry by[n] belongs to Y_k and by[m] to
  // y_{k+1}, on return by[n] to y_k and by[m] to Y_{k-1}.
  void step(const Chain& chain, std::int64_t k) {
    const Level& now = chain.y[static_cast<std::size_t>(k % 2)];
    Level& n = by[static_cast<std::size_t>(k % 2)];
    Level& m = by[static_cast<std::size_t>((k + 1) % 2)];
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (k == 0) {
        c[i] = m[i];
        n[i] += c[i];
        m[i] = 0;
      } else {
        c[i] = m[i] + kFilter * n[i];  // all that belongs to y_{k+1}
        m[i] = c[i] + kFilter * n[i];
        n[i] *= 1 - 2 * kFilter;
      }
    }
    const double weight = k == 0 ? kDt : 2 * kDt;
    const double* of_speed = c.data() + ring.count;
    ring.second_difference(of_speed, second);
    for (std::size_t i = 0; i < ring.count; ++i) {
      n[i] += weight * (kSpring * second[i] - std::cos(now[i]) * of_speed[i]);
      n[ring.count + i] += weight * c[i];
    }
  }
};

// Every state in memory.
Level gradient_in_memory(const Ring& ring) {
  Chain chain(ring);
  Adjoint adjoint(ring);
  std::vector<std::array<Level, 2>> states;
  chain.start();
  for (std::int64_t k = 0; k < kSteps; ++k) {
    states.push_back(chain.y);
    chain.step(k);
  }
  adjoint.start(chain);
  for (std::int64_t k = kSteps - 1; k >= 0; --k) {
    chain.y = states[static_cast<std::size_t>(k)];
    adjoint.step(chain, k);
  }
  return adjoint.by[0];
}

// The states kept by the library, in the memory of 16 states (of 32 on two ranks). These steps are
// so short that it would not use the disk; the interval makes it do so.
Level gradient_by_anadrome(const Ring& ring) {
  Chain chain(ring);
  Adjoint adjoint(ring);
  anadrome::Run run(ring.comm);
  run.set("schedule", "async").set("interval", "50").set("memory", "512KiB");
  run.set("name", "leapfrog-states");  // a directory: not the name of this program
  run.add_field("level0", chain.y[0]);
  run.add_field("level1", chain.y[1]);
  chain.start();
  for (const anadrome::Action& a : run.sweep(kSteps)) {
    if (a.kind == ANADROME_ADVANCE)
      for (std::int64_t k = a.first; k < a.last; ++k) chain.step(k);
    if (a.kind == ANADROME_TURN) adjoint.start(chain);
    if (a.kind == ANADROME_ADJOINT) adjoint.step(chain, a.first);
  }
  run.close();
  return adjoint.by[0];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int exit_code = 0;
  const Ring ring(MPI_COMM_WORLD);
  try {
    const Level ours = gradient_by_anadrome(ring), all = gradient_in_memory(ring);
    for (std::size_t i = 0; i < all.size() && exit_code == 0; ++i)
      if (std::memcmp(&ours[i], &all[i], sizeof(double)) != 0) {
        std::printf("rank %d: dJ/d%c_%zu(0) is %a, with every state in memory %a\n", ring.rank,
                    i < ring.count ? 'q' : 'v', ring.first + i % ring.count, ours[i], all[i]);
        exit_code = 1;
      }
    MPI_Allreduce(MPI_IN_PLACE, &exit_code, 1, MPI_INT, MPI_MAX, ring.comm);
    if (exit_code == 0 && ring.rank == 0) std::puts("equal");
  } catch (const anadrome::Error& error) {
    if (ring.rank == 0) std::fprintf(stderr, "%s\n", error.what());
    exit_code = 2;
  }
  MPI_Finalize();
  return exit_code;
}
