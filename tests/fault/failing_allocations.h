// SPDX-License-Identifier: BSD-2-Clause
// Memory that runs out at one chosen allocation of the library: of its calls on the caller's
// thread, and of its own thread. Programs that link failing_allocations.cpp with the options of
// tests/fault/CMakeLists.txt have it in place of the allocator.
#pragma once

#include <cstdint>

namespace anadrome::test {

/// From now on count afresh, and let allocation number `at` (from 1) fail; `lasting`: and all later
/// ones. 0: none. `local_calls`: also those in calls that concern one rank alone, whose failure the
/// caller has to share with the others.
void fail_allocation(std::int64_t at, bool lasting, bool local_calls);
/// No more of them fail.
void memory_is_back();
/// Allocations of the library since fail_allocation, and whether one failed.
std::int64_t allocations();
bool an_allocation_failed();

}  // namespace anadrome::test
