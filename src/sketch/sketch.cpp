// SPDX-License-Identifier: BSD-2-Clause
#include "sketch/sketch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace anadrome::sketch {
namespace {

// Points that are gone through for all arrays at a time: x or y of them stays in the first cache.
constexpr std::int64_t kBlock = 1024;

template <class T>
void add(T weight, const T* x, std::int64_t length, T* to) {
  for (std::int64_t i = 0; i < length; ++i) to[i] += weight * x[i];
}

template <class T>
void add_product(T weight, const T* x, const T* y, std::int64_t length, T* to) {
  for (std::int64_t i = 0; i < length; ++i) to[i] += weight * x[i] * y[i];
}

template <class T>
void add_squares(double weight, const T* x, std::int64_t length, double* to) {
  for (std::int64_t i = 0; i < length; ++i) {
    to[i] += weight * static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
}

template <class Body>
void for_each_block(std::int64_t count, Body&& body) {
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    body(begin, std::min(kBlock, count - begin));
  }
}

// Sums of the way back, of the sketch's type.
std::int64_t sums(anadrome_sketch_kind kind) {
  return kind == ANADROME_SKETCH_COUNT || kind == ANADROME_SKETCH_RADEMACHER ? 2 : 1;
}

bool has_squares(anadrome_sketch_kind kind) { return kind != ANADROME_SKETCH_EXACT; }

void require_step(const Shape& shape, std::int64_t step) {
  if (step < 0) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "a sketch has no step " + std::to_string(step) + ": steps count from 0");
  }
  if (shape.kind == ANADROME_SKETCH_EXACT && step >= shape.arrays) {
    throw Error(ANADROME_ERR_ARGUMENT, "an exact sketch of " + std::to_string(shape.arrays) +
                                           " arrays has no room for step " + std::to_string(step) +
                                           ": it has an array for each step from 0 on");
  }
}

}  // namespace

std::int64_t bytes_of(const Shape& shape, anadrome_type type) {
  if (type != ANADROME_FLOAT64 && type != ANADROME_FLOAT32) {
    throw Error(ANADROME_ERR_ARGUMENT, "sketches are of ANADROME_FLOAT64 or ANADROME_FLOAT32");
  }
  if (shape.count < 0) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "the count of a sketch's points is negative: " + std::to_string(shape.count));
  }
  if (shape.arrays < 1) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "a sketch has at least one array, not " + std::to_string(shape.arrays));
  }
  if (shape.kind < ANADROME_SKETCH_COUNT || shape.kind > ANADROME_SKETCH_EXACT) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "there is no kind of sketch " + std::to_string(static_cast<int>(shape.kind)));
  }
  const std::int64_t element = type == ANADROME_FLOAT64 ? 8 : 4;
  const std::int64_t values = checked_multiply(
      checked_multiply(checked_add(shape.arrays, sums(shape.kind)), shape.count), element);
  const std::int64_t squares = has_squares(shape.kind) ? checked_multiply(shape.count, 8) : 0;
  return checked_add(values, squares);
}

template <class T>
Sketch<T>::Sketch(const Shape& shape, Draws draws) : shape_(shape), draws_(std::move(draws)) {
  bytes_of(shape, sizeof(T) == 8 ? ANADROME_FLOAT64 : ANADROME_FLOAT32);  // checks the shape
  values_ = Memory<T>((shape.arrays + sums(shape.kind)) * shape.count);
  if (has_squares(shape.kind)) squares_ = Memory<double>(shape.count);
  const bool one = shape.kind == ANADROME_SKETCH_COUNT || shape.kind == ANADROME_SKETCH_EXACT;
  parts_.reserve(static_cast<std::size_t>(one ? 1 : shape.arrays));
  if (shape.kind == ANADROME_SKETCH_ROWS) {
    winners_.assign(static_cast<std::size_t>(shape.arrays),
                    {std::numeric_limits<std::uint64_t>::max(), -1});
  }
}

template <class T>
bool Sketch<T>::is_dense() const {
  return shape_.kind == ANADROME_SKETCH_RADEMACHER || shape_.kind == ANADROME_SKETCH_GAUSSIAN;
}

template <class T>
void Sketch<T>::find_parts(std::int64_t step) {
  parts_.clear();
  switch (shape_.kind) {
    case ANADROME_SKETCH_COUNT:
      parts_.push_back(
          {draws_.bucket(step, shape_.arrays), static_cast<T>(draws_.weight(step, 0))});
      break;
    case ANADROME_SKETCH_RADEMACHER:
    case ANADROME_SKETCH_GAUSSIAN:
      for (std::int64_t k = 0; k < shape_.arrays; ++k) {
        parts_.push_back({k, static_cast<T>(draws_.weight(step, k))});
      }
      break;
    case ANADROME_SKETCH_ROWS:
      for (std::int64_t k = 0; k < shape_.arrays; ++k) {
        if (winners_[static_cast<std::size_t>(k)].step == step) parts_.push_back({k, T(1)});
      }
      break;
    case ANADROME_SKETCH_EXACT:
      parts_.push_back({step, T(1)});
      break;
  }
}

// The least of independent tickets is any step's with the same chance: N need not be known.
template <class T>
void Sketch<T>::keep_drawn(std::int64_t step, const T* x) {
  for (std::int64_t k = 0; k < shape_.arrays; ++k) {
    Winner& winner = winners_[static_cast<std::size_t>(k)];
    const Winner other = {draws_.ticket(step, k), step};
    const bool first = winner.step < 0;
    if (!first && std::pair(other.ticket, step) >= std::pair(winner.ticket, winner.step)) continue;
    winner = other;
    std::copy_n(x, shape_.count, array(k));
  }
}

template <class T>
void Sketch<T>::push(std::int64_t step, const T* x) {
  require_step(shape_, step);
  if (correlated_) {
    throw Error(ANADROME_ERR_ORDER, "step " + std::to_string(step) +
                                        " is pushed after a correlation: push all steps first");
  }
  ++pushed_;
  if (shape_.kind == ANADROME_SKETCH_ROWS) {
    keep_drawn(step, x);
    return;
  }
  find_parts(step);
  for_each_block(shape_.count, [&](std::int64_t begin, std::int64_t length) {
    for (const Part& part : parts_) add(part.weight, x + begin, length, array(part.array) + begin);
  });
}

template <class T>
void Sketch<T>::correlate(std::int64_t step, const T* y) {
  require_step(shape_, step);
  if (pushed_ == 0) {
    throw Error(ANADROME_ERR_ORDER,
                "step " + std::to_string(step) + " is correlated before any step was pushed");
  }
  correlated_ = true;
  find_parts(step);
  if (shape_.kind == ANADROME_SKETCH_ROWS) return correlate_drawn(y);
  const double noted = has_squares(shape_.kind) ? draws_.note(step) : 0.0;
  std::array<T, kBlock> dense;
  for_each_block(shape_.count, [&](std::int64_t begin, std::int64_t length) {
    const T* estimate = dense.data();
    T scale = T(1) / static_cast<T>(shape_.arrays);
    if (is_dense()) {
      dense.fill(T(0));
      for (const Part& part : parts_) {
        add(part.weight, array(part.array) + begin, length, dense.data());
      }
    } else {
      estimate = array(parts_.front().array) + begin;
      scale = parts_.front().weight;
    }
    add_product(scale, estimate, y + begin, length, sum(0) + begin);
    if (noted == 0) return;
    add_squares(noted * noted, y + begin, length, squares_.get() + begin);
    if (sums(shape_.kind) < 2) return;
    add_product(static_cast<T>(noted) * scale, estimate, y + begin, length, sum(1) + begin);
  });
}

// Each array that has the step has the same x_t.
template <class T>
void Sketch<T>::correlate_drawn(const T* y) {
  if (parts_.empty()) return;
  const auto times = static_cast<double>(parts_.size());
  const T* x = array(parts_.front().array);
  add_product(static_cast<T>(times), x, y, shape_.count, sum(0));
  for (std::int64_t i = 0; i < shape_.count; ++i) {
    const double product = static_cast<double>(x[i]) * static_cast<double>(y[i]);
    squares_.get()[i] += times * product * product;
  }
}

template <class T>
void Sketch<T>::gradient(T* gradient) const {
  const T scale =
      shape_.kind == ANADROME_SKETCH_ROWS
          ? static_cast<T>(static_cast<double>(pushed_) / static_cast<double>(shape_.arrays))
          : T(1);
  for (std::int64_t i = 0; i < shape_.count; ++i) gradient[i] = scale * sum(0)[i];
}

template <class T>
double Sketch<T>::variance_at(std::int64_t point, double squares_of_x) const {
  const auto p = static_cast<double>(shape_.arrays);
  const double squares = squares_.get()[point];
  const double both = squares_of_x * squares;  // of the mean |x|^2 |y|^2
  double whole = sum(0)[point];
  if (shape_.kind == ANADROME_SKETCH_GAUSSIAN) return (both + whole * whole) / (p + 1);
  if (shape_.kind == ANADROME_SKETCH_ROWS) {
    const auto steps = static_cast<double>(pushed_);
    whole *= steps / p;
    return (steps * steps * squares / p - whole * whole) / (p - 1);
  }
  const double noted = sum(1)[point];
  return (both - noted * noted) / (p - 1) + (whole * whole - noted * noted) / (p + 1);
}

template <class T>
void Sketch<T>::variance(double* variance) const {
  if (shape_.kind == ANADROME_SKETCH_EXACT) {
    std::fill_n(variance, shape_.count, 0.0);
    return;
  }
  if (shape_.arrays == 1 && shape_.kind != ANADROME_SKETCH_GAUSSIAN) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "a sketch of one array says nothing about its variance: two or more do");
  }
  const double scale = is_dense() ? 1.0 / static_cast<double>(shape_.arrays) : 1.0;
  std::array<double, kBlock> squares;
  const double* const squares_of_x = squares.data();
  for_each_block(shape_.count, [&](std::int64_t begin, std::int64_t length) {
    squares.fill(0);
    for (std::int64_t k = 0; k < shape_.arrays; ++k) {
      add_squares(scale, array(k) + begin, length, squares.data());
    }
    for (std::int64_t i = 0; i < length; ++i) {
      variance[begin + i] = variance_at(begin + i, squares_of_x[i]);
    }
  });
}

template class Sketch<float>;
template class Sketch<double>;

}  // namespace anadrome::sketch
