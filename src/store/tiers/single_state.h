// SPDX-License-Identifier: BSD-2-Clause
// The live state in slots of half its size: real numbers of double precision are kept in single
// precision, everything else as it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/memory/block_layout.h"
#include "store/tiers/tier.h"

namespace anadrome::store {

class SingleState final : public Live {
 public:
  /// `slots` is a layout of single_fields.
  SingleState(const BlockLayout& slots, std::span<const Field> state_fields, Pool& pool);

  /// A block of its own for every state: nothing is handed over.
  std::int64_t share_block() override { return -1; }
  /// As it is.
  void keep_at(std::byte* place, std::int64_t room) override;
  void restore_from(const std::byte* place) override;

 private:
  // Keeping throws ERR_ARGUMENT, with every field copied, for a number that is too large, and for a
  // fill value of the first state that would change.
  void keep_fields(std::int64_t block, std::int64_t index) override;
  void restore_fields(std::int64_t block, std::int64_t index) override;

  const BlockLayout& slots_;
  std::vector<Field> fields_;
  std::vector<double> fills_;  ///< of each field, in the state that was kept first
};

/// Fields as they lie in a slot in single precision. None may be exchanged.
std::vector<Field> single_fields(std::span<const Field> state_fields);

}  // namespace anadrome::store
