// SPDX-License-Identifier: BSD-2-Clause
// Gauss-Newton for the initial state of shallow water (as in examples/shallow_water): one outer
// step, whose system (L^T W L + a) v = -gradient is solved by 10 conjugate-gradient iterations. L
// is the tangent-linear model from x_0 to x_n, so each product with L^T W L goes over the
// trajectory forward and back. It is formed twice, in turns: by two passes over the trajectory that
// was swept once, and by a sweep that begins anew. Prints what both take. Exit code 1: they differ
// in a bit, or the residual does not fall.
//   gauss_newton [cells [steps [memory [passes]]]]   passes: the option; other options by
//                                                    ANADROME_OPTIONS
#include <anadrome/anadrome.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kProducts = 10;
constexpr double g = 9.81, kFriction = g * 0.03 * 0.03, kWeight = 1e-3;

struct Cell {
  double h, q;
};
Cell operator+(Cell a, Cell b) { return {a.h + b.h, a.q + b.q}; }
Cell operator-(Cell a, Cell b) { return {a.h - b.h, a.q - b.q}; }
Cell operator*(double s, Cell a) { return {s * a.h, s * a.q}; }
using Cells = std::vector<Cell>;

int rank, ranks, cells = 2000, steps = 400;
double dx, dt, c;       // c = dt / (2 dx)
std::vector<double> x;  // 2 pi times the places of this rank's cells

void with_neighbours(const Cells& u, Cells& padded) {
  const int west = (rank + ranks - 1) % ranks, east = (rank + 1) % ranks;
  padded.resize(u.size() + 2);
  std::copy(u.begin(), u.end(), padded.begin() + 1);
  MPI_Sendrecv(&u.front(), 2, MPI_DOUBLE, west, 0, &padded.back(), 2, MPI_DOUBLE, east, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&u.back(), 2, MPI_DOUBLE, east, 1, &padded.front(), 2, MPI_DOUBLE, west, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

Cell flux(Cell u) { return {u.q, u.q * u.q / u.h + 0.5 * g * u.h * u.h}; }

// Its derivative at u, applied to d.
Cell flux_along(Cell u, Cell d) {
  const double v = u.q / u.h;
  return {d.q, (g * u.h - v * v) * d.h + 2.0 * v * d.q};
}

// Manning's friction for the discharge, and its derivative at u.
double friction(Cell u) { return -kFriction * u.q * std::fabs(u.q) * std::pow(u.h, -7.0 / 3.0); }
Cell friction_by(Cell u) {
  const double p = kFriction * std::fabs(u.q) * std::pow(u.h, -7.0 / 3.0);
  return {7.0 / 3.0 * p * u.q / u.h, -2.0 * p};
}

struct Timed {
  double seconds = 0;
  std::int64_t count = 0;
  double mean() const { return count > 0 ? seconds / static_cast<double>(count) : 0; }
};
Timed forward_steps, tangent_steps, adjoint_steps;

// Measures from here to the end of the block.
class Timer {
 public:
  explicit Timer(Timed& timed) : timed_(timed), start_(MPI_Wtime()) {}
  ~Timer() {
    timed_.seconds += MPI_Wtime() - start_;
    ++timed_.count;
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  Timed& timed_;
  double start_;
};

void step(Cells& u) {
  static Cells w;
  const Timer timer(forward_steps);
  with_neighbours(u, w);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Cell source = {0.0, dt * friction(u[i])};
    u[i] = 0.5 * (w[i] + w[i + 2]) - c * (flux(w[i + 2]) - flux(w[i])) + source;
  }
}

// d_k -> d_{k+1}, with x_k in u.
void tangent_step(const Cells& u, Cells& d) {
  static Cells w, e;
  const Timer timer(tangent_steps);
  with_neighbours(u, w);
  with_neighbours(d, e);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Cell by = friction_by(u[i]), source = {0.0, dt * (by.h * d[i].h + by.q * d[i].q)};
    d[i] = 0.5 * (e[i] + e[i + 2]) - c * (flux_along(w[i + 2], e[i + 2]) - flux_along(w[i], e[i])) +
           source;
  }
}

// lambda_{k+1} -> lambda_k, with x_k in u.
void adjoint_step(const Cells& u, Cells& lambda) {
  static Cells w;
  const Timer timer(adjoint_steps);
  with_neighbours(lambda, w);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const Cell jump = w[i + 2] - w[i];
    const double v = u[i].q / u[i].h;
    lambda[i] = 0.5 * (w[i] + w[i + 2]) +
                c * Cell{(g * u[i].h - v * v) * jump.q, jump.h + 2.0 * v * jump.q} +
                dt * lambda[i].q * friction_by(u[i]);
  }
}

Cells initial() {
  Cells u;
  for (const double p : x) u.push_back({1.0 + 0.1 * std::sin(p), 0.2});
  return u;
}

double dot(const Cells& a, const Cells& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i].h * b[i].h + a[i].q * b[i].q;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// The water level is observed at the end, in every cell.
void observe(Cells& d) {
  for (Cell& cell : d) cell = {dx * cell.h, 0.0};
}

struct Way {
  anadrome::Run run;
  Cells u = initial();
  double seconds = 0;
  std::int64_t advances = 0;
  Way(const char* name, const char* memory) : run(MPI_COMM_WORLD) {
    run.set("name", name).set("memory", memory);
    run.add_field("hq", &u.front().h, 2 * u.size());
  }
  std::int64_t taken() const { return run.statistics().forward_steps_taken; }
};

// L^T W L v by two passes over the trajectory that was swept.
Cells by_passes(Way& way, Cells v) {
  const auto begun = way.taken();
  const double start = MPI_Wtime();
  for (const anadrome::Action& action : way.run.pass(ANADROME_PASS_FORWARD)) {
    if (action.kind == ANADROME_VISIT) tangent_step(way.u, v);
    for (std::int64_t k = action.first; k < action.last && action.kind == ANADROME_ADVANCE; ++k)
      step(way.u);
  }
  for (const anadrome::Action& action : way.run.pass(ANADROME_PASS_REVERSE)) {
    if (action.kind == ANADROME_TURN) observe(v);
    if (action.kind == ANADROME_ADJOINT) adjoint_step(way.u, v);
    for (std::int64_t k = action.first; k < action.last && action.kind == ANADROME_ADVANCE; ++k)
      step(way.u);
  }
  way.seconds += MPI_Wtime() - start;
  way.advances += way.taken() - begun;
  return v;
}

// The same by a sweep: the tangent-linear model runs beside the forward one.
Cells anew(Way& way, Cells v) {
  const Cells x_0 = initial();
  std::copy(x_0.begin(), x_0.end(), way.u.begin());  // where it is registered
  const double start = MPI_Wtime();
  for (const anadrome::Action& action : way.run.sweep(steps)) {
    for (std::int64_t k = action.first; k < action.last && action.kind == ANADROME_ADVANCE; ++k) {
      if (action.again == 0) tangent_step(way.u, v);
      step(way.u);
    }
    if (action.kind == ANADROME_TURN) observe(v);
    if (action.kind == ANADROME_ADJOINT) adjoint_step(way.u, v);
  }
  way.seconds += MPI_Wtime() - start;
  way.advances += way.taken();
  return v;
}

// The sweep, and the gradient of J = dx/2 sum (h_n - d)^2 by x_0.
Cells gradient(Way& way) {
  Cells lambda;
  for (const anadrome::Action& action : way.run.sweep(steps)) {
    for (std::int64_t k = action.first; k < action.last && action.kind == ANADROME_ADVANCE; ++k)
      step(way.u);
    if (action.kind == ANADROME_TURN) {
      lambda = way.u;
      for (std::size_t i = 0; i < x.size(); ++i) lambda[i].h -= 1.0 + 0.05 * std::cos(x[i]);
      observe(lambda);
    }
    if (action.kind == ANADROME_ADJOINT) adjoint_step(way.u, lambda);
  }
  return lambda;
}

void report(Way& passes, Way& fresh) {
  const double n = steps, products = kProducts;
  const anadrome_stats stats = passes.run.statistics();
  const double f = forward_steps.mean(), t = tangent_steps.mean(), b = adjoint_steps.mean();
  const double r = stats.seconds_read_state;
  const double again = static_cast<double>(fresh.advances) / products / n - 1;
  const double ratio = fresh.seconds / passes.seconds;
  const double bound = (f + t + b + again * f) / (std::max(t, r) + std::max(b, r));
  if (rank > 0) return;
  std::printf(
      "%d steps, an anchor every %lld; measured: step %.3g s, tangent %.3g s, adjoint "
      "%.3g s, read %.3g s\n",
      steps, static_cast<long long>(stats.interval), f, t, b, r);
  std::printf("forward steps per product: by passes %.1f, anew %.1f\n",
              static_cast<double>(passes.advances) / products,
              static_cast<double>(fresh.advances) / products);
  std::printf("seconds per product: by passes %.4g, anew %.4g; ratio %.2f, bound %.2f\n",
              passes.seconds / products, fresh.seconds / products, ratio, bound);
}

// True: the residual falls, and both ways have the same bits.
bool solve(Way& passes, Way& fresh) {
  Cells r = gradient(passes), v(r.size(), {0.0, 0.0});
  for (Cell& cell : r) cell = -1.0 * cell;
  Cells p = r;
  const double before = dot(r, r);
  double now = before, same = 1;
  anew(fresh, p);  // it has measured its times by then, as the sweep of the passes has
  fresh.seconds = 0;
  fresh.advances = 0;
  for (int k = 0; k < kProducts; ++k) {
    Cells product, other;
    if (k % 2 == 0) product = by_passes(passes, p);
    other = anew(fresh, p);
    if (k % 2 == 1) product = by_passes(passes, p);
    if (std::memcmp(product.data(), other.data(), product.size() * sizeof(Cell)) != 0) same = 0;
    for (std::size_t i = 0; i < p.size(); ++i) product[i] = product[i] + kWeight * dx * p[i];
    const double length = now / dot(p, product);
    for (std::size_t i = 0; i < p.size(); ++i) {
      v[i] = v[i] + length * p[i];
      r[i] = r[i] - length * product[i];
    }
    const double next = dot(r, r);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + (next / now) * p[i];
    now = next;
  }
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("residual %.3e of its beginning; products %s\n", std::sqrt(now / before),
                same != 0 ? "have the same bits" : "DIFFER");
  return same != 0 && now < before;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) cells = std::atoi(argv[1]);
  if (argc > 2) steps = std::atoi(argv[2]);
  const char* const memory = argc > 3 ? argv[3] : "1MiB";
  dx = 1.0 / cells;
  dt = 0.2 * dx;
  c = dt / (2.0 * dx);
  for (int i = static_cast<int>(static_cast<std::int64_t>(rank) * cells / ranks);
       i < static_cast<int>(static_cast<std::int64_t>(rank + 1) * cells / ranks); ++i)
    x.push_back(2.0 * M_PI * dx * i);
  bool right = false;
  try {
    Way passes("passes", memory), fresh("anew", memory);
    passes.run.set("passes", argc > 4 ? argv[4] : std::to_string(2 * kProducts));
    right = solve(passes, fresh);
    report(passes, fresh);
  } catch (const anadrome::Error& error) {
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
  }
  std::fflush(stdout);
  MPI_Finalize();
  return right ? 0 : 1;
}
