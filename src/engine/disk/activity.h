// SPDX-License-Identifier: BSD-2-Clause
// What a rank is at, in words, from its heartbeat.
#pragma once

#include <cstdint>
#include <string>

namespace anadrome::engine {

/// "in its solver, forward from step 120"
std::string text_of_activity(std::uint64_t activity);

}  // namespace anadrome::engine
