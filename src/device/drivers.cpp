// SPDX-License-Identifier: BSD-2-Clause
#include "device/drivers.h"

#include <mutex>

#include "device/device.h"

namespace anadrome::device {

std::shared_ptr<const anadrome_device_operations> loaded_driver(const void* pointer) {
  static std::mutex mutex;
  static std::shared_ptr<const anadrome_device_operations> cuda, hip;
  const std::lock_guard lock(mutex);  // a driver may be loaded later than the first field
  if (cuda == nullptr) cuda = loaded_cuda();
  if (hip == nullptr) hip = loaded_hip();
  for (const auto& driver : {cuda, hip}) {
    void* device = nullptr;
    if (driver != nullptr && driver->owner(driver->context, pointer, &device) == 0) return driver;
  }
  return nullptr;
}

}  // namespace anadrome::device
