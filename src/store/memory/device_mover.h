// SPDX-License-Identifier: BSD-2-Clause
// Fields in the memory of a device. As a Mover it waits for each copy; who knows when the bytes are
// needed begins copies by `device` on `stream`, and waits for their tickets.
#pragma once

#include <memory>
#include <utility>

#include "device/device.h"
#include "store/memory/mover.h"

namespace anadrome::store {

class DeviceMover final : public Mover {
 public:
  /// `device`: NULL on a rank where the field has no elements.
  DeviceMover(std::shared_ptr<device::Device> device, void* stream)
      : device_(std::move(device)), stream_(stream) {}

  const DeviceMover* on_device() const override { return this; }
  device::Device& device() const { return *device_; }
  const std::shared_ptr<device::Device>& shared_device() const { return device_; }
  void* stream() const { return stream_; }

  Failure copy_out(const Field& field, std::byte* place, std::size_t bytes) const override {
    return copy(place, field.values, bytes, device::Device::After::kNothing);
  }
  Failure copy_in(const Field& field, const std::byte* place, std::size_t bytes) const override {
    return copy(field.values, place, bytes, device::Device::After::kCaller);
  }

 private:
  Failure copy(void* to, const void* from, std::size_t bytes, device::Device::After after) const {
    if (bytes == 0) return {};
    Failure waited;
    Failure failed = failure_from([&] {
      waited = device_->copy(device::Route::kFar, to, from, bytes, stream_, after).wait();
    });
    return failed ? failed : waited;
  }

  std::shared_ptr<device::Device> device_;
  void* stream_;
};

/// The device's part of a field; NULL for others.
inline const DeviceMover* on_device(const Field& field) {
  return field.mover != nullptr ? field.mover->on_device() : nullptr;
}

}  // namespace anadrome::store
