// SPDX-License-Identifier: BSD-2-Clause
// The state the caller works on, and its ways into the pool and back.
//
// Registered and packed fields are copied. Exchanged fields belong to the library: `now` is a block
// of the pool that holds x_k, `then` is one that x_{k+1} is written to. Keeping a state means that
// its slot holds the same block as `now`, restoring one that `now` holds the slot's; a block is
// free when nobody holds it any more. Small states share blocks, so there is no block of their own
// to hand over: their exchanged fields live in two buffers and are copied as registered ones are.
//
// Fields on a device are copied by its streams, and nobody here waits for that: a block of the host
// has a ticket, which who looks into the block waits for. Their exchanged fields lie in blocks of
// DeviceSlots, as those of the host lie in blocks of the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/sweep/fingerprint.h"
#include "store/memory/block_layout.h"
#include "store/memory/device_mover.h"
#include "store/tiers/block_keeper.h"
#include "store/tiers/device_slots.h"
#include "store/tiers/tier.h"

namespace anadrome::engine {

/// What a state with fields on a device has beside the pool.
struct ForDevices {
  store::DeviceSlots* slots = nullptr;  ///< if there are some
  device::Pins* pins = nullptr;         ///< of blocks of the pool
  /// Nobody looks into a block without waiting for its ticket. Otherwise copies are waited for
  /// here.
  bool begins = false;
};

class LiveState final : public store::Live {
 public:
  LiveState(const store::BlockLayout& layout, std::vector<store::Field> state_fields,
            store::BlockKeeper& blocks, const ForDevices& devices = {});
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
  device::Ticket ticket(std::int64_t block) const override;
  /// The host waits for the copies of `block` that were begun, and for all. What went wrong.
  Failure wait_for(std::int64_t block) const { return ticket(block).wait(); }
  Failure finish_copies() const;

  /// The same in slots of a device: NULL without any.
  store::Live* on_device() { return on_device_.get(); }

  /// A fingerprint for each field, to be compared with `first` if there are some. `room` is for one
  /// packed field at a time; where there is none, packed fields are left out, and have the same
  /// fingerprint always. A room of a rank without elements is empty.
  void take_fingerprints(std::span<Fingerprint> prints, std::optional<std::span<std::byte>> room,
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
  /// Who hands blocks over: the field lies in a block itself.
  enum class HandsOver { kNobody, kHost, kDevice };
  class OnDevice;

  void keep_fields(std::int64_t block, std::int64_t index) override;
  void restore_fields(std::int64_t block, std::int64_t index) override;
  void keep_in_slot(std::int64_t block);
  void restore_slot(std::int64_t block);
  template <class Each>
  void each_field(const Each& each);
  Failure copy_out(std::size_t field, std::byte* place);
  Failure copy_in(std::size_t field, const std::byte* place);
  template <class Copy>
  void begin(std::size_t field, std::int64_t block, const Copy& copy);
  void begin_out(std::size_t field, std::byte* place, std::int64_t block);
  void begin_in(std::size_t field, const std::byte* place, std::int64_t block);
  bool begins(std::size_t field) const;
  bool is_handed_over(std::size_t field) const {
    return hands_over_ != HandsOver::kNobody && fields_[field].exchanged;
  }
  store::BlockKeeper& home() const {
    return hands_over_ == HandsOver::kDevice ? slots_->blocks() : blocks_;
  }
  std::byte* address(std::int64_t block, std::size_t field) const {
    return hands_over_ == HandsOver::kDevice ? slots_->address(block, field)
                                             : layout_.address(pool_.address(block), 0, field);
  }
  std::int64_t share();
  void let_go(std::int64_t& block);
  void is_now(std::int64_t block);

  const store::BlockLayout& layout_;
  std::vector<store::Field> fields_;
  store::BlockKeeper& blocks_;
  store::DeviceSlots* const slots_;
  device::Pins* const pins_;
  const bool begins_;
  bool exchanged_ = false;
  HandsOver hands_over_ = HandsOver::kNobody;
  std::int64_t now_ = -1, then_ = -1;  ///< blocks, if blocks are handed over
  std::vector<Buffers> buffers_;       ///< by field, if they are not
  std::vector<std::byte> storage_;
  std::vector<device::Ticket> of_blocks_;  ///< of the host's pool
  std::vector<device::Ticket> of_slots_;   ///< copies to the host that read handed-over ones
  std::vector<device::Ticket> newest_[2];  ///< by Route and field
  std::unique_ptr<store::Live> on_device_;
};

}  // namespace anadrome::engine
