// SPDX-License-Identifier: BSD-2-Clause
// A correlation in time from a few arrays for C++: forwards to sketch.h, whose conventions hold. No
// MPI needed; C++11 suffices.
#ifndef ANADROME_SKETCH_HPP
#define ANADROME_SKETCH_HPP

#include <anadrome/sketch.h>

#include <anadrome/error.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace anadrome {
inline namespace client {

/// @cond private
namespace detail {

inline anadrome_type sketched(const double*) { return ANADROME_FLOAT64; }
inline anadrome_type sketched(const float*) { return ANADROME_FLOAT32; }

}  // namespace detail
/// @endcond

/** The sum over t of x_t y_t at each point, estimated. T is double or float. */
template <class T>
class Sketch {
 public:
  /** What a sketch of `count` points in `arrays` arrays allocates; anadrome_sketch_bytes. @throws
   * Error */
  static std::int64_t bytes(std::size_t count, std::int64_t arrays,
                            anadrome_sketch_kind kind = ANADROME_SKETCH_COUNT) {
    std::int64_t bytes = 0;
    detail::check(
        anadrome_sketch_bytes(in_c(count), detail::sketched(type()), arrays, kind, &bytes));
    return bytes;
  }

  /** A sketch of `count` points of this rank; anadrome_sketch_create. @throws Error */
  Sketch(std::size_t count, std::int64_t arrays, std::int64_t seed = 0,
         anadrome_sketch_kind kind = ANADROME_SKETCH_COUNT)
      : sketch_(nullptr), count_(count) {
    detail::check(anadrome_sketch_create(in_c(count), detail::sketched(type()), arrays, seed, kind,
                                         &sketch_));
  }
  /** Free it. */
  ~Sketch() { anadrome_sketch_destroy(&sketch_); }
  /** Take over the other's sketch, which is left without one. */
  Sketch(Sketch&& other) noexcept : sketch_(other.sketch_), count_(other.count_) {
    other.sketch_ = nullptr;
  }
  /** Swap the two. */
  Sketch& operator=(Sketch&& other) noexcept {
    std::swap(sketch_, other.sketch_);
    std::swap(count_, other.count_);
    return *this;
  }
  Sketch(const Sketch&) = delete;
  Sketch& operator=(const Sketch&) = delete;

  /** Add x_t of step `step`. @throws Error */
  void push(std::int64_t step, const T* x) {
    detail::check(anadrome_sketch_push(sketch_, step, x));
  }
  /** The same of a container. @throws Error also if its size is not `count` */
  template <class Container>
  void push(std::int64_t step, const Container& x) {
    push(step, elements(x, "push"));
  }
  /** Multiply y_t of step `step` with what the sketch has of x_t. @throws Error */
  void correlate(std::int64_t step, const T* y) {
    detail::check(anadrome_sketch_correlate(sketch_, step, y));
  }
  /** The same of a container. @throws Error also if its size is not `count` */
  template <class Container>
  void correlate(std::int64_t step, const Container& y) {
    correlate(step, elements(y, "correlate"));
  }

  /** Write the gradient of all that was correlated so far. @throws Error */
  void gradient(T* gradient) const { detail::check(anadrome_sketch_gradient(sketch_, gradient)); }
  /** The same as a vector. @throws Error */
  std::vector<T> gradient() const {
    std::vector<T> made(count_);
    gradient(made.data());
    return made;
  }
  /** Write an estimate of the variance of each point's gradient. @throws Error */
  void variance(double* variance) const {
    detail::check(anadrome_sketch_variance(sketch_, variance));
  }
  /** The same as a vector. @throws Error */
  std::vector<double> variance() const {
    std::vector<double> made(count_);
    variance(made.data());
    return made;
  }

 private:
  static const T* type() { return nullptr; }
  static std::int64_t in_c(std::size_t count) { return static_cast<std::int64_t>(count); }
  template <class Container>
  const T* elements(const Container& values, const char* function) const {
    if (values.size() != count_) {
      throw Error(ANADROME_ERR_ARGUMENT, std::string("sketch_") + function + ": the sketch has " +
                                             std::to_string(count_) + " points, the array " +
                                             std::to_string(values.size()));
    }
    return values.data();
  }

  anadrome_sketch* sketch_;
  std::size_t count_;
};

}  // namespace client
}  // namespace anadrome

#endif
