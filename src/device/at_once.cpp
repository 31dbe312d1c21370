// SPDX-License-Identifier: BSD-2-Clause
#include "device/at_once.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "device/device.h"

namespace anadrome::device {
namespace {

// The devices that this thread has met.
Device& device_of(const void* pointer) {
  static thread_local std::vector<std::shared_ptr<Device>> known;
  const auto driver = loaded_driver(pointer);
  void* place = nullptr;
  if (driver == nullptr || driver->owner(driver->context, pointer, &place) != 0) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "no device has this memory by the drivers that this process has loaded "
                "(libcuda.so.1, libamdhip64.so)");
  }
  const auto found = std::ranges::find_if(
      known, [&](const auto& device) { return device->is(driver.get(), place); });
  if (found != known.end()) return **found;
  known.push_back(std::make_shared<Device>(driver, place));
  return *known.back();
}

}  // namespace

void copy_at_once(void* to, const void* from, std::size_t bytes, const void* on_device) {
  if (bytes == 0) return;
  Device& device = device_of(on_device);
  const Failure failed =
      device.copy(Route::kFar, to, from, bytes, nullptr, Device::After::kNothing).wait();
  if (failed) throw Error(failed.status, failed.message);
}

}  // namespace anadrome::device
