// SPDX-License-Identifier: BSD-2-Clause
// Acoustic waves m u_tt = u_xx + u_yy + s on a square, m the squared slowness, whose rows are
// divided among the ranks; the adjoint of a step. It knows neither schedules nor sketches.
//
//   u_{n+1} = d (2 u_n - d u_{n-1} + x_n),   x_n = k (L u_n + f_n - b u_n^3),   k = dt^2 / m
//
// L: the five-point sum; d: 1, less in a margin that absorbs waves; b: 0 but to show what a step
// that is not linear does.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace wave {

/// This rank's rows, with a row of each neighbour before and after them. Edges of the square are 0.
using Field = std::vector<double>;

class Wave {
 public:
  /// `reflected`: the receivers are where the source is; otherwise opposite to it.
  Wave(std::int64_t cells, std::int64_t steps, bool reflected, double nonlinear);

  std::int64_t steps() const { return steps_; }
  std::int64_t width() const { return width_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t first_row() const { return first_row_; }
  std::size_t points() const { return static_cast<std::size_t>(rows_ * width_); }
  /// The first of them in a field.
  static constexpr std::int64_t kHalo = 1;
  Field field() const { return Field(static_cast<std::size_t>((rows_ + 2 * kHalo) * width_)); }
  double* own(Field& field) const { return field.data() + kHalo * width_; }
  const double* own(const Field& field) const { return field.data() + kHalo * width_; }

  /// Of the model to be found, and of the one that the gradient is taken at.
  void use_true_slowness() { slowness_ = true_slowness_; }
  void use_guessed_slowness() { slowness_ = guess_; }
  /// The guess and `epsilon` times a direction.
  void use_moved_slowness(double epsilon);
  double direction(std::int64_t row, std::int64_t column) const;

  /// Step n: u_n is `now`, which gets its halo; `before` has u_{n-1} and gets u_{n+1}; x_n is in
  /// `x`.
  void step(std::int64_t n, Field& now, Field& before, Field& x);
  /// Step n undone, up to rounding: `after` has u_{n+1} and gets u_{n-1}.
  void undo(std::int64_t n, Field& now, Field& after, Field& x);
  /// x_n alone.
  void sample(std::int64_t n, Field& now, Field& x);
  /// y_n, by which x_n is multiplied in the gradient, of lambda_{n+1}.
  void weight(const Field& lambda, Field& y) const;
  /// lambda_n, which takes the place of lambda_{n+2} in `after`, of lambda_{n+1} in `lambda`.
  /// `now`: u_n, which only a step that is not linear reads; null: left out.
  void adjoint_step(std::int64_t n, const Field* now, Field& lambda, Field& after);

  /// Keep the receivers' row of u_n, as what was measured or as what the guess gives.
  void measure(std::int64_t n, const Field& u) { keep_trace(n, u, measured_); }
  void record(std::int64_t n, const Field& u) { keep_trace(n, u, recorded_); }
  /// Half the sum of the squares of their differences, all ranks together.
  double objective() const;
  /// lambda_n of the receivers alone.
  void begin_adjoint(Field& lambda) const { add_residual(steps_, lambda); }

 private:
  template <class Body>
  void for_inner_points(Body&& body) const;
  void fetch_halo(Field& field) const;
  void keep_trace(std::int64_t n, const Field& u, std::vector<double>& traces) const;
  void add_residual(std::int64_t n, Field& lambda) const;
  double source(std::int64_t n) const;
  bool has_row(std::int64_t row) const { return row >= first_row_ && row < first_row_ + rows_; }
  std::int64_t place(std::int64_t row, std::int64_t column) const {
    return (row - first_row_ + kHalo) * width_ + column;
  }

  std::int64_t width_, steps_, rows_ = 0, first_row_ = 0;
  double nonlinear_, time_step_ = 0;
  std::int64_t source_row_ = 0, receiver_row_ = 0;
  Field damping_, true_slowness_, guess_, slowness_, scratch_;
  std::vector<double> measured_, recorded_;  ///< on the rank that has the row
};

}  // namespace wave
