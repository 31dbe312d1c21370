// SPDX-License-Identifier: BSD-2-Clause
// The C interface of sketches.
#include <anadrome/sketch.h>

#include <variant>

#include "api/schedules/guard.h"
#include "sketch/sketch.h"

struct anadrome_sketch {
  template <class T>
  anadrome_sketch(std::in_place_type_t<T> type, const anadrome::sketch::Shape& shape,
                  std::int64_t seed)
      : count(shape.count), typed(type, shape, anadrome::sketch::draw(seed)) {}
  std::int64_t count;
  std::variant<anadrome::sketch::Sketch<double>, anadrome::sketch::Sketch<float>> typed;
};

namespace {

using anadrome::api::guard;
using anadrome::api::require;
using anadrome::sketch::Shape;
using anadrome::sketch::Sketch;

// Checks the caller's array, too: a rank without points need have none.
template <class Handle, class Values, class Body>
anadrome_status with_array(Handle* sketch, Values* values, const char* no_sketch,
                           const char* no_values, Body&& body) {
  return guard([&] {
    require(sketch != nullptr, no_sketch);
    require(values != nullptr || sketch->count == 0, no_values);
    std::visit(body, sketch->typed);
  });
}

template <class T>
const T* elements(const Sketch<T>&, const void* values) {
  return static_cast<const T*>(values);
}
template <class T>
T* elements(const Sketch<T>&, void* values) {
  return static_cast<T*>(values);
}

}  // namespace

anadrome_status anadrome_sketch_bytes(int64_t count, anadrome_type type, int64_t arrays,
                                      anadrome_sketch_kind kind, int64_t* bytes) {
  return guard([&] {
    require(bytes != nullptr, "sketch_bytes: bytes is NULL");
    *bytes = anadrome::sketch::bytes_of({count, arrays, kind}, type);
  });
}

anadrome_status anadrome_sketch_create(int64_t count, anadrome_type type, int64_t arrays,
                                       int64_t seed, anadrome_sketch_kind kind,
                                       anadrome_sketch** sketch) {
  return guard([&] {
    require(sketch != nullptr, "sketch_create: sketch is NULL");
    *sketch = nullptr;
    const Shape shape = {count, arrays, kind};
    anadrome::sketch::bytes_of(shape, type);  // checks all of it
    *sketch = type == ANADROME_FLOAT64
                  ? new anadrome_sketch(std::in_place_type<Sketch<double>>, shape, seed)
                  : new anadrome_sketch(std::in_place_type<Sketch<float>>, shape, seed);
  });
}

anadrome_status anadrome_sketch_push(anadrome_sketch* sketch, int64_t step, const void* x) {
  return with_array(sketch, x, "sketch_push: sketch is NULL", "sketch_push: x is NULL",
                    [&](auto& typed) { typed.push(step, elements(typed, x)); });
}

anadrome_status anadrome_sketch_correlate(anadrome_sketch* sketch, int64_t step, const void* y) {
  return with_array(sketch, y, "sketch_correlate: sketch is NULL", "sketch_correlate: y is NULL",
                    [&](auto& typed) { typed.correlate(step, elements(typed, y)); });
}

anadrome_status anadrome_sketch_gradient(const anadrome_sketch* sketch, void* gradient) {
  return with_array(sketch, gradient, "sketch_gradient: sketch is NULL",
                    "sketch_gradient: gradient is NULL",
                    [&](auto& typed) { typed.gradient(elements(typed, gradient)); });
}

anadrome_status anadrome_sketch_variance(const anadrome_sketch* sketch, double* variance) {
  return with_array(sketch, variance, "sketch_variance: sketch is NULL",
                    "sketch_variance: variance is NULL",
                    [&](auto& typed) { typed.variance(variance); });
}

anadrome_status anadrome_sketch_destroy(anadrome_sketch** sketch) {
  return guard([&] {
    require(sketch != nullptr, "sketch_destroy: the pointer to the handle is NULL");
    delete *sketch;
    *sketch = nullptr;
  });
}
