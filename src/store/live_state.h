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
#include <functional>
#include <vector>

#include "store/block_layout.h"
#include "store/pool.h"

namespace anadrome::store {

class LiveState {
 public:
  /// `take_block` hands out a block of the pool, and makes room first if it must.
  LiveState(const BlockLayout& layout, std::vector<Field> state_fields, Pool& pool,
            std::function<std::int64_t()> take_block);
  ~LiveState();
  LiveState(const LiveState&) = delete;
  LiveState& operator=(const LiveState&) = delete;

  /// Are there exchanged fields? Then the caller takes one step at a time.
  bool exchanged() const { return exchanged_; }
  /// Blocks of the pool that `now` and `then` take, and bytes of buffers instead.
  static std::int64_t live_blocks(const BlockLayout& layout, std::span<const Field> state_fields);
  static std::int64_t buffer_bytes(const BlockLayout& layout, std::span<const Field> state_fields);

  /// Before the caller writes x_0, or x_{k+1} in a step.
  void make_room_for_step();
  /// What `then` held is `now`.
  void step_done();

  /// A block for the live state, with a holder more: the one it is in already if that can be handed
  /// over, else a free one.
  std::int64_t block_to_keep_in(const std::function<std::int64_t()>& take_block);
  std::int64_t block_to_keep_in() { return block_to_keep_in(take_block_); }
  /// The live state -> state `index` of `block`, as far as it is not there yet. Throws ERR_PEER if
  /// a pack callback fails, ERR_ARGUMENT if a field of changing size is larger than it was
  /// registered; every other field is still packed, since callbacks may be collective.
  void keep(std::int64_t block, std::int64_t index);
  /// The way back.
  void restore(std::int64_t block, std::int64_t index);

  // In one piece: fields of fixed size first, then those of changing size with their lengths, each
  // on 8 bytes. Not where blocks are handed over.
  /// Of any state with these fields, at most.
  static std::int64_t most_piece_bytes(std::span<const Field> state_fields,
                                       std::int64_t alignment = kLengthBytes);
  /// The live state -> at most `room` bytes at `place`, which hold at least the fields of fixed
  /// size. Returns what it takes; if that is more than `room`, it is not kept. Throws as keep does.
  std::int64_t keep_in_piece(std::byte* place, std::int64_t room);
  void restore_piece(const std::byte* place);
  /// The same with each field on a page of its own, so that it can be written and read: `extents`
  /// are where.
  std::int64_t keep_in_pages(std::byte* place, std::int64_t room, std::vector<Extent>& extents);
  void restore_pages(const std::byte* place, const std::vector<Extent>& extents);
  /// What the live state takes as its caller counts it: without lengths and padding.
  std::int64_t bytes_now() const;

  /// Of all fields but packed ones.
  std::uint64_t hash() const;

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
  template <class Visit>
  void visit_piece(const Visit& visit);
  std::int64_t keep_aligned(std::byte* place, std::int64_t room, std::int64_t alignment,
                            std::vector<Extent>* extents);
  void let_go(std::int64_t& block);

  const BlockLayout& layout_;
  std::vector<Field> fields_;
  Pool& pool_;
  std::function<std::int64_t()> take_block_;
  bool exchanged_ = false;
  bool hands_over_ = false;
  std::int64_t now_ = -1, then_ = -1;  ///< blocks, if blocks are handed over
  std::vector<Buffers> buffers_;       ///< by field, if they are not
  std::vector<std::byte> storage_;
};

}  // namespace anadrome::store
