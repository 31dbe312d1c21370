// SPDX-License-Identifier: BSD-2-Clause
// Zeros in huge pages: a sketch goes through arrays in random order, which is faster with few
// pages.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/checked.h"
#include "base/index.h"
#include "base/platform/platform.h"

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

}  // namespace anadrome::sketch
