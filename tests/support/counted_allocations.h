// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace anadrome::test {

/// Calls of operator new in this program so far.
std::int64_t allocations();

}  // namespace anadrome::test
