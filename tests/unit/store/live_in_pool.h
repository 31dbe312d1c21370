// A live state over a pool of a few blocks, and a packed field for it.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "store/live_state.h"

namespace anadrome::store {

// A packed field of one byte, stored as its complement.
struct Packed {
  unsigned char value = 0;
  int calls = 0, returns = 0;

  Field field(const char* name) {
    Field field;
    field.name = name;
    field.count = 1;
    field.context = this;
    field.pack = [](void* self, void* buffer, std::size_t) {
      auto& packed = *static_cast<Packed*>(self);
      *static_cast<unsigned char*>(buffer) = static_cast<unsigned char>(~packed.value);
      ++packed.calls;
      return packed.returns;
    };
    field.unpack = [](void* self, const void* buffer, std::size_t) {
      auto& packed = *static_cast<Packed*>(self);
      packed.value = static_cast<unsigned char>(~*static_cast<const unsigned char*>(buffer));
      ++packed.calls;
      return packed.returns;
    };
    return field;
  }
};

// A live state over a pool of a few blocks, of one state each or of more.
struct LiveInPool {
  LiveInPool(std::vector<Field> fields, std::int64_t states_per_block, std::int64_t blocks)
      : layout({states_per_block, false}, fields),
        pool(layout.block_bytes(), blocks),
        live(layout, std::move(fields), pool, [this] { return pool.take(); }) {}

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
  std::int64_t keep() {
    const std::int64_t block = live.block_to_keep_in();
    live.keep(block, 0);
    return block;
  }

  BlockLayout layout;
  Pool pool;
  LiveState live;
};

}  // namespace anadrome::store
