// The schedule's RAM slots, put into blocks of the pool as they come into use.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "store/block_layout.h"
#include "store/pool.h"

namespace anadrome::engine {

class RamSlots {
 public:
  /// `take_block` hands out a block of the pool, and makes room first if it must.
  RamSlots(const store::BlockLayout& layout, std::span<const store::Field> state_fields,
           store::Pool& pool, std::function<std::int64_t()> take_block);

  void keep(std::int64_t slot);     ///< registered fields -> slot
  void restore(std::int64_t slot);  ///< slot -> registered fields
  void drop(std::int64_t slot);     ///< its block goes back to the pool with its last state

  static constexpr std::int64_t kOverheadPerBlock = 16;

 private:
  struct Block {
    std::int64_t pool_block = -1;
    std::int64_t states = 0;
  };
  const store::BlockLayout& layout_;
  std::span<const store::Field> fields_;
  store::Pool& pool_;
  std::function<std::int64_t()> take_block_;
  std::vector<Block> blocks_;
};

}  // namespace anadrome::engine
