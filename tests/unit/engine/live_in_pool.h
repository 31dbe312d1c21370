// SPDX-License-Identifier: BSD-2-Clause
// A live state over a pool of a few blocks.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "engine/sweep/live_state.h"
#include "packed_fields.h"
#include "store/tiers/ram_tier.h"

namespace anadrome::engine {

// Blocks of one state each or of more.
struct LiveInPool {
  LiveInPool(std::vector<store::Field> fields, std::int64_t states_per_block, std::int64_t count)
      : layout({states_per_block, false}, fields),
        pool(layout.block_bytes(), count),
        live(layout, std::move(fields), blocks) {}

  // A step to a state whose exchanged field 0 has all bytes `value`.
  void step_to(int value) {
    live.make_room_for_step();
    std::memset(live.then(0), value, static_cast<std::size_t>(layout.parts()[0].bytes));
    live.step_done();
  }
  // The first and the last byte of exchanged field 0, which must be the same.
  int value() const {
    const auto* now = static_cast<const unsigned char*>(live.now(0));
    const int last = now[layout.parts()[0].bytes - 1];
    return now[0] == last ? last : -1;
  }
  const std::byte* at(std::int64_t block, std::int64_t index = 0, std::size_t field = 0) const {
    return layout.address(pool.address(block), index, field);
  }
  std::int64_t block_to_keep_in() {
    const std::int64_t shared = live.share_block();
    return shared >= 0 ? shared : pool.take();
  }
  std::int64_t keep() {
    const std::int64_t block = block_to_keep_in();
    live.keep(block, 0);
    return block;
  }

  store::BlockLayout layout;
  store::Pool pool;
  store::BlockKeeper blocks{pool};
  LiveState live;
};

}  // namespace anadrome::engine
