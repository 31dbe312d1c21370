// SPDX-License-Identifier: BSD-2-Clause
// A directory that blocks go to, with what moves them.
#pragma once

#include "store/journal/volumes.h"
#include "store/memory/meter.h"
#include "store/moving/transport.h"
#include "store/tiers/block_places.h"

namespace anadrome::store {

struct Volume {
  BlockPlaces& places;
  Transport& transport;
  TransferTimes& times;
};

}  // namespace anadrome::store
