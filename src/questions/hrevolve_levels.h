// SPDX-License-Identifier: BSD-2-Clause
// H-Revolve with any number of levels below RAM (docs/theory-two-tier.md): what it costs.
#pragma once

#include <cstdint>
#include <span>

#include "schedule/two_tier_costs.h"

namespace anadrome::questions {

/// The cost of the cheapest sweep: advances, writes, reads, and steps * adjoint. The cheapest level
/// comes first: neither writes nor reads get cheaper from level to level.
schedule::uint128 hrevolve_cost(std::int64_t steps, std::int64_t ram_slots,
                                std::span<const schedule::StorageLevel> levels,
                                std::int64_t advance, std::int64_t adjoint);

}  // namespace anadrome::questions
