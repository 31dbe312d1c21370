// SPDX-License-Identifier: BSD-2-Clause
// How often a multistage sweep writes and reads, counted without playing it.
#pragma once

#include <cstdint>

#include "planners/two_tier/two_tier_costs.h"

namespace anadrome::questions {

/// Throws ERR_ARGUMENT also where so few slots are used so often, or so many slots are on disk,
/// that counting takes too long.
schedule::TwoTierUse multistage_use(std::int64_t steps, std::int64_t ram_slots,
                                    std::int64_t disk_slots);

}  // namespace anadrome::questions
