// SPDX-License-Identifier: BSD-2-Clause
// A live state of one array, all of whose elements are one number.
#pragma once

#include <algorithm>
#include <vector>

#include "store/memory/field_copy.h"
#include "store/memory/pool.h"
#include "store/tiers/tier.h"

namespace anadrome::store {

class CopiedLive final : public Live {
 public:
  CopiedLive(const BlockLayout& layout, Pool& pool, std::vector<std::int64_t>& values)
      : Live(pool), layout_(layout), field_(field(values)) {}

  static Field field(std::vector<std::int64_t>& values) {
    Field field;
    field.name = "u";
    field.type = ANADROME_INT64;
    field.count = static_cast<std::int64_t>(values.size());
    field.values = values.data();
    return field;
  }

  std::int64_t share_block() override {
    if (shared < 0) return -1;
    pool_.hold(shared);
    return shared;
  }
  void keep_at(std::byte* place, std::int64_t room) override {
    keep_piece({&field_, 1}, place, room);
  }
  void restore_from(const std::byte* place) override { restore_piece({&field_, 1}, place); }

  std::int64_t shared = -1;  ///< the block it is in, and hands over

 private:
  void keep_fields(std::int64_t block, std::int64_t index) override {
    copy_out(field_, layout_.address(pool_.address(block), index, 0), field_.bytes());
  }
  void restore_fields(std::int64_t block, std::int64_t index) override {
    copy_in(field_, layout_.address(pool_.address(block), index, 0), field_.bytes());
  }

  const BlockLayout& layout_;
  Field field_;
};

// The values themselves.
struct Values {
  explicit Values(std::size_t count) : all(count) {}
  void set(std::int64_t value) { std::fill(all.begin(), all.end(), value); }
  bool are(std::int64_t value) const {
    return std::count(all.begin(), all.end(), value) == static_cast<std::ptrdiff_t>(all.size());
  }
  std::vector<std::int64_t> all;
};

}  // namespace anadrome::store
