#include "schedule/catalogue.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/checked.h"
#include "schedule/least_memory.h"
#include "schedule/list_sweep.h"
#include "schedule/offloaded_plan.h"
#include "schedule/uneven.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kPerStep = 64;   // bytes: what a step has in a planner's table
constexpr std::int64_t kPerEntry = 16;  // for each slot on disk
constexpr std::int64_t kSizes = 64;     // where states have several sizes

std::int64_t sizes_of(const Sizing& sizing) { return sizing.sizes_vary ? kSizes : 0; }

// Costs, sums of them and the plan, and what planning takes.
std::int64_t uneven_bytes(const Sizing& sizing) {
  constexpr std::int64_t kUneven = 256;
  return checked_add(checked_multiply(sizing.steps + 2, kUneven + sizes_of(sizing)),
                     uneven_table_bytes(sizing));
}

std::int64_t least_memory_bytes(const Sizing& sizing) {
  return checked_multiply(sizing.steps + 2, kLeastMemoryBytesPerStep + sizes_of(sizing));
}

std::int64_t overlapped_list_bytes(const Sizing& sizing) {
  return overlapped_bytes(sizing.steps) +
         (searches_thoroughly(sizing.memory) ? kOverlapSearchBytes : 0);
}

std::int64_t offload_bytes(const Sizing& sizing) {
  return overlapped_list_bytes(sizing) +
         (sizing.steps + 2) * (kOffloadBytesPerStep + sizes_of(sizing));
}

std::int64_t double_bytes(const Sizing& sizing) {
  return checked_multiply(most_double_anchors(sizing.steps, sizing.interval), kPerStep);
}

std::int64_t disk_revolve_bytes(const Sizing& sizing) {
  return checked_multiply(sizing.steps + 2, kPerStep);
}

std::int64_t hrevolve_bytes(const Sizing& sizing) {
  const std::int64_t on_disk =
      sizing.disk / std::max<std::int64_t>(sizing.state_bytes_all_ranks, 1);
  const std::int64_t slots = sizing.disk < 0 ? 0 : std::min(on_disk, sizing.steps + 1);
  return checked_multiply(sizing.steps + 2,
                          checked_add(kPerStep, checked_multiply(kPerEntry, slots)));
}

constexpr OnDisk kReplaced = OnDisk::kReplaced;

constexpr std::array<Entry, 14> kCatalogue = {{
    {.name = "store_all",
     .keeps = "every state in memory",
     .needs = {},
     .in_auto = InAuto::kEveryStateFits,
     .tapes = KeptTapes::kAll},
    {.name = "revolve",
     .keeps = "as many states in memory as fit, optimally placed",
     .needs = {},
     .capped_by_checkpoints = true},
    {.name = "async",
     .keeps = "states at intervals on disk while the solver computes, Revolve between them",
     .needs = {.on_disk = OnDisk::kAnchors},
     .in_auto = InAuto::kByDefault,
     .tapes = KeptTapes::kSome},
    {.name = "overlapped",
     .keeps = "states in memory and on disk, each transfer in its place between the steps",
     .needs = {.on_disk = kReplaced,
               .steps = true,
               .most_steps = kMostOverlappedSteps - 1,
               .limit = "plans less than 1000000 steps; take async"},
     .in_auto = InAuto::kWeighed,
     .is_list = true,
     .most_read_ahead = 0,
     .anchor_apart = false,
     .table_bytes = overlapped_list_bytes},
    {.name = "mixed",
     .keeps = "states and tapes in memory",
     .needs = {.steps = true, .tape = true},
     .tapes = KeptTapes::kSome},
    {.name = "disk_revolve",
     .keeps = "states in memory and on an unlimited disk, waiting for it",
     .needs = {.on_disk = kReplaced, .steps = true},
     .in_auto = InAuto::kWeighedUnlimitedDisk,
     .table_bytes = disk_revolve_bytes},
    {.name = "hrevolve",
     .keeps = "states in memory and on a limited disk, waiting for it",
     .needs = {.on_disk = kReplaced, .steps = true},
     .in_auto = InAuto::kWeighedLimitedDisk,
     .table_bytes = hrevolve_bytes},
    {.name = "multistage",
     .keeps = "Revolve's states, those used least on disk",
     .needs = {.on_disk = kReplaced, .steps = true}},
    {.name = "online", .keeps = "states in memory, for an unknown number of steps", .needs = {}},
    {.name = "uneven",
     .keeps = "states in memory, for steps and states that differ",
     .needs = {.steps = true,
               .each_step = {.costs = true, .sizes = true},
               .most_steps = kMostUnevenSteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .table_bytes = uneven_bytes},
    {.name = "least_memory",
     .keeps = "states in memory, so that each step is run at most twice",
     .needs = {.steps = true,
               .each_step = {.sizes = true},
               .most_steps = kMostLeastMemorySteps,
               .limit = "plans up to 2^20 steps; take revolve or async"},
     .table_bytes = least_memory_bytes,
     .states_held = least_slots},
    {.name = "offload",
     .keeps = "states in memory and on disk, for steps and states that differ",
     .needs = {.on_disk = kReplaced,
               .steps = true,
               .each_step = {.costs = true, .adjoint_costs = true, .sizes = true},
               .most_steps = kMostOffloadedSteps - 1,
               .limit = "plans less than 20000 steps; take overlapped or async"},
     .is_list = true,
     .most_read_ahead = 0,
     .anchor_apart = false,
     .table_bytes = offload_bytes},
    {.name = "double",
     .keeps = "states at intervals on disk, between them two loops of equal parts",
     .needs = {.on_disk = kReplaced},
     .tapes = KeptTapes::kSome,
     .most_read_ahead = 1,
     .anchor_apart = false,
     .table_bytes = double_bytes},
    {.name = "join",
     .keeps = "states of several branches in memory",
     .needs = {.steps = true, .branches = true},
     .in_auto = InAuto::kBranches},
}};

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

// No rank has more slots than the one with the largest state, which is no smaller than the mean.
std::int64_t uneven_table_bytes(const Sizing& sizing) {
  constexpr std::int64_t kMost = std::int64_t{64} << 20;
  std::optional<std::int64_t> most_slots;
  if (!sizing.sizes_vary) {
    most_slots = sizing.memory / std::max<std::int64_t>(sizing.state_bytes, 1);
  }
  return std::min({kMost, sizing.memory / 8, most_uneven_table_bytes(sizing.chain(), most_slots)});
}

// What searching takes is part of the memory: where it is a small part.
bool searches_thoroughly(std::int64_t memory) { return memory >= 16 * kOverlapSearchBytes; }

// None is added where ranks could not tell each other that there is no memory.
std::int64_t most_double_anchors(std::int64_t steps, std::int64_t interval) {
  constexpr std::int64_t kMost = std::int64_t{1} << 14;
  if (steps < 0) return kMost;
  if (interval > 0) return ceil_divide(steps + 1, interval);
  return std::min(kMost, steps + 1);
}

}  // namespace anadrome::schedule
