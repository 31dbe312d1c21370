// SPDX-License-Identifier: BSD-2-Clause
// The state the caller works on, and its ways into the pool and back.
//
// Registered and packed fields are copied. Exchanged fields belong to the library: `now` is a block
// of the pool that holds x_k, `then` is one that x_{k+1} is written to. Keeping a state means that
// its slot holds the same block as `now`, restoring one that `now` holds the slot's; a block is
// free when nobody holds it any more. Small states share blocks, so there is no block of their own
// to hand over: their exchanged fields live in two buffers and are copied as registered ones are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/sweep/fingerprint.h"
#include "store/memory/block_layout.h"
#include "store/tiers/block_keeper.h"
#include "store/tiers/tier.h"

namespace anadrome::engine {

class LiveState final : public store::Live {
 public:
  LiveState(const store::BlockLayout& layout, std::vector<store::Field> state_fields,
            store::BlockKeeper& blocks);
  ~LiveState() override;
  LiveState(const LiveState&) = delete;
  LiveState& operator=(const LiveState&) = delete;

  /// Are there exchanged fields? Then the caller takes one step at a time.
  bool exchanged() const { return exchanged_; }
  /// Blocks of the pool that `now` and `then` take, and bytes of buffers instead.
  static std::int64_t live_blocks(const store::BlockLayout& layout,
                                  std::span<const store::Field> state_fields);
  static std::int64_t buffer_bytes(const store::BlockLayout& layout,
                                   std::span<const store::Field> state_fields);

  /// Before the caller writes x_0, or x_{k+1} in a step.
  void make_room_for_step();
  /// The state in `then` becomes `now`.
  void step_done();

  std::int64_t share_block() override;
  void keep_at(std::byte* place, std::int64_t room) override;
  void restore_from(const std::byte* place) override;

  /// A fingerprint for each field, to be compared with `first` if there are some. `room` is for one
  /// packed field at a time; packed fields are left out, and have the same fingerprint always,
  /// where it is empty.
  void take_fingerprints(std::span<Fingerprint> prints, std::span<std::byte> room,
                         std::span<const Fingerprint> first = {}) const;

  /// How far a field that is not packed is from state 0 of `block`, whose fingerprint is `first`.
  Apart apart_from(std::int64_t block, std::size_t field, const Fingerprint& first) const;

  /// x_k and the place of x_{k+1} of an exchanged field; NULL for others.
  const void* now(std::size_t field) const;
  void* then(std::size_t field) const;

 private:
  struct Buffers {
    std::byte *now = nullptr, *then = nullptr;
  };
  template <class Call, class Copy>
  void move_fields(std::byte* block, std::int64_t index, bool with_exchanged, const Call& call,
                   const Copy& copy);
  void keep_fields(std::int64_t block, std::int64_t index) override;
  void restore_fields(std::int64_t block, std::int64_t index) override;
  void let_go(std::int64_t& block);

  const store::BlockLayout& layout_;
  std::vector<store::Field> fields_;
  store::BlockKeeper& blocks_;
  bool exchanged_ = false;
  bool hands_over_ = false;
  std::int64_t now_ = -1, then_ = -1;  ///< blocks, if blocks are handed over
  std::vector<Buffers> buffers_;       ///< by field, if they are not
  std::vector<std::byte> storage_;
};

}  // namespace anadrome::engine
