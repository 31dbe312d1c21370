// SPDX-License-Identifier: BSD-2-Clause
// Numbers of steps, slots and bytes are signed 64-bit integers. The standard library's are
// unsigned, and times are real: here one becomes the other.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace anadrome {

/// As the index of an element; k >= 0.
constexpr std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }
/// As a number of them; count >= 0.
constexpr std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
/// As a factor of times, rates and averages.
constexpr double real(std::integral auto count) { return static_cast<double>(count); }

}  // namespace anadrome
