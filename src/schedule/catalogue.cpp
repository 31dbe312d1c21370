// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/catalogue.h"

#include <algorithm>
#include <array>

#include "schedule/rows.h"

namespace anadrome::schedule {
namespace {

constexpr auto kCatalogue = std::to_array<Entry>({
    {.name = "store_all",
     .needs = {},
     .in_auto = InAuto::kEveryStateFits,
     .tapes = KeptTapes::kAll,
     .make = make_store_all,
     .forecast = forecast_store_all},
    {.name = "revolve",
     .needs = {},
     .in_auto = InAuto::kNoDisk,
     .capped_by_checkpoints = true,
     .make = make_revolve,
     .forecast = forecast_revolve},
    {.name = "async",
     .needs = {.on_disk = OnDisk::kAnchors},
     .in_auto = InAuto::kByDefault,
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = make_async,
     .forecast = forecast_async},
    {.name = "mixed",
     .needs = {.steps = true, .tape = true},
     .tapes = KeptTapes::kSome,
     .make = make_mixed,
     .forecast = forecast_mixed},
    {.name = "undo",
     .needs = {.on_disk = OnDisk::kAnchors, .undo = true},
     .at_intervals = true,
     .make = make_undo,
     .forecast = forecast_undo},
});

constexpr auto kStreams =
    std::to_array({"overlapped", "disk_revolve", "hrevolve", "multistage", "online", "uneven",
                   "least_memory", "offload", "double", "join"});

}  // namespace

std::span<const Entry> catalogue() { return kCatalogue; }

std::span<const char* const> names_of_streams() { return kStreams; }

const Entry* find_schedule(std::string_view name) {
  const auto found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found != kCatalogue.end() ? &*found : nullptr;
}

const Entry& schedule_for(InAuto in_auto) {
  return *std::find_if(kCatalogue.begin(), kCatalogue.end(),
                       [&](const Entry& entry) { return entry.in_auto == in_auto; });
}

}  // namespace anadrome::schedule
