// SPDX-License-Identifier: BSD-2-Clause
// The devices that a run's fields are on: one object for each, whose streams all fields share.
#pragma once

#include <anadrome/device.h>

#include <memory>
#include <string>
#include <vector>

#include "store/memory/device_mover.h"

namespace anadrome::engine {

class Devices {
 public:
  /// The driver of the fields to come. Throws ERR_ARGUMENT for a table that is not whole.
  void set(const anadrome_device_operations* operations);
  /// For a field of `bytes` bytes at `pointer`, or, if that is NULL, in memory of the library on
  /// the calling thread's device. Throws ERR_UNSUPPORTED.
  std::shared_ptr<const store::DeviceMover> mover(const std::string& field, const void* pointer,
                                                  std::int64_t bytes, void* stream);
  /// See Device.
  void set_patience(double seconds);

 private:
  std::shared_ptr<const anadrome_device_operations> given_;
  std::vector<std::shared_ptr<device::Device>> devices_;
};

}  // namespace anadrome::engine
