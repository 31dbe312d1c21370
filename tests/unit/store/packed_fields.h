// SPDX-License-Identifier: BSD-2-Clause
// Fields that are packed and unpacked.
#pragma once

#include <cstring>
#include <memory>

#include "store/memory/packing.h"

namespace anadrome::store {

// A packed field of one byte, stored as its complement.
struct Packed {
  unsigned char value = 0;
  int calls = 0, returns = 0;

  Field field(const char* name) {
    Field field;
    field.name = name;
    field.count = 1;
    const auto pack = [](void* self, void* buffer, std::size_t) {
      auto& packed = *static_cast<Packed*>(self);
      *static_cast<unsigned char*>(buffer) = static_cast<unsigned char>(~packed.value);
      ++packed.calls;
      return packed.returns;
    };
    const auto unpack = [](void* self, const void* buffer, std::size_t) {
      auto& packed = *static_cast<Packed*>(self);
      packed.value = static_cast<unsigned char>(~*static_cast<const unsigned char*>(buffer));
      ++packed.calls;
      return packed.returns;
    };
    field.mover = std::make_shared<Packing>(pack, unpack, this);
    return field;
  }
};

// A field of changing size: some bytes, each the last digit of their number.
struct Varying {
  std::size_t bytes = 0, unpacked = 0;
  bool right = true;

  Field field(const char* name, std::int64_t most) {
    Field field;
    field.name = name;
    field.count = most + kLengthBytes;
    const auto size = [](void* self) { return static_cast<Varying*>(self)->bytes; };
    const auto pack = [](void* self, void* buffer, std::size_t count) {
      std::memset(buffer, digit(count), count);
      return count == static_cast<Varying*>(self)->bytes ? 0 : 1;
    };
    const auto unpack = [](void* self, const void* buffer, std::size_t count) {
      auto& varying = *static_cast<Varying*>(self);
      varying.unpacked = count;
      for (std::size_t i = 0; i < count; ++i)
        varying.right &= static_cast<const unsigned char*>(buffer)[i] == digit(count);
      return 0;
    };
    field.mover = std::make_shared<Packing>(pack, unpack, this, size);
    return field;
  }
  static unsigned char digit(std::size_t count) { return static_cast<unsigned char>(count % 10); }
};

}  // namespace anadrome::store
