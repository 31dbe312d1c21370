// SPDX-License-Identifier: BSD-2-Clause
// From the option device_memory to slots in the memory of a device, the same on every rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/ranks/agreement.h"
#include "store/tiers/device_slots.h"

namespace anadrome::engine {

struct DevicePlan {
  std::int64_t slots = 0;           ///< 0: slots are on the host
  std::int64_t blocks = 0;          ///< for these, and for x_k and x_{k+1} of exchanged fields
  bool staged = false;              ///< one more, by which anchors go to the host
  store::DeviceSlots::Bytes bytes;  ///< of a block, on this rank

  /// With the tables.
  std::int64_t host_bytes() const {
    return blocks * (bytes.on_host + store::bookkeeping_bytes(1, store::DiskUse::kNone));
  }
  std::int64_t device_bytes() const { return (blocks + (staged ? 1 : 0)) * bytes.on_device; }
};

/// Is some state field on a device? The same on all ranks.
bool any_on_device(std::span<const store::Field> fields);
/// That of the first field with elements there; NULL: none on this rank.
std::shared_ptr<device::Device> device_of(std::span<const store::Field> state_fields);

/// Are all state fields that are on a device on one? Then its streams order all copies.
bool on_one_device(std::span<const store::Field> state_fields);

/// The wishes by which slots are planned.
struct DeviceDemand {
  std::span<const store::Field> state_fields;
  std::int64_t memory = 0;   ///< device_memory
  std::int64_t on_host = 0;  ///< memory: half of it at most is for what slots have on the host
  std::int64_t states = 0;   ///< at most; schedule::kUnknown: as many as fit
  bool anchors = false;      ///< are states to go to disk?
};
/// Collective. Throws ERR_MEMORY where there is not enough for one slot, and ERR_UNSUPPORTED for
/// state fields on two devices.
DevicePlan plan_device(Agreement& agreement, const DeviceDemand& demand);

}  // namespace anadrome::engine
