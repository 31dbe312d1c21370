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
std::int64_t sums(anadrome_sketch_kind kind) { return kind == ANADROME_SKETCH_COUNT ? 2 : 1; }

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
  if (shape.kind == ANADROME_SKETCH_ROWS) {
    winners_.assign(static_cast<std::size_t>(shape.arrays),
                    {std::numeric_limits<std::uint64_t>::max(), -1});
  }
}

template <class T>
T* Sketch<T>::array_of(std::int64_t step) {
  const bool drawn = shape_.kind == ANADROME_SKETCH_COUNT;
  return array(drawn ? draws_.bucket(step, shape_.arrays) : step);
}

template <class T>
T Sketch<T>::sign_of(std::int64_t step) const {
  return shape_.kind == ANADROME_SKETCH_COUNT ? static_cast<T>(draws_.sign(step)) : T(1);
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
  if (shape_.kind == ANADROME_SKETCH_ROWS) return keep_drawn(step, x);
  add(sign_of(step), x, shape_.count, array_of(step));
}

template <class T>
void Sketch<T>::correlate(std::int64_t step, const T* y) {
  require_step(shape_, step);
  if (pushed_ == 0) {
    throw Error(ANADROME_ERR_ORDER,
                "step " + std::to_string(step) + " is correlated before any step was pushed");
  }
  correlated_ = true;
  if (shape_.kind == ANADROME_SKETCH_ROWS) return correlate_drawn(step, y);
  const bool count = shape_.kind == ANADROME_SKETCH_COUNT;
  const double noted = count ? draws_.note(step) : 0.0;
  const T sign = sign_of(step);
  const T* const x = array_of(step);
  for_each_block(shape_.count, [&](std::int64_t begin, std::int64_t length) {
    add_product(sign, x + begin, y + begin, length, sum(0) + begin);
    if (noted == 0) return;
    add_squares(noted * noted, y + begin, length, squares_.get() + begin);
    add_product(static_cast<T>(noted) * sign, x + begin, y + begin, length, sum(1) + begin);
  });
}

// Each array that has the step has the same x_t.
template <class T>
void Sketch<T>::correlate_drawn(std::int64_t step, const T* y) {
  const auto has_it = [step](const Winner& winner) { return winner.step == step; };
  const auto first = std::find_if(winners_.begin(), winners_.end(), has_it);
  const auto times = static_cast<double>(std::count_if(first, winners_.end(), has_it));
  if (times == 0) return;
  const T* x = array(first - winners_.begin());
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
  if (shape_.arrays == 1) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "a sketch of one array says nothing about its variance: two or more do");
  }
  std::array<double, kBlock> squares;
  const double* const squares_of_x = squares.data();
  for_each_block(shape_.count, [&](std::int64_t begin, std::int64_t length) {
    squares.fill(0);
    for (std::int64_t k = 0; k < shape_.arrays; ++k) {
      add_squares(1.0, array(k) + begin, length, squares.data());
    }
    for (std::int64_t i = 0; i < length; ++i) {
      variance[begin + i] = variance_at(begin + i, squares_of_x[i]);
    }
  });
}

template class Sketch<float>;
template class Sketch<double>;

}  // namespace anadrome::sketch
