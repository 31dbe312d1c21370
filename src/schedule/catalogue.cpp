// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/catalogue.h"

#include <algorithm>
#include <array>

#include "schedule/least_memory.h"
#include "schedule/offloaded_plan.h"
#include "schedule/rows.h"
#include "schedule/uneven.h"

namespace anadrome::schedule {
namespace {

constexpr OnDisk kReplaced = OnDisk::kReplaced;

constexpr auto kCatalogue = std::to_array<Entry>({
    {.name = "store_all",
     .keeps = "every state in memory",
     .needs = {},
     .in_runs = true,
     .in_auto = InAuto::kEveryStateFits,
     .tapes = KeptTapes::kAll,
     .make = make_store_all,
     .forecast = forecast_store_all},
    {.name = "revolve",
     .keeps = "as many states in memory as fit, optimally placed",
     .needs = {},
     .in_runs = true,
     .in_auto = InAuto::kNoDisk,
     .capped_by_checkpoints = true,
     .make = make_revolve,
     .forecast = forecast_revolve},
    {.name = "async",
     .keeps = "states at intervals on disk while the solver computes, Revolve between them",
     .needs = {.on_disk = OnDisk::kAnchors},
     .in_runs = true,
     .in_auto = InAuto::kByDefault,
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = make_async,
     .forecast = forecast_async},
    {.name = "overlapped",
     .keeps = "states in memory and on disk, each transfer in its place between the steps",
     .needs = {.on_disk = kReplaced,
               .steps = true,
               .most_steps = kMostOverlappedSteps - 1,
               .limit = "plans less than 1000000 steps; take async"},
     .most_read_ahead = 0,
     .anchor_apart = false,
     .table_bytes = overlapped_list_bytes,
     .make = make_overlapped},
    {.name = "mixed",
     .keeps = "states and tapes in memory",
     .needs = {.steps = true, .tape = true},
     .in_runs = true,
     .tapes = KeptTapes::kSome,
     .make = make_mixed,
     .forecast = forecast_mixed},
    {.name = "disk_revolve",
     .keeps = "states in memory and on an unlimited disk, waiting for it",
     .needs = {.on_disk = kReplaced, .steps = true},
     .table_bytes = disk_revolve_bytes,
     .make = make_disk_revolve},
    {.name = "hrevolve",
     .keeps = "states in memory and on a limited disk, waiting for it",
     .needs = {.on_disk = kReplaced, .steps = true},
     .table_bytes = hrevolve_bytes,
     .make = make_hrevolve},
    {.name = "multistage",
     .keeps = "Revolve's states, those used least on disk",
     .needs = {.on_disk = kReplaced, .steps = true},
     .make = make_multistage},
    {.name = "online",
     .keeps = "states in memory, for an unknown number of steps",
     .needs = {},
     .make = make_revolve},
    {.name = "uneven",
     .keeps = "states in memory, for steps and states that differ",
     .needs = {.steps = true,
               .each_step = {.costs = true, .sizes = true},
               .most_steps = kMostUnevenSteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .table_bytes = uneven_bytes,
     .divide = divide_for_uneven,
     .make = make_uneven},
    {.name = "least_memory",
     .keeps = "states in memory, so that each step is run at most twice",
     .needs = {.steps = true,
               .each_step = {.sizes = true},
               .most_steps = kMostLeastMemorySteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .table_bytes = least_memory_bytes,
     .states_held = least_slots,
     .divide = divide_for_least_memory,
     .make = make_least_memory},
    {.name = "offload",
     .keeps = "states in memory and on disk, for steps and states that differ",
     .needs = {.on_disk = kReplaced,
               .steps = true,
               .each_step = {.costs = true, .adjoint_costs = true, .sizes = true},
               .most_steps = kMostOffloadedSteps - 1,
               .limit = "plans less than 20000 steps; take overlapped or async"},
     .most_read_ahead = 0,
     .anchor_apart = false,
     .table_bytes = offload_bytes,
     .divide = divide_for_offload,
     .make = make_offload},
    {.name = "double",
     .keeps = "states at intervals on disk, between them two loops of equal parts",
     .needs = {.on_disk = kReplaced},
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .most_read_ahead = 1,
     .anchor_apart = false,
     .table_bytes = double_bytes,
     .make = make_double},
    {.name = "join",
     .keeps = "states of several branches in memory",
     .needs = {.steps = true, .branches = true},
     .make = make_join},
});

}  // namespace

std::span<const Entry> catalogue() { return kCatalogue; }

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
