// SPDX-License-Identifier: BSD-2-Clause
// The sum over t of x_t y_t at each point, from a few arrays that x_t went into. Every point is by
// itself, so a rank does with its own. docs/theory-sketches.md derives the variances.
#pragma once

#include <anadrome/sketch.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "base/checked.h"
#include "base/index.h"
#include "base/platform/platform.h"
#include "sketch/draws.h"

namespace anadrome::sketch {

/// `count` elements of a type that zero bytes are zeros of.
template <class T>
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::int64_t count) {
    constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
    const std::int64_t bytes = checked_multiply(count, sizeof(T));
    const bool large = bytes >= kHugePage;
    const std::int64_t page = large ? kHugePage : 64;
    const auto room = size(round_up(bytes, page));
    values_.reset(static_cast<T*>(std::aligned_alloc(size(page), room)));
    if (!values_ && room > 0) throw std::bad_alloc();
    if (large) platform::use_huge_pages(values_.get(), room);
    for (std::int64_t i = 0; i < count; ++i) values_.get()[i] = T(0);
  }
  T* get() { return values_.get(); }
  const T* get() const { return values_.get(); }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T, Free> values_;
};

struct Shape {
  std::int64_t count = 0;   ///< points
  std::int64_t arrays = 1;  ///< p
  anadrome_sketch_kind kind = ANADROME_SKETCH_COUNT;
};

/// What a sketch of it takes. Throws ERR_ARGUMENT on a shape or type that is none.
std::int64_t bytes_of(const Shape& shape, anadrome_type type);

/// T: float or double.
template <class T>
class Sketch {
 public:
  /// Allocates and touches all its memory.
  Sketch(const Shape& shape, Draws draws);

  void push(std::int64_t step, const T* x);
  void correlate(std::int64_t step, const T* y);
  void gradient(T* gradient) const;
  void variance(double* variance) const;

 private:
  T* array(std::int64_t number) { return values_.get() + number * shape_.count; }
  const T* array(std::int64_t number) const { return values_.get() + number * shape_.count; }
  /// Sums of what was correlated come after the arrays: all of it, and what was noted.
  T* sum(int which) { return array(shape_.arrays + which); }
  const T* sum(int which) const { return array(shape_.arrays + which); }
  /// count, exact: the array that has the step, and its sign there.
  T* array_of(std::int64_t step);
  T sign_of(std::int64_t step) const;
  void keep_drawn(std::int64_t step, const T* x);
  void correlate_drawn(std::int64_t step, const T* y);
  double variance_at(std::int64_t point, double squares_of_x) const;

  Shape shape_;
  Draws draws_;
  Memory<T> values_;
  Memory<double> squares_;  ///< of y, where noted; rows: of each array's x y
  /// rows: the ticket that won each array so far.
  struct Winner {
    std::uint64_t ticket;
    std::int64_t step;
  };
  std::vector<Winner> winners_;
  std::int64_t pushed_ = 0;
  bool correlated_ = false;
};

extern template class Sketch<float>;
extern template class Sketch<double>;

}  // namespace anadrome::sketch
