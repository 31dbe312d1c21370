// SPDX-License-Identifier: BSD-2-Clause
// The problem that every way solves: u' = u + dt f(u), a reaction and diffusion on a torus, and the
// gradient of half the squares of the last state by the first one.
#ifndef ANADROME_BENCH_INSTEAD_REACTION_H
#define ANADROME_BENCH_INSTEAD_REACTION_H
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace reaction {

constexpr double kDt = 0.1, kDiffusion = 1.5;

template <class T>
T rate(const T& u) {
  using std::exp;
  return (1.0 - u) * exp(-1.0 / (u + 0.1));
}
inline double rate_slope(double u) {
  const double v = u + 0.1, e = std::exp(-1.0 / v);
  return (1.0 - u) * e / (v * v) - e;
}

// to(cell, diffusion of u there): the same operations in the same order for everybody.
template <class To>
void diffusion(std::size_t side, const double* u, const To& to) {
  for (std::size_t r = 0; r < side; ++r) {
    const double *here = u + r * side, *up = u + (r + side - 1) % side * side,
                 *down = u + (r + 1) % side * side;
    const auto at = [&](std::size_t c, std::size_t left, std::size_t right) {
      to(r * side + c, kDiffusion * (here[left] + here[right] + up[c] + down[c] - 4 * here[c]));
    };
    at(0, side - 1, 1);
    for (std::size_t c = 1; c + 1 < side; ++c) at(c, c - 1, c + 1);
    at(side - 1, side - 2, 0);
  }
}

inline void right_hand_side(std::size_t side, const double* u, double* f) {
  diffusion(side, u, [&](std::size_t i, double d) { f[i] = d + rate(u[i]); });
}
// The Jacobian is its own transpose.
inline void jacobian_times(std::size_t side, const double* u, const double* w, double* f) {
  diffusion(side, w, [&](std::size_t i, double d) { f[i] = d + rate_slope(u[i]) * w[i]; });
}

inline void step(std::size_t side, double* u, double* work) {
  right_hand_side(side, u, work);
  for (std::size_t i = 0; i < side * side; ++i) u[i] += kDt * work[i];
}
inline void adjoint_step(std::size_t side, const double* u, double* lambda, double* work) {
  jacobian_times(side, u, lambda, work);
  for (std::size_t i = 0; i < side * side; ++i) lambda[i] += kDt * work[i];
}

inline void fill(std::size_t side, double* u) {
  const double cells = static_cast<double>(side * side);
  for (std::size_t i = 0; i < side * side; ++i)
    u[i] = 0.3 + 0.2 * std::sin(2 * M_PI * 7 * static_cast<double>(i) / cells);
}

}  // namespace reaction
#endif
