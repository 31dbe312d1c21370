// SPDX-License-Identifier: BSD-2-Clause
// RAII for whatever is given back by a call: the store's HDF5 identifiers, the engine's
// communicators.
#pragma once

#include <utility>

namespace anadrome {

/// Owns a value of type T that is given back by Close; Null is the value that owns nothing.
template <class T, class Close>
class Owner {
 public:
  Owner() = default;
  explicit Owner(T value) : value_(value) {}
  Owner(Owner&& other) noexcept : value_(std::exchange(other.value_, Close::kNull)) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, Close::kNull);
    }
    return *this;
  }
  ~Owner() { reset(); }
  T get() const { return value_; }
  explicit operator bool() const { return Close::owns(value_); }
  void reset() {
    if (Close::owns(value_)) Close::close(value_);
    value_ = Close::kNull;
  }

 private:
  T value_ = Close::kNull;
};

}  // namespace anadrome
