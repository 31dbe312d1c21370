// Run, the part of schedule=double: an interval whose reversal is the same loops every time.
#include <algorithm>
#include <string>

#include "base/checked.h"
#include "engine/run.h"
#include "schedule/late_planner.h"

namespace anadrome::engine {

// How many the stack has room for, at most: none is added where ranks could not tell each other
// that there is no memory.
std::int64_t Run::most_double_anchors(std::int64_t steps) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 14;
  if (steps == schedule::kUnknown) return kMost;
  if (options_.interval > 0) return ceil_divide(steps + 1, options_.interval);
  return std::min(kMost, steps + 1);
}

// Without a tape to be recorded TURN is one more.
std::int64_t Run::double_steps() const {
  const std::int64_t steps = nested_options_.steps;
  if (steps == schedule::kUnknown) return schedule::kMostSteps;
  return nested_options_.record ? steps : steps + 1;
}

schedule::DoubleMemory Run::double_memory() const {
  return {memory_plan_.checkpoint_slots, keeps_tapes_ ? tape_slots_ : 0};
}

// Steps that are run before transfers and steps count as measured.
std::int64_t Run::double_lead() const {
  constexpr std::int64_t kFirstSteps = 4;
  const bool at_once = options_.interval > 0 || measured_before_ || nested_options_.disk_slots == 1;
  return at_once ? 0 : std::min(kFirstSteps, schedule::longest_double_interval(double_memory()));
}

// With `lead` steps before them all, of intervals for which the disk has room those that take the
// least time.
std::unique_ptr<schedule::Planner> Run::double_planner(std::int64_t lead) {
  const std::int64_t steps = double_steps();
  const schedule::DoubleMemory memory = double_memory();
  schedule::DoubleSweep sweep;
  if (options_.interval > 0) {
    const std::int64_t interval = std::clamp<std::int64_t>(steps, 1, options_.interval);
    sweep = schedule::double_sweep_within(steps, lead, interval, memory);
  } else {
    const schedule::DoubleCosts costs = {agreed_costs(), nested_options_.record,
                                         memory_plan_.prefetch_depth > 0};
    const std::int64_t least = steps < schedule::kMostSteps ? least_double_interval(lead) : 1;
    sweep = schedule::best_double_sweep(steps, lead, least, memory, costs);
  }
  double_interval_ = sweep.interval;
  return std::make_unique<schedule::DoublePlanner>(sweep);
}

// Shorter ones would be too many for the disk.
std::int64_t Run::least_double_interval(std::int64_t lead) const {
  const std::int64_t others = nested_options_.disk_slots - (lead > 0 ? 1 : 0);
  const std::int64_t rest = std::max<std::int64_t>(double_steps() - lead, 1);
  return others > 0 ? ceil_divide(rest, others) : rest;
}

// The longest interval follows from the memory, the shortest from the disk: do they leave one?
void Run::require_double_interval(std::int64_t lead) const {
  const std::int64_t longest = schedule::longest_double_interval(double_memory());
  const std::int64_t steps = double_steps();
  const bool by_number = memory_plan_.checkpoint_slots == options_.checkpoints;
  const std::string limit = by_number ? "checkpoints" : "memory";
  const std::string reverses = limit + "=" +
                               std::to_string(by_number ? options_.checkpoints : options_.memory) +
                               " reverses at most " + std::to_string(longest) + " steps at a time";
  if (options_.interval > longest && steps > longest) {
    throw Error(by_number ? ANADROME_ERR_ARGUMENT : ANADROME_ERR_MEMORY,
                "schedule=double with interval=" + std::to_string(options_.interval) + ": " +
                    reverses + "; raise " + limit + ", or take a shorter interval");
  }
  if (steps == schedule::kMostSteps) return;
  const std::int64_t least = least_double_interval(lead);
  if (least <= (options_.interval > 0 ? options_.interval : longest)) return;
  throw Error(ANADROME_ERR_NO_SPACE,
              "schedule=double: " + reverses + ", and " + std::to_string(nested_options_.steps) +
                  " steps with " + std::to_string(nested_options_.disk_slots) +
                  " states on disk need intervals of " + std::to_string(least) + "; raise " +
                  limit + ", disk or interval, or take schedule=async");
}

void Run::write_double_script(schedule::NestedOptions options) {
  options.tape_units = keeps_tapes_ ? tape_slots_ : 0;
  options.disk_slots = std::min(most_blocks(), most_double_anchors(options.steps));
  if (options_.anchors > 0) options.disk_slots = std::min(options.disk_slots, options_.anchors);
  if (options.disk_slots == 0) throw_disk_too_small();
  options.disk_is_buffered = true;
  nested_options_ = options;
  const std::int64_t lead = double_lead();
  require_double_interval(lead);
  if (lead == 0) {
    script_.emplace(options, double_planner(0));
  } else {
    script_.emplace(options, std::make_unique<schedule::LatePlanner>(lead));
  }
}

}  // namespace anadrome::engine
