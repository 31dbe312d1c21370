#include "engine/memory_plan.h"

#include <algorithm>

#include "base/checked.h"
#include "engine/ram_slots.h"
#include "schedule/sequence.h"
#include "store/pool.h"

namespace anadrome::engine {
namespace {

// What one block costs beside its bytes: the pool's and the slots' tables, and per state the
// schedule's stack. A block that goes to disk has an entry with its transfer, and a checksum.
std::int64_t bookkeeping(const store::BlockShape& shape, bool disk) {
  constexpr std::int64_t kPerState = 48, kPerTransfer = 512;
  return store::Pool::kOverhead + RamSlots::kOverheadPerBlock + kPerState * shape.states +
         (disk ? kPerTransfer : 0);
}

std::int64_t state_bytes(std::span<const store::Field> state_fields) {
  std::int64_t bytes = 0;
  for (const store::Field& field : state_fields) bytes = checked_add(bytes, field.bytes());
  return bytes;
}

}  // namespace

std::int64_t least_memory(std::span<const store::Field> state_fields, bool disk) {
  const auto fields = static_cast<std::int64_t>(state_fields.size());
  const store::BlockShape shape =
      store::choose_block_shape(state_bytes(state_fields), fields, 0, disk);
  const store::BlockLayout layout(shape, state_fields);
  return checked_add(layout.block_bytes(), bookkeeping(shape, disk));
}

std::int64_t memory_for_states(Agreement& agreement, std::span<const store::Field> state_fields,
                               std::int64_t states) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t memory = 1;
  for (;;) {  // more memory is cut into larger blocks, and the last one may be needed in part only
    const MemoryPlan plan = plan_memory(agreement, state_fields, memory, false, states);
    if (plan.blocks * plan.layout.states() >= states) return memory;
    std::int64_t block_bytes = plan.bytes_per_block;
    MPI_Allreduce(MPI_IN_PLACE, &block_bytes, 1, MPI_INT64_T, MPI_MAX, agreement.comm());
    const std::int64_t blocks = ceil_divide(states, plan.layout.states());
    if (blocks > kMost / block_bytes) return kMost;
    memory = blocks * block_bytes;
  }
}

MemoryPlan plan_memory(Agreement& agreement, std::span<const store::Field> state_fields,
                       std::int64_t memory, bool disk, std::int64_t states) {
  std::int64_t largest = state_bytes(state_fields);
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, agreement.comm());
  MemoryPlan plan;
  plan.largest_state_bytes = largest;
  const auto fields = static_cast<std::int64_t>(state_fields.size());
  const store::BlockShape shape = store::choose_block_shape(largest, fields, memory, disk);
  plan.layout = store::BlockLayout(shape, state_fields);
  plan.bytes_per_block = checked_add(plan.layout.block_bytes(), bookkeeping(shape, disk));
  plan.blocks = memory / plan.bytes_per_block;
  MPI_Allreduce(MPI_IN_PLACE, &plan.blocks, 1, MPI_INT64_T, MPI_MIN, agreement.comm());
  if (plan.blocks == 0) return plan;

  const bool all_known = states != schedule::kUnknown;
  const std::int64_t needed = all_known
                                  ? ceil_divide(std::max<std::int64_t>(states, 1), shape.states)
                                  : schedule::kMostSteps / shape.states;
  if (!disk) {
    plan.blocks = std::min(plan.blocks, needed);
    plan.checkpoint_slots = plan.blocks * shape.states;
    return plan;
  }
  constexpr std::int64_t kManyBlocks = 12;
  plan.prefetch_depth = plan.blocks == 1 ? 0 : plan.blocks < kManyBlocks ? 1 : 2;
  plan.blocks = std::min(plan.blocks, needed + plan.prefetch_depth + 1);
  // One block holds the current interval's anchor, prefetch_depth blocks those to come.
  plan.checkpoint_slots = (plan.blocks - plan.prefetch_depth - 1) * shape.states + 1;
  return plan;
}

}  // namespace anadrome::engine
