// SPDX-License-Identifier: BSD-2-Clause
#include "planners/streams.h"

#include <algorithm>
#include <array>

#include "planners/memory/least_memory.h"
#include "planners/memory/uneven.h"
#include "planners/offload/offloaded_plan.h"

namespace anadrome::schedule {
namespace {

constexpr auto kStreams = std::to_array<StreamEntry>({
    {.name = "store_all",
     .in_runs = true,
     .tapes = KeptTapes::kAll,
     .make = [](StreamProblem& problem) { return make_store_all(problem); },
     .keeps_every_state = true},
    {.name = "revolve",
     .in_runs = true,
     .make = [](StreamProblem& problem) { return make_revolve(problem); }},
    {.name = "async",
     .needs = {.on_disk = StreamOnDisk::kAnchors},
     .in_runs = true,
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = [](StreamProblem& problem) { return make_async(problem); }},
    {.name = "overlapped",
     .needs = {.on_disk = StreamOnDisk::kReplaced,
               .steps = true,
               .most_steps = kMostOverlappedSteps - 1,
               .limit = "plans less than 1000000 steps; take async"},
     .make = make_overlapped},
    {.name = "mixed",
     .needs = {.steps = true, .tape = true},
     .in_runs = true,
     .tapes = KeptTapes::kSome,
     .make = [](StreamProblem& problem) { return make_mixed(problem); }},
    {.name = "disk_revolve",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_disk_revolve},
    {.name = "hrevolve",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_hrevolve},
    {.name = "multistage",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_multistage},
    {.name = "online", .make = [](StreamProblem& problem) { return make_revolve(problem); }},
    {.name = "uneven",
     .needs = {.steps = true,
               .each_step = {.costs = true, .sizes = true},
               .most_steps = kMostUnevenSteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .divide = divide_for_uneven,
     .make = make_uneven},
    {.name = "least_memory",
     .needs = {.steps = true,
               .each_step = {.sizes = true},
               .most_steps = kMostLeastMemorySteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .states_held = least_slots,
     .divide = divide_for_least_memory,
     .make = make_least_memory},
    {.name = "offload",
     .needs = {.on_disk = StreamOnDisk::kReplaced,
               .steps = true,
               .each_step = {.costs = true, .adjoint_costs = true, .sizes = true},
               .most_steps = kMostOffloadedSteps - 1,
               .limit = "plans less than 20000 steps; take overlapped or async"},
     .divide = divide_for_offload,
     .make = make_offload},
    {.name = "double",
     .needs = {.on_disk = StreamOnDisk::kReplaced},
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = make_double},
    {.name = "join", .needs = {.steps = true, .branches = true}, .make = make_join},
});

}  // namespace

std::span<const StreamEntry> streams() { return kStreams; }

const StreamEntry* find_stream(std::string_view name) {
  const auto found = std::find_if(kStreams.begin(), kStreams.end(),
                                  [&](const StreamEntry& entry) { return entry.name == name; });
  return found != kStreams.end() ? &*found : nullptr;
}

}  // namespace anadrome::schedule
