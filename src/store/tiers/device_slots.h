// SPDX-License-Identifier: BSD-2-Clause
// Memory for slots on a device: a pool of blocks there, a state in each, and beside it, on the
// host, what of the state is not on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "store/memory/block_layout.h"
#include "store/memory/pool.h"
#include "store/tiers/block_keeper.h"

namespace anadrome::store {

class DeviceSlots {
 public:
  /// Bytes of a block on this rank.
  struct Bytes {
    std::int64_t on_device = 0, on_host = 0;
  };
  static Bytes bytes_of(std::span<const Field> state_fields);

  /// `device`: NULL on a rank that has no elements there. `staged`: a block more is for copies to
  /// the host. Throws ERR_MEMORY.
  DeviceSlots(std::shared_ptr<device::Device> device, std::span<const Field> state_fields,
              std::int64_t blocks, bool staged);
  ~DeviceSlots();
  DeviceSlots(const DeviceSlots&) = delete;
  DeviceSlots& operator=(const DeviceSlots&) = delete;

  Pool& pool() { return pool_; }
  BlockKeeper& blocks() { return keeper_; }
  /// The place of a field: on the device for one that is there, otherwise on the host.
  std::byte* address(std::int64_t block, std::size_t field) const {
    const Place& place = places_[field];
    return (place.on_device ? pool_.address(block) : host_.address(block)) + place.offset;
  }
  /// Where a field on the device goes on its way to the host; NULL: it goes at once.
  std::byte* staging(std::size_t field) const {
    return staging_ == nullptr ? nullptr : staging_ + places_[field].offset;
  }
  device::Ticket& staged(std::size_t field) { return staged_[field]; }

 private:
  struct Place {
    bool on_device;
    std::int64_t offset;
  };
  static std::vector<Place> places_of(std::span<const Field> state_fields, Bytes& bytes);

  std::shared_ptr<device::Device> device_;
  Bytes bytes_;
  std::vector<Place> places_;  ///< by field
  void* memory_ = nullptr;
  std::byte* staging_ = nullptr;
  std::vector<device::Ticket> staged_;  ///< by field: the last copy out of there
  Pool pool_, host_;
  BlockKeeper keeper_{pool_};
};

}  // namespace anadrome::store
