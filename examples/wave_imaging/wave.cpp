// SPDX-License-Identifier: BSD-2-Clause
#include "wave.h"

#include <cmath>

namespace wave {
namespace {

constexpr double kMargin = 0.16;    // of the width
constexpr double kCrossings = 2.3;  // of the square by a wave, in all steps
constexpr double kWavelength = 14;  // cells
constexpr double kPi = 3.14159265358979323846;

}  // namespace

Wave::Wave(std::int64_t cells, std::int64_t steps, bool reflected, double nonlinear)
    : width_(cells), steps_(steps), nonlinear_(nonlinear) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first_row_ = cells * rank / ranks;
  rows_ = cells * (rank + 1) / ranks - first_row_;
  const auto width = static_cast<double>(width_);
  time_step_ = kCrossings * width / static_cast<double>(steps_);
  source_row_ = static_cast<std::int64_t>(kMargin * width) + 2;
  receiver_row_ = reflected ? source_row_ : width_ - 1 - source_row_;
  damping_ = true_slowness_ = guess_ = scratch_ = field();
  for (std::int64_t row = first_row_; row < first_row_ + rows_; ++row) {
    for (std::int64_t column = 0; column < width_; ++column) {
      const auto i = static_cast<std::size_t>(place(row, column));
      const double x = static_cast<double>(column) / width, y = static_cast<double>(row) / width;
      const double edge = std::fmin(std::fmin(x, 1 - x), std::fmin(y, 1 - y));
      const double depth = std::fmax(0.0, 1 - edge / kMargin);
      damping_[i] = std::exp(-time_step_ * 0.3 * depth * depth);
      guess_[i] = true_slowness_[i] = 1.0;
      const bool disc = std::hypot(x - 0.35, y - 0.5) < 0.1;
      const bool layer = y > 0.68 + 0.05 * std::sin(7 * x) && y < 0.74 + 0.05 * std::sin(7 * x);
      if (disc || layer) true_slowness_[i] = 0.9;
    }
  }
  slowness_ = guess_;
  if (!has_row(receiver_row_)) return;
  measured_.resize(static_cast<std::size_t>((steps_ + 1) * width_));
  recorded_ = measured_;
}

double Wave::direction(std::int64_t row, std::int64_t column) const {
  const double x = static_cast<double>(column) / static_cast<double>(width_);
  const double y = static_cast<double>(row) / static_cast<double>(width_);
  return std::sin(5 * x) * std::cos(3 * y);
}

void Wave::use_moved_slowness(double epsilon) {
  slowness_ = guess_;
  for (std::int64_t row = first_row_; row < first_row_ + rows_; ++row) {
    for (std::int64_t column = 0; column < width_; ++column) {
      slowness_[static_cast<std::size_t>(place(row, column))] += epsilon * direction(row, column);
    }
  }
}

// A Ricker wavelet of a plane wave.
double Wave::source(std::int64_t n) const {
  const double t = time_step_ * static_cast<double>(n) / kWavelength - 1.2;
  const double a = kPi * kPi * t * t;
  return (1 - 2 * a) * std::exp(-a);
}

template <class Body>
void Wave::for_inner_points(Body&& body) const {
  for (std::int64_t row = first_row_; row < first_row_ + rows_; ++row) {
    if (row == 0 || row == width_ - 1) continue;
    const std::int64_t begin = place(row, 0);
    for (std::int64_t i = begin + 1; i < begin + width_ - 1; ++i) {
      body(static_cast<std::size_t>(i));
    }
  }
}

void Wave::fetch_halo(Field& field) const {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const int count = static_cast<int>(width_);
  double* first = own(field);
  double* end = first + rows_ * width_;
  MPI_Sendrecv(first, count, MPI_DOUBLE, above, 0, end, count, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(end - width_, count, MPI_DOUBLE, below, 1, first - width_, count, MPI_DOUBLE, above,
               1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void Wave::sample(std::int64_t n, Field& now, Field& x) {
  fetch_halo(now);
  const auto width = static_cast<std::size_t>(width_);
  const double factor = time_step_ * time_step_, b = nonlinear_;
  const double* const u = now.data();
  for_inner_points([&, u](std::size_t i) {
    const double around = u[i - 1] + u[i + 1] + u[i - width] + u[i + width] - 4 * u[i];
    x[i] = factor / slowness_[i] * (around - b * u[i] * u[i] * u[i]);
  });
  if (!has_row(source_row_)) return;
  for (std::int64_t column = 1; column < width_ - 1; ++column) {
    const auto at = static_cast<std::size_t>(place(source_row_, column));
    x[at] += factor / slowness_[at] * source(n);
  }
}

void Wave::step(std::int64_t n, Field& now, Field& before, Field& x) {
  sample(n, now, x);
  for_inner_points([&](std::size_t i) {
    before[i] = damping_[i] * (2 * now[i] - damping_[i] * before[i] + x[i]);
  });
}

void Wave::undo(std::int64_t n, Field& now, Field& after, Field& x) {
  sample(n, now, x);
  for_inner_points([&](std::size_t i) {
    after[i] = (2 * now[i] + x[i] - after[i] / damping_[i]) / damping_[i];
  });
}

void Wave::weight(const Field& lambda, Field& y) const {
  for_inner_points([&](std::size_t i) { y[i] = -damping_[i] / slowness_[i] * lambda[i]; });
}

void Wave::adjoint_step(std::int64_t n, const Field* now, Field& lambda, Field& after) {
  const auto width = static_cast<std::size_t>(width_);
  const double factor = time_step_ * time_step_;
  for_inner_points(
      [&](std::size_t i) { scratch_[i] = factor / slowness_[i] * damping_[i] * lambda[i]; });
  fetch_halo(scratch_);
  const double* const w = scratch_.data();
  for_inner_points([&, w](std::size_t i) {
    after[i] = 2 * damping_[i] * lambda[i] + w[i - 1] + w[i + 1] + w[i - width] + w[i + width] -
               4 * w[i] - damping_[i] * damping_[i] * after[i];
  });
  if (nonlinear_ != 0 && now != nullptr) {
    for_inner_points(
        [&](std::size_t i) { after[i] -= 3 * nonlinear_ * (*now)[i] * (*now)[i] * scratch_[i]; });
  }
  add_residual(n, after);
}

void Wave::keep_trace(std::int64_t n, const Field& u, std::vector<double>& traces) const {
  if (!has_row(receiver_row_)) return;
  for (std::int64_t column = 0; column < width_; ++column) {
    traces[static_cast<std::size_t>(n * width_ + column)] =
        u[static_cast<std::size_t>(place(receiver_row_, column))];
  }
}

void Wave::add_residual(std::int64_t n, Field& lambda) const {
  if (!has_row(receiver_row_)) return;
  for (std::int64_t column = 1; column < width_ - 1; ++column) {
    const auto at = static_cast<std::size_t>(n * width_ + column);
    lambda[static_cast<std::size_t>(place(receiver_row_, column))] += recorded_[at] - measured_[at];
  }
}

double Wave::objective() const {
  double sum = 0;
  for (std::size_t at = 0; at < measured_.size(); ++at) {
    const double difference = recorded_[at] - measured_[at];
    sum += 0.5 * difference * difference;
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

}  // namespace wave
