// SPDX-License-Identifier: BSD-2-Clause
// Numbers of steps, slots and bytes are signed; the standard library's are not. For numbers >= 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anadrome {

/// As the index of an element.
inline std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }
/// As a number of them.
inline std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

}  // namespace anadrome
