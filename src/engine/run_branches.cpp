// Run, the part of branches that meet in one objective: what they may ask for, and their slots.
#include <algorithm>
#include <numeric>
#include <string>

#include "base/byte_size.h"
#include "engine/run.h"

namespace anadrome::engine {

namespace {

// Far below what the planners' numbers hold.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 30;

Failure fault_of(std::span<const std::int64_t> steps) {
  for (std::size_t branch = 0; branch < steps.size(); ++branch) {
    if (steps[branch] >= 1 && steps[branch] <= kMostSteps) continue;
    return {ANADROME_ERR_ARGUMENT, "begin_branches: branch " + std::to_string(branch) + " has " +
                                       std::to_string(steps[branch]) +
                                       " steps; give 1 to 2^30 for each"};
  }
  return {};
}

}  // namespace

void Run::begin_branches(std::span<const std::int64_t> steps, const Failure& earlier) {
  Failure failure = earlier ? earlier : fault_of(steps);
  if (!failure) failure = failure_from([&] { join_.steps.assign(steps.begin(), steps.end()); });
  if (failure) join_.steps.clear();
  begin_sweep(std::accumulate(join_.steps.begin(), join_.steps.end(), std::int64_t{0}), failure);
}

// As the options and the memory's plan have them. Allocates nothing: ranks may be between
// agreements.
const schedule::JoinSweepOptions& Run::join_options() {
  constexpr std::int64_t kMostForTables = std::int64_t{64} << 20;
  join_.slots = memory_plan_.checkpoint_slots;
  join_.charged_inputs = options_.charged_inputs;
  join_.reducible = options_.reducible;
  join_.record = has_tape();
  join_.plan_bytes =
      std::min({kMostForTables, options_.memory / 8, schedule::JoinSweep::most_plan_bytes(join_)});
  return join_;
}

// The planner's tables and what is remembered of each slot and branch: they are part of `memory`.
std::int64_t Run::join_bytes(std::int64_t slots) {
  const schedule::JoinSweepOptions& options = join_options();
  const auto branches = static_cast<std::int64_t>(options.steps.size());
  return options.plan_bytes + schedule::JoinSweep::kBytesPerSlot * (branches + slots);
}

// Can there be a plan? The answer is the same on all ranks. Collective if there is none.
void Run::require_join_slots(std::int64_t steps) {
  const std::int64_t fewest = schedule::JoinSweep::fewest_slots(join_options());
  const std::int64_t slots = memory_plan_.checkpoint_slots;
  if (slots >= fewest) return;
  const std::string text =
      std::to_string(join_.steps.size()) +
      " branches with objective=" + (options_.reducible ? "reducible" : "joint") +
      " and inputs=" + (options_.charged_inputs ? "charged" : "free") + " need " +
      std::to_string(fewest) + " slots, and ";
  if (options_.most_slots(fewest) < fewest) {
    throw Error(ANADROME_ERR_ARGUMENT,
                text + "checkpoints=" + std::to_string(options_.checkpoints) + " allows fewer");
  }
  const std::int64_t given = options_.memory;
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  std::int64_t needed = memory_for_states(agreement_, state_fields_, fewest);
  for (; needed < kMost; needed += needed / 16 + 64) {
    options_.memory = needed;
    plan_blocks(steps);
    if (memory_plan_.checkpoint_slots >= fewest) break;
  }
  options_.memory = given;
  throw Error(ANADROME_ERR_MEMORY, text + "memory=" + std::to_string(given) + " has " +
                                       std::to_string(slots) + "; set memory to " +
                                       std::to_string(needed) + "B (" + format_bytes(needed) + ")");
}

void Run::show_end(std::int64_t branch) {
  const bool seeds = last_.kind == ANADROME_TURN && last_.again != 0 && under_way();
  if (!seeds || options_.reducible || join() == nullptr) {
    throw Error(ANADROME_ERR_ORDER,
                "show_end: only at a TURN with `again`, of branches with objective=joint");
  }
  if (branch < 0 || branch >= join()->branches()) {
    throw Error(ANADROME_ERR_ARGUMENT, "show_end: there is no branch " + std::to_string(branch));
  }
  copy(restored_, [&] { slots_->restore(join()->slot_of_end(branch)); });
}

}  // namespace anadrome::engine
