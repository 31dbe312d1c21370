// The schedule's RAM slots, put into blocks of the pool as they come into use.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "store/block_layout.h"
#include "store/live_state.h"
#include "store/live_tape.h"
#include "store/pool.h"

namespace anadrome::store {

class RamSlots {
 public:
  RamSlots(const BlockLayout& layout, Pool& pool, LiveState& live)
      : layout_(layout), pool_(pool), live_(live) {}

  void keep(std::int64_t slot);     ///< live state -> slot
  void restore(std::int64_t slot);  ///< slot -> live state
  void drop(std::int64_t slot);     ///< its block goes back to the pool with its last state

  /// A tape takes `slots` slots; -1 on a rank that cannot keep one: it has a tape and no state.
  static std::int64_t slots_for_tape(std::int64_t tape_bytes, std::int64_t state_bytes);
  /// `take_block` as for a LiveState.
  void keep_tapes(LiveTape& tape, std::int64_t slots, std::function<std::int64_t()> take_block);
  void keep_tape(std::int64_t first_slot);
  void restore_tape(std::int64_t first_slot);
  void drop_tape(std::int64_t first_slot);

 private:
  struct Block {
    std::int64_t pool_block = -1;
    std::int64_t states = 0;
  };
  Block& block_of(std::int64_t slot);
  void fill_places(std::int64_t first_slot);

  const BlockLayout& layout_;
  Pool& pool_;
  LiveState& live_;
  LiveTape* tape_ = nullptr;
  std::function<std::int64_t()> take_block_;
  std::vector<LiveTape::Place> places_;  ///< as many as a tape takes
  std::vector<Block> blocks_;
};

}  // namespace anadrome::store
