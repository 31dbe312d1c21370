// SPDX-License-Identifier: BSD-2-Clause
#include "planners/streams.h"

#include <algorithm>
#include <array>

#include "planners/memory/least_memory.h"
#include "planners/memory/uneven.h"
#include "planners/offload/offloaded_plan.h"
#include "planners/rows.h"

namespace anadrome::schedule {
namespace {

constexpr auto kStreams = std::to_array<StreamEntry>({
    {.name = "store_all",
     .keeps = "every state in memory",
     .needs = {},
     .in_runs = true,
     .tapes = KeptTapes::kAll,
     .make = [](StreamProblem& problem) { return make_store_all(problem); },
     .keeps_every_state = true},
    {.name = "revolve",
     .keeps = "as many states in memory as fit, optimally placed",
     .needs = {},
     .in_runs = true,
     .make = [](StreamProblem& problem) { return make_revolve(problem); }},
    {.name = "async",
     .keeps = "states at intervals on disk while the solver computes, Revolve between them",
     .needs = {.on_disk = StreamOnDisk::kAnchors},
     .in_runs = true,
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = [](StreamProblem& problem) { return make_async(problem); }},
    {.name = "overlapped",
     .keeps = "states in memory and on disk, each transfer in its place between the steps",
     .needs = {.on_disk = StreamOnDisk::kReplaced,
               .steps = true,
               .most_steps = kMostOverlappedSteps - 1,
               .limit = "plans less than 1000000 steps; take async"},
     .make = make_overlapped},
    {.name = "mixed",
     .keeps = "states and tapes in memory",
     .needs = {.steps = true, .tape = true},
     .in_runs = true,
     .tapes = KeptTapes::kSome,
     .make = [](StreamProblem& problem) { return make_mixed(problem); }},
    {.name = "disk_revolve",
     .keeps = "states in memory and on an unlimited disk, waiting for it",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_disk_revolve},
    {.name = "hrevolve",
     .keeps = "states in memory and on a limited disk, waiting for it",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_hrevolve},
    {.name = "multistage",
     .keeps = "Revolve's states, those used least on disk",
     .needs = {.on_disk = StreamOnDisk::kReplaced, .steps = true},
     .make = make_multistage},
    {.name = "online",
     .keeps = "states in memory, for an unknown number of steps",
     .needs = {},
     .make = [](StreamProblem& problem) { return make_revolve(problem); }},
    {.name = "uneven",
     .keeps = "states in memory, for steps and states that differ",
     .needs = {.steps = true,
               .each_step = {.costs = true, .sizes = true},
               .most_steps = kMostUnevenSteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .divide = divide_for_uneven,
     .make = make_uneven},
    {.name = "least_memory",
     .keeps = "states in memory, so that each step is run at most twice",
     .needs = {.steps = true,
               .each_step = {.sizes = true},
               .most_steps = kMostLeastMemorySteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .states_held = least_slots,
     .divide = divide_for_least_memory,
     .make = make_least_memory},
    {.name = "offload",
     .keeps = "states in memory and on disk, for steps and states that differ",
     .needs = {.on_disk = StreamOnDisk::kReplaced,
               .steps = true,
               .each_step = {.costs = true, .adjoint_costs = true, .sizes = true},
               .most_steps = kMostOffloadedSteps - 1,
               .limit = "plans less than 20000 steps; take overlapped or async"},
     .divide = divide_for_offload,
     .make = make_offload},
    {.name = "double",
     .keeps = "states at intervals on disk, between them two loops of equal parts",
     .needs = {.on_disk = StreamOnDisk::kReplaced},
     .tapes = KeptTapes::kSome,
     .at_intervals = true,
     .make = make_double},
    {.name = "join",
     .keeps = "states of several branches in memory",
     .needs = {.steps = true, .branches = true},
     .make = make_join},
});

}  // namespace

std::span<const StreamEntry> streams() { return kStreams; }

const StreamEntry* find_stream(std::string_view name) {
  const auto found = std::find_if(kStreams.begin(), kStreams.end(),
                                  [&](const StreamEntry& entry) { return entry.name == name; });
  return found != kStreams.end() ? &*found : nullptr;
}

}  // namespace anadrome::schedule
