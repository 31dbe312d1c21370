// The schedule's RAM slots, put into blocks of the pool as they come into use.
#pragma once

#include <cstdint>
#include <vector>

#include "store/block_layout.h"
#include "store/live_state.h"
#include "store/pool.h"

namespace anadrome::engine {

class RamSlots {
 public:
  RamSlots(const store::BlockLayout& layout, store::Pool& pool, store::LiveState& live)
      : layout_(layout), pool_(pool), live_(live) {}

  void keep(std::int64_t slot);     ///< live state -> slot
  void restore(std::int64_t slot);  ///< slot -> live state
  void drop(std::int64_t slot);     ///< its block goes back to the pool with its last state

  static constexpr std::int64_t kOverheadPerBlock = 16;

 private:
  struct Block {
    std::int64_t pool_block = -1;
    std::int64_t states = 0;
  };
  const store::BlockLayout& layout_;
  store::Pool& pool_;
  store::LiveState& live_;
  std::vector<Block> blocks_;
};

}  // namespace anadrome::engine
