// SPDX-License-Identifier: BSD-2-Clause
// A directory that blocks go to, with what moves them.
#pragma once

#include "store/block_places.h"
#include "store/meter.h"
#include "store/transport.h"

namespace anadrome::store {

struct Volume {
  BlockPlaces& places;
  Transport& transport;
  TransferTimes& times;
};

/// A run has a home, where x_0 and everything goes that has to outlive a node. It may have a faster
/// volume beside it.
inline constexpr int kHome = 0, kFast = 1, kMostVolumes = 2;

}  // namespace anadrome::store
