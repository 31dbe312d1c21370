// Run, the part for steps and states that differ: what is known of each of them, and a memory that
// holds states of different sizes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/checked.h"
#include "engine/run.h"
#include "schedule/least_memory.h"

namespace anadrome::engine {
namespace {

bool changes_size(const store::Field& field) { return field.size != nullptr; }

// What fields take as the caller counts: the least, and the most.
struct Extremes {
  std::int64_t least = 0, most = 0;
};

Extremes extremes_of(std::span<const store::Field> fields) {
  Extremes extremes;
  for (const store::Field& field : fields) {
    const std::int64_t bytes = field.bytes() - (changes_size(field) ? store::kLengthBytes : 0);
    extremes.most = checked_add(extremes.most, bytes);
    if (!changes_size(field)) extremes.least += bytes;
  }
  return extremes;
}

}  // namespace

// ---- what is known ----

// Blocks that are handed over have one size.
bool Run::states_vary() const {
  return !has_exchanged() && std::any_of(state_fields_.begin(), state_fields_.end(), changes_size);
}

bool Run::plans_by_step() const {
  return schedule_ == ScheduleName::kUneven || schedule_ == ScheduleName::kLeastMemory;
}

void Run::set_step_costs(std::span<const double> seconds, std::span<const std::int64_t> bytes) {
  if (under_way()) {
    throw Error(ANADROME_ERR_ORDER,
                "set_step_costs: a sweep is under way; say what steps cost before begin");
  }
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    if (std::isfinite(seconds[k]) && seconds[k] >= 0) continue;
    throw Error(ANADROME_ERR_ARGUMENT, "set_step_costs: the cost of step " + std::to_string(k) +
                                           " is not a number of seconds");
  }
  const std::vector<store::Field> fields = fields_of(ANADROME_ROLE_STATE);
  const Extremes extremes = extremes_of(fields);
  const bool vary = std::any_of(fields.begin(), fields.end(), changes_size);
  for (const std::int64_t state : bytes) {
    if (extremes.least <= state && state <= extremes.most) continue;
    const std::string range =
        vary ? std::to_string(extremes.least) + " to " + std::to_string(extremes.most)
             : std::to_string(extremes.most);
    throw Error(vary ? ANADROME_ERR_ARGUMENT : ANADROME_ERR_UNSUPPORTED,
                "set_step_costs: a state of " + std::to_string(state) +
                    " bytes, and the fields have " + range +
                    (vary ? "" : "; register those that change with anadrome_add_varying"));
  }
  std::vector<double> sizes;
  if (vary) sizes.assign(bytes.begin(), bytes.end());
  step_costs_.give(seconds);
  state_bytes_.give(sizes);
}

void Run::begin_step_tables(std::int64_t steps) {
  const bool offload = schedule_ == ScheduleName::kOffload;
  const bool costs = schedule_ == ScheduleName::kUneven || offload;
  const bool sizes = (plans_by_step() || offload) && states_vary();
  attempt([&] {
    step_costs_.begin(steps, costs);
    adjoint_costs_.begin(steps, offload);
    state_bytes_.begin(steps, sizes);
  });
  stack_plan_.reset();
  if (!costs && !sizes) return;
  agree_on_begin();
  for (StepTable* table : {&step_costs_, &adjoint_costs_}) {
    if (table->known()) table->share(agreement_.comm());
  }
  const bool costs_known = (step_costs_.known() || !costs) && (adjoint_costs_.known() || !offload);
  if (state_bytes_.known() && costs_known) stack_plan_.emplace();
}

void Run::measure_state(std::int64_t step) {
  attempt([&] { state_bytes_.add(step, static_cast<double>(live_->bytes_now())); });
}

// Of x_0 .. x_{n-1}, in one piece, on the rank where it takes the most. What was measured may be a
// little more the next time. Fields begin at multiples of `alignment`.
std::vector<std::int64_t> Run::rooms_of_states(std::int64_t alignment) const {
  constexpr std::int64_t kMargin = 8;
  std::int64_t beside = 0;
  for (const store::Field& field : state_fields_) {
    const std::int64_t bytes = field.bytes();
    beside +=
        changes_size(field) ? store::kLengthBytes + alignment : round_up(bytes, alignment) - bytes;
  }
  const std::int64_t most = store::LiveState::most_piece_bytes(state_fields_, alignment);
  std::vector<std::int64_t> rooms;
  rooms.reserve(state_bytes_.values().size());
  for (const double value : state_bytes_.values()) {
    auto bytes = static_cast<std::int64_t>(value);
    if (state_bytes_.measured()) bytes += bytes / kMargin;
    rooms.push_back(std::min(round_up(bytes + beside, alignment), most));
  }
  return rooms;
}

// ---- plans ----

schedule::UnevenSteps Run::uneven_steps(std::int64_t bytes) const {
  schedule::UnevenSteps steps;
  steps.costs = step_costs_.ticks();
  steps.bytes = bytes;
  steps.turn_is_a_step = !has_tape();
  const auto count = static_cast<std::int64_t>(steps.costs.size());
  steps.table_bytes = uneven_table_bytes(count, options_.memory);
  return steps;
}

// TURN is one of them, unless a tape is what adjoint steps need.
std::int64_t Run::chain_steps(std::int64_t steps) const {
  return std::max<std::int64_t>(steps + (has_tape() ? 0 : 1), 1);
}

std::int64_t Run::least_memory_slots(std::int64_t steps) const {
  return schedule::least_slots(chain_steps(steps));
}

void Run::throw_too_little(std::int64_t needed, const std::string& what) const {
  throw Error(ANADROME_ERR_MEMORY, "memory=" + std::to_string(options_.memory) +
                                       " is too small for " + what +
                                       ", which schedule=" + to_string(schedule_) +
                                       " holds at a time: at least " + std::to_string(needed) +
                                       " bytes (" + format_bytes(needed) + ") per rank are needed");
}

// The largest of any rank: every rank makes the same plan from them. Collective.
std::vector<std::int64_t> Run::agree_on_rooms(std::int64_t alignment) {
  std::vector<std::int64_t> rooms;
  attempt([&] { rooms = rooms_of_states(alignment); });
  agree_on_begin();
  MPI_Allreduce(MPI_IN_PLACE, rooms.data(), static_cast<int>(rooms.size()), MPI_INT64_T, MPI_MAX,
                agreement_.comm());
  const auto [smallest, largest] = std::minmax_element(rooms.begin(), rooms.end());
  stack_plan_->smallest = *smallest;
  stack_plan_->largest = *largest;
  return rooms;
}

void Run::plan_stack(std::int64_t steps) {
  const std::int64_t table = table_bytes(steps, options_.memory);
  const std::int64_t memory = std::max<std::int64_t>(options_.memory - table, 0);
  std::vector<std::int64_t> rooms = agree_on_rooms(store::kLengthBytes);
  if (memory < rooms[0]) throw_too_little(memory_beside_tables(rooms[0], steps), "x_0");
  attempt([&] {
    if (schedule_ == ScheduleName::kUneven) {
      plan_uneven_stack(std::move(rooms), memory);
    } else {
      plan_least_stack(std::move(rooms), chain_steps(steps));
    }
  });
  agree_on_begin();
  const std::int64_t needed = stack_plan_->bytes();
  if (needed > memory) {
    throw_too_little(checked_add(needed, table), "states of " + format_bytes(needed));
  }
  memory_plan_ = {};
  memory_plan_.layout = store::BlockLayout(memory_plan_.shape, state_fields_);
  memory_plan_.largest_state_bytes = stack_plan_->largest;
  share_stack(table);
}

// Numbers of states, for whoever counts in these.
void Run::share_stack(std::int64_t table) {
  memory_plan_.blocks = std::max<std::int64_t>(stack_plan_->bytes() / stack_plan_->largest, 1);
  memory_plan_.checkpoint_slots = memory_plan_.blocks;
  memory_plan_.buffer_bytes = table;
}

void Run::plan_uneven_stack(std::vector<std::int64_t> rooms, std::int64_t memory) {
  schedule::UnevenSteps steps = uneven_steps(memory);
  steps.state_bytes = std::move(rooms);
  auto planner = std::make_unique<schedule::UnevenPlanner>(steps);
  stack_plan_->units = planner->units();
  stack_plan_->unit_bytes = planner->unit_bytes();
  stack_plan_->planner = std::move(planner);
}

// Of schedule=offload: blocks as for states of one size, since its files have these, and in their
// place one memory in which the plan gives states their places. Those are whole pages, and few
// enough of them to be counted. The state at the end of the chain is live when it is needed.
void Run::plan_places(std::int64_t steps) {
  plan_blocks(steps);
  if (memory_plan_.blocks == 0) return;
  const std::int64_t table = table_bytes(steps, options_.memory);
  const std::int64_t memory = options_.memory - table;
  std::vector<std::int64_t> rooms = agree_on_rooms(store::kPage);
  attempt([&] { count_places(std::move(rooms), memory); });
  agree_on_begin();
  if (stack_plan_->bytes() > memory) {  // rounded up to units: slots do without
    stack_plan_.reset();
    return;
  }
  share_stack(table);
}

void Run::count_places(std::vector<std::int64_t> rooms, std::int64_t memory) {
  constexpr std::int64_t kMostUnits = std::int64_t{1} << 14;
  const std::int64_t needed =
      std::accumulate(rooms.begin(), rooms.end(), std::int64_t{0}, checked_add);
  const std::int64_t unit_bytes =
      round_up(std::max(std::min(memory, needed) / kMostUnits, store::kPage), store::kPage);
  std::int64_t all = 0, largest = 0;
  for (std::int64_t& room : rooms) {
    room = ceil_divide(room, unit_bytes);
    all += room;
    largest = std::max(largest, room);
  }
  stack_plan_->unit_bytes = unit_bytes;
  stack_plan_->units = std::max(std::min(memory / unit_bytes, all), largest);
  if (!has_tape()) rooms.push_back(rooms.back());
  stack_plan_->state_units = std::move(rooms);
}

// The state at the end of the chain is live when it is needed, and takes nothing.
void Run::plan_least_stack(std::vector<std::int64_t> rooms, std::int64_t chain) {
  schedule::ChainSizes sizes;
  sizes.bytes = std::move(rooms);
  sizes.bytes.resize(static_cast<std::size_t>(chain + 1), 0);
  schedule::LeastMemory least = schedule::least_memory(sizes, schedule::Accounting::kPlayed);
  stack_plan_->units = least.peak;
  stack_plan_->planner =
      std::make_unique<schedule::LeastMemoryPlanner>(std::move(sizes.bytes), std::move(least.kept));
}

// ---- the sweep ----

std::int64_t Run::stack_units(std::int64_t step) {
  return script_->overlapped() != nullptr ? stack_plan_->state_units[static_cast<std::size_t>(step)]
                                          : script_->nested()->planner().state_units(step);
}

std::int64_t Run::place_of(const schedule::Action& action) const {
  return script_->overlapped() != nullptr ? action.place : action.slot;
}

// A state that is larger than was said would be kept at the cost of another one, or of the budget.
// Only this rank may know, so all agree on every state that is kept.
void Run::keep_in_stack(const schedule::Action& action) {
  Failure too_large;
  copy(kept_, [&] {
    const std::int64_t units = stack_units(action.first);
    const std::int64_t room = units * stack_plan_->unit_bytes;
    std::int64_t bytes = 0;
    if (action.kind == schedule::Kind::kAnchor) {
      bytes = tier_->keep_at(action.slot, action.first, {action.place, units});
    } else {
      if (uses_disk()) tier_->clear({action.place, units});
      bytes = stack_->keep(place_of(action), units);
    }
    if (bytes <= room) return;
    too_large = {ANADROME_ERR_ARGUMENT,
                 "the state of step " + std::to_string(action.first) + " takes " +
                     std::to_string(bytes) + " bytes, and " + std::to_string(room) +
                     (state_bytes_.measured()
                          ? " were expected from the sweep before; begin again, and it is measured"
                          : " are what set_step_costs left for it")};
  });
  const Agreement::Output agreed = agree(Call::kAnchor, 0, "", too_large);
  if (!agreed.lost) return;
  state_bytes_.forget_measured();
  throw Error(agreed.lost.status, agreed.lost.message);
}

// For the summary; `peak`: what was measured, of the rank where it is most.
std::string Run::describe_memory(std::int64_t peak) const {
  const std::string of =
      format_bytes(peak) + " of " + format_bytes(options_.memory) + " per rank: ";
  if (!stack_plan_) {
    if (!plays_least_memory()) return "";
    const std::int64_t planned =
        memory_plan_.blocks * memory_plan_.bytes_per_block + memory_plan_.buffer_bytes;
    return of + "planned " + format_bytes(planned) + ", " +
           std::to_string(memory_plan_.checkpoint_slots) + " states of " +
           format_bytes(memory_plan_.layout.state_bytes());
  }
  return of + "planned " + format_bytes(stack_plan_->bytes() + memory_plan_.buffer_bytes) +
         ", states of " + format_bytes(stack_plan_->smallest) + " to " +
         format_bytes(stack_plan_->largest);
}

}  // namespace anadrome::engine
