// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/memory_plan.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "engine/sweep/live_state.h"
#include "schedule/words/revolve.h"
#include "store/memory/field_copy.h"
#include "store/tiers/single_state.h"

namespace anadrome::engine {
namespace {

store::BlockShape choose_shape(std::span<const store::Field> state_fields, std::int64_t largest,
                               std::int64_t memory, DiskUse disk) {
  store::BlockDemand demand;
  demand.state_bytes = largest;
  demand.fields = std::ssize(state_fields);
  demand.disk = disk != DiskUse::kNone;
  demand.exchanged = store::any_exchanged(state_fields);
  return store::choose_block_shape(demand, memory);
}

}  // namespace

std::int64_t least_memory(std::span<const store::Field> state_fields,
                          std::int64_t largest_state_bytes, DiskUse disk,
                          const std::optional<store::Encoding>& encoding,
                          const store::BlockShape* given_shape) {
  const store::BlockShape shape = given_shape != nullptr
                                      ? *given_shape
                                      : choose_shape(state_fields, largest_state_bytes, 0, disk);
  const store::BlockLayout layout(shape, state_fields);
  const bool pinned = any_on_device(state_fields);
  const std::int64_t block =
      checked_add(pinned ? round_up(layout.block_bytes(), store::kPage) : layout.block_bytes(),
                  store::bookkeeping_bytes(shape.states, disk));
  const std::int64_t blocks = 1 + LiveState::live_blocks(layout, state_fields);
  const std::int64_t beside =
      checked_add(LiveState::buffer_bytes(layout, state_fields),
                  encoding_bytes(layout, disk, encoding ? &*encoding : nullptr));
  return checked_add(checked_multiply(blocks, block), beside);
}

std::int64_t encoding_bytes(const store::BlockLayout& layout, DiskUse disk,
                            const store::Encoding* encoding) {
  if (encoding == nullptr || disk == DiskUse::kNone) return 0;
  return store::EncodedPart::memory_bytes(*encoding, layout);
}

std::int64_t memory_for_states(Agreement& agreement, std::span<const store::Field> state_fields,
                               std::int64_t states, Precision slots) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t memory = 1;
  for (;;) {  // more memory is cut into larger blocks, and the last one may be needed in part only
    const MemoryPlan plan = plan_memory(
        agreement,
        {.state_fields = state_fields, .memory = memory, .states = states, .slots = slots});
    if ((plan.blocks - plan.set_aside) * plan.slots.states() >= states) return memory;
    // Every rank must come to the same number: a layout follows from it.
    struct Bytes {
      std::int64_t block, buffers;
    };
    const auto most =
        largest_of<std::int64_t>(agreement.ranks(), Bytes{plan.bytes_per_block, plan.buffer_bytes});
    const std::int64_t blocks = ceil_divide(states, plan.slots.states()) + plan.set_aside;
    if (blocks > kMost / most.block) return kMost;
    memory = blocks * most.block + most.buffers;
  }
}

namespace {

enum class ShapeFor { kMemory, kLeast };  ///< the budget, or as few bytes as can be

MemoryPlan plan_with(Agreement& agreement, const PoolDemand& demand, ShapeFor wanted) {
  const std::span<const store::Field> state_fields = demand.state_fields;
  const std::int64_t memory = demand.memory, states = demand.states;
  const DiskUse disk = demand.disk;
  const bool single = demand.slots == Precision::kSingle, in_files = disk != DiskUse::kNone;
  MemoryPlan plan;
  std::vector<store::Field> halved;
  Failure failure = failure_from([&] {
    if (single) halved = store::single_fields(state_fields);
  });
  const std::span<const store::Field> in_slots = single ? halved : state_fields;
  // One shape for all ranks, from the largest state and from the rank that has the least memory.
  struct Extremes {
    std::int64_t state_bytes, less_memory, slot_bytes;
  };
  const auto most = largest_of<std::int64_t>(
      agreement.ranks(),
      Extremes{store::total_bytes(state_fields), -memory, store::total_bytes(in_slots)});
  const std::int64_t largest = most.state_bytes;
  const std::int64_t least = wanted == ShapeFor::kLeast ? 0 : -most.less_memory;
  plan.largest_state_bytes = largest;
  plan.largest_slot_bytes = most.slot_bytes;
  const auto lay_out = [&](const auto& body) {
    if (!failure) failure = failure_from(body);
  };
  lay_out([&] {
    plan.shape = demand.given_shape != nullptr ? *demand.given_shape
                 : in_files                    ? choose_shape(state_fields, largest, least, disk)
                            : choose_shape(in_slots, plan.largest_slot_bytes, least, disk);
    plan.layout = store::BlockLayout(plan.shape, state_fields);
  });
  // Files have blocks of whole states; where these do not leave room for twice as many slots, the
  // pool has larger ones.
  const std::int64_t slots_per_block = plan.shape.states * (single && in_files ? 2 : 1);
  lay_out([&] {
    plan.slots = store::BlockLayout({slots_per_block, plan.shape.paged && !single}, in_slots);
    plan.single = single;
    plan.pool_block_bytes = in_files ? std::max(plan.layout.block_bytes(), plan.slots.block_bytes())
                                     : plan.slots.block_bytes();
    // Whole pages are pinned, each by one block.
    if (any_on_device(state_fields))
      plan.pool_block_bytes = round_up(plan.pool_block_bytes, store::kPage);
    plan.bytes_per_block =
        checked_add(plan.pool_block_bytes, store::bookkeeping_bytes(slots_per_block, disk));
    plan.set_aside = LiveState::live_blocks(plan.layout, state_fields);
    plan.buffer_bytes = checked_add(LiveState::buffer_bytes(plan.layout, state_fields),
                                    encoding_bytes(plan.layout, disk, demand.encoding));
    if (single && !in_files)
      plan.buffer_bytes = checked_add(plan.buffer_bytes, store::most_piece_bytes(state_fields));
    plan.blocks = std::max<std::int64_t>(memory - plan.buffer_bytes, 0) / plan.bytes_per_block;
  });
  plan.block_bytes_all_ranks = plan.layout.block_bytes();
  agreement.ranks().sum(std::span(&plan.block_bytes_all_ranks, 1));
  plan.blocks =
      agreement.agree({.call = Call::kBegin, .failure = failure, .smallest = plan.blocks}).smallest;
  if (plan.blocks <= plan.set_aside) {
    plan.blocks = 0;
    return plan;
  }
  constexpr std::int64_t kFew = 4;  // with which slots and reading ahead come first
  if (demand.two_volumes && in_files && plan.blocks - plan.set_aside > kFew) ++plan.set_aside;
  const std::int64_t live = plan.set_aside;

  const bool all_known = states != schedule::kUnknown;
  const std::int64_t needed = all_known
                                  ? ceil_divide(std::max<std::int64_t>(states, 1), slots_per_block)
                                  : schedule::kMostSteps / slots_per_block;
  if (disk == DiskUse::kNone) {
    plan.blocks = std::min(plan.blocks, needed + live);
    plan.checkpoint_slots = (plan.blocks - live) * slots_per_block;
    return plan;
  }
  plan.prefetch_depth = store::blocks_read_ahead(plan.blocks - live);
  plan.blocks = std::min(plan.blocks, needed + plan.prefetch_depth + 1 + live);
  // One block holds the current interval's anchor, prefetch_depth blocks those to come.
  plan.checkpoint_slots = (plan.blocks - live - plan.prefetch_depth - 1) * slots_per_block + 1;
  return plan;
}

}  // namespace

MemoryPlan plan_memory(Agreement& agreement, const PoolDemand& demand) {
  MemoryPlan plan = plan_with(agreement, demand, ShapeFor::kMemory);
  // What is beside large blocks may leave no room for one.
  if (plan.blocks == 0 && demand.given_shape == nullptr)
    plan = plan_with(agreement, demand, ShapeFor::kLeast);
  return plan;
}

}  // namespace anadrome::engine
