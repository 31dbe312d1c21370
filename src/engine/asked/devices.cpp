// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/devices.h"

#include <algorithm>

#include "base/error.h"

namespace anadrome::engine {

void Devices::set(const anadrome_device_operations* given) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw Error(ANADROME_ERR_ARGUMENT, std::string("set_device: ") + what);
  };
  require(given != nullptr, "the operations are NULL");
  require(given->size == sizeof *given, "set operations.size = sizeof(anadrome_device_operations)");
  const bool whole = given->owner && given->enter && given->leave && given->make_stream &&
                     given->destroy_stream && given->make_event && given->destroy_event &&
                     given->record && given->query && given->follow && given->seconds &&
                     given->copy && given->pin && given->unpin && given->allocate && given->release;
  require(whole, "a function is NULL; only error may be");
  given_ = std::make_shared<const anadrome_device_operations>(*given);
}

std::shared_ptr<const store::DeviceMover> Devices::mover(const std::string& field,
                                                         const void* pointer, std::int64_t bytes,
                                                         void* stream) {
  if (bytes == 0) return std::make_shared<const store::DeviceMover>(nullptr, stream);
  const auto driver = given_ != nullptr ? given_ : device::loaded_driver(pointer);
  void* place = nullptr;
  const bool known =
      driver != nullptr && driver->owner(driver->context, pointer, &place) == 0 && place != nullptr;
  if (!known) {
    throw Error(
        ANADROME_ERR_UNSUPPORTED,
        "field '" + field + "': " +
            (pointer == nullptr ? "this thread has no device" : "no device has its memory") +
            " by the drivers that this process has loaded (libcuda.so.1, libamdhip64.so), "
            "or by that of anadrome_set_device");
  }
  const auto found = std::ranges::find_if(
      devices_, [&](const auto& device) { return device->is(driver.get(), place); });
  if (found != devices_.end()) return std::make_shared<const store::DeviceMover>(*found, stream);
  devices_.push_back(std::make_shared<device::Device>(driver, place));
  return std::make_shared<const store::DeviceMover>(devices_.back(), stream);
}

void Devices::set_patience(double seconds) {
  for (const auto& device : devices_) device->set_patience(seconds);
}

}  // namespace anadrome::engine
