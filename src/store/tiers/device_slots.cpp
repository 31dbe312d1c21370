// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/device_slots.h"

#include <utility>

#include "base/checked.h"
#include "store/memory/device_mover.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kDeviceAlignment = 256;  // as drivers allocate
constexpr std::int64_t kHostAlignment = 64;

}  // namespace

std::vector<DeviceSlots::Place> DeviceSlots::places_of(std::span<const Field> fields,
                                                       Bytes& bytes) {
  std::vector<Place> places;
  for (const Field& field : fields) {
    const bool there = store::on_device(field) != nullptr;
    std::int64_t& end = there ? bytes.on_device : bytes.on_host;
    places.push_back({there, end});
    end = checked_add(end, round_up(field.bytes(), there ? kDeviceAlignment : kHostAlignment));
  }
  return places;
}

DeviceSlots::Bytes DeviceSlots::bytes_of(std::span<const Field> fields) {
  Bytes bytes;
  places_of(fields, bytes);
  return bytes;
}

DeviceSlots::DeviceSlots(std::shared_ptr<device::Device> device, std::span<const Field> fields,
                         std::int64_t blocks, bool staged)
    : device_(std::move(device)), places_(places_of(fields, bytes_)), staged_(fields.size()) {
  const std::int64_t bytes = checked_multiply(bytes_.on_device, blocks + (staged ? 1 : 0));
  if (bytes > 0) memory_ = device_->allocate(bytes);
  try {
    auto* const memory = static_cast<std::byte*>(memory_);
    if (staged && memory != nullptr) staging_ = memory + bytes_.on_device * blocks;
    pool_ = Pool(memory, bytes_.on_device, blocks);
    host_ = Pool(bytes_.on_host, blocks);
  } catch (...) {
    if (memory_ != nullptr) device_->release(memory_);
    throw;
  }
}

DeviceSlots::~DeviceSlots() {
  if (memory_ != nullptr) device_->release(memory_);
}

}  // namespace anadrome::store
