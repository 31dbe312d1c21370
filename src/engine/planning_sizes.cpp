// SPDX-License-Identifier: BSD-2-Clause
// Planning, the part for steps and states that differ: what is known of each of them, and a memory
// that holds states of several sizes.
#include <algorithm>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/checked.h"
#include "engine/encoding.h"
#include "engine/planning.h"
#include "store/field_copy.h"

namespace anadrome::engine {

void Planning::begin_step_tables(SweepPlan& plan) {
  const std::int64_t steps = plan.steps;
  const schedule::StepNumbers& wanted = plan.schedule->needs.each_step;
  const bool costs = wanted.costs, adjoint_costs = wanted.adjoint_costs;
  const bool sizes = wanted.sizes && gives_sizes_room();
  held_.attempt([&] {
    measured_.step_costs().begin(steps, costs);
    measured_.adjoint_costs().begin(steps, adjoint_costs);
    measured_.state_bytes().begin(steps, sizes);
  });
  plan.divided.reset();
  if (!costs && !sizes) return;
  agree_on_begin();
  for (StepTable* table : {&measured_.step_costs(), &measured_.adjoint_costs()}) {
    if (table->known()) table->share(agreement_.ranks());
  }
  const bool costs_known = (measured_.step_costs().known() || !costs) &&
                           (measured_.adjoint_costs().known() || !adjoint_costs);
  if (measured_.state_bytes().known() && costs_known) plan.divided.emplace();
}

// Bytes of x_0 .. x_{n-1}, each in one piece, on the rank where it takes the most. A measured size
// may be a little larger the next time. Fields begin at multiples of `alignment`.
std::vector<std::int64_t> Planning::rooms_of_states(std::int64_t alignment) const {
  constexpr std::int64_t kMargin = 8;
  std::int64_t beside = 0;
  for (const store::Field& field : fields_.state()) {
    const std::int64_t bytes = field.bytes();
    beside +=
        store::varies(field) ? store::kLengthBytes + alignment : round_up(bytes, alignment) - bytes;
  }
  const std::int64_t most = store::most_piece_bytes(fields_.state(), alignment);
  std::vector<std::int64_t> rooms;
  rooms.reserve(measured_.state_bytes().values().size());
  for (const double value : measured_.state_bytes().values()) {
    auto bytes = static_cast<std::int64_t>(value);
    if (measured_.state_bytes().measured()) bytes += bytes / kMargin;
    rooms.push_back(std::min(round_up(bytes + beside, alignment), most));
  }
  return rooms;
}

void Planning::throw_too_little(const SweepPlan& plan, std::int64_t needed,
                                const std::string& what) const {
  throw TooLittleMemory(needed, "memory=" + format_bytes(plan.budget) + " is too small for " +
                                    what + ", which schedule=" + plan.schedule->name +
                                    " holds at a time: at least " + std::to_string(needed) +
                                    " bytes (" + format_bytes(needed) + ") per rank are needed");
}

// The largest of any rank: every rank makes the same plan from them. Collective.
std::vector<std::int64_t> Planning::agree_on_rooms(SweepPlan& plan, std::int64_t alignment) {
  std::vector<std::int64_t> rooms;
  held_.attempt([&] { rooms = rooms_of_states(alignment); });
  agree_on_begin();
  agreement_.ranks().largest(rooms);
  const auto [smallest, largest] = std::minmax_element(rooms.begin(), rooms.end());
  plan.divided->smallest = *smallest;
  plan.divided->largest = *largest;
  return rooms;
}

void Planning::divide_memory(SweepPlan& plan) {
  const std::int64_t table = table_bytes(plan, plan.budget);
  const std::int64_t memory = std::max<std::int64_t>(plan.budget - table, 0);
  std::vector<std::int64_t> rooms = agree_on_rooms(plan, store::kLengthBytes);
  if (memory < rooms[0]) throw_too_little(plan, memory_beside_tables(plan, rooms[0]), "x_0");
  held_.attempt(
      [&] { plan.schedule->divide(problem(plan), std::move(rooms), memory, *plan.divided); });
  agree_on_begin();
  const std::int64_t needed = plan.divided->bytes();
  if (needed > memory) {
    throw_too_little(plan, checked_add(needed, table), "states of " + format_bytes(needed));
  }
  plan.memory = {};
  held_.attempt(
      [&] { plan.memory.layout = store::BlockLayout(plan.memory.shape, fields_.state()); });
  plan.memory.largest_state_bytes = plan.divided->largest;
  share_divided(plan, table);
}

// Numbers of states, for whoever counts in these.
void Planning::share_divided(SweepPlan& plan, std::int64_t table) {
  plan.memory.blocks = std::max<std::int64_t>(plan.divided->bytes() / plan.divided->largest, 1);
  plan.memory.checkpoint_slots = plan.memory.blocks;
  held_.attempt([&] { plan.memory.slots = plan.memory.layout; });
  plan.memory.single = false;
  plan.memory.buffer_bytes = table;
}

// Blocks as for states of one size, since the files have these, and in their place one memory in
// which the schedule gives states their places.
void Planning::divide_beside_blocks(SweepPlan& plan, const store::BlockShape* shape) {
  plan_blocks(plan, shape);
  if (plan.memory.blocks == 0) return;
  std::int64_t beside = table_bytes(plan, plan.budget);
  held_.attempt([&] {
    const std::optional<store::Encoding> how = encoding();
    beside = checked_add(
        beside, encoding_bytes(plan.memory.layout, plan.disk_use(), how ? &*how : nullptr));
  });
  const std::int64_t memory = std::max<std::int64_t>(plan.budget - beside, 0);
  std::vector<std::int64_t> rooms = agree_on_rooms(plan, store::kPage);
  held_.attempt(
      [&] { plan.schedule->divide(problem(plan), std::move(rooms), memory, *plan.divided); });
  agree_on_begin();
  if (plan.divided->bytes() > memory) {  // rounded up to units: slots do without
    plan.divided.reset();
    return;
  }
  share_divided(plan, beside);
}

}  // namespace anadrome::engine
