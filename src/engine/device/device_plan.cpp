// SPDX-License-Identifier: BSD-2-Clause
#include "engine/device/device_plan.h"

#include <algorithm>
#include <string>

#include "base/byte_size.h"
#include "store/memory/device_mover.h"

namespace anadrome::engine {

using store::DiskUse;
using store::Field;

bool any_on_device(std::span<const Field> fields) {
  return std::ranges::any_of(fields,
                             [](const Field& field) { return store::on_device(field) != nullptr; });
}

std::shared_ptr<device::Device> device_of(std::span<const Field> fields) {
  for (const Field& field : fields) {
    const store::DeviceMover* const mover = store::on_device(field);
    if (mover != nullptr && field.count > 0) return mover->shared_device();
  }
  return nullptr;
}

bool on_one_device(std::span<const Field> fields) {
  const auto first = device_of(fields);
  return std::ranges::all_of(fields, [&](const Field& field) {
    const store::DeviceMover* const mover = store::on_device(field);
    return mover == nullptr || field.count == 0 || mover->shared_device() == first;
  });
}

namespace {

// Slots are on one device, as their copies are.
Failure one_device(std::span<const Field> fields) {
  for (const Field& field : fields) {
    if (field.exchanged && store::on_device(field) == nullptr) {
      return {ANADROME_ERR_UNSUPPORTED, "exchanged fields are on a device, or none of them is; '" +
                                            field.name + "' is on the host; set device_memory=0"};
    }
  }
  if (!on_one_device(fields)) {
    return {ANADROME_ERR_UNSUPPORTED,
            "device_memory has slots on one device, and the state fields are on several; set "
            "device_memory=0"};
  }
  return {};
}

}  // namespace

DevicePlan plan_device(Agreement& agreement, const DeviceDemand& demand) {
  DevicePlan plan;
  if (!any_on_device(demand.state_fields)) return plan;
  const bool exchanged = std::ranges::any_of(demand.state_fields, [](const Field& field) {
    return field.exchanged && store::on_device(field) != nullptr;
  });
  if (!exchanged && demand.memory == 0) return plan;
  Failure failure = failure_from([&] {
    plan.bytes = store::DeviceSlots::bytes_of(demand.state_fields);
    if (const Failure apart = one_device(demand.state_fields))
      throw Error(apart.status, apart.message);
  });
  const std::int64_t live = exchanged ? 2 : 0;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // of a rank without elements there
  std::int64_t fit = plan.bytes.on_device == 0 ? kMost : demand.memory / plan.bytes.on_device;
  const char* option = "device_memory";
  std::int64_t given = demand.memory, least = (live + 1) * plan.bytes.on_device;
  const std::int64_t beside = plan.bytes.on_host + store::bookkeeping_bytes(1, DiskUse::kNone);
  if (fit > live && demand.on_host / 2 / beside < fit) {  // what of a slot is on the host
    fit = demand.on_host / 2 / beside;
    option = "memory";
    given = demand.on_host;
    least = 2 * (live + 1) * beside;
  }
  if (!failure && fit <= live) {
    failure = failure_from([&] {
      throw Error(ANADROME_ERR_MEMORY,
                  std::string(option) + "=" + format_bytes(given) + " is too small for " +
                      (exchanged ? "two states of exchanged fields and a slot" : "one state") +
                      ": at least " + std::to_string(least) + " bytes (" + format_bytes(least) +
                      ") per rank are needed");
    });
  }
  const std::int64_t blocks =
      agreement.agree({.call = Call::kBegin, .failure = failure, .smallest = fit}).smallest;
  plan.staged = demand.anchors && !exchanged && blocks > 1;
  plan.slots = blocks - live - (plan.staged ? 1 : 0);
  if (demand.states >= 0)
    plan.slots = std::min(plan.slots, std::max<std::int64_t>(demand.states, 1));
  plan.blocks = plan.slots + live;
  return plan;
}

}  // namespace anadrome::engine
