// SPDX-License-Identifier: BSD-2-Clause
#include "planners/stream.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "schedule/anchored/full_disk.h"

namespace anadrome::schedule {
namespace {

std::vector<double> for_each_step(const std::vector<double>& costs, std::int64_t steps) {
  if (costs.size() > 1) return costs;
  return std::vector<double>(size(steps), costs.front());
}

double mean(const std::vector<double>& costs) {
  return std::accumulate(costs.begin(), costs.end(), 0.0) / real(std::ssize(costs));
}

// A state that is live for the adjoint of its own step, or for that step's tape, is needed no more.
bool ends_with(std::int64_t step, const Action& next) {
  const auto* const run = std::get_if<Advance>(&next);
  return std::holds_alternative<Adjoint>(next) ||
         (run != nullptr && run->record && run->last == step + 1);
}

// Where states on disk replace each other, the one in use is not among a planner's slots.
std::int64_t slots_beside(const StreamEntry& entry) {
  return entry.at_intervals && entry.needs.on_disk == StreamOnDisk::kReplaced ? 1 : 0;
}

[[noreturn]] void refuse(const StreamOptions& options, const std::string& why) {
  throw Error(ANADROME_ERR_ARGUMENT, std::string("schedule=") + options.schedule->name + " " + why);
}

// Every state, or every tape and x_n.
void require_all(const StreamOptions& options) {
  const auto steps = wide(options.steps.front());
  const auto tapes = wide(options.tape_slots);
  const uint128 needed = tapes > 0 ? steps * tapes + 1 : steps;
  if (options.steps.front() == kUnknown || wide(options.slots) >= needed) return;
  refuse(options, std::string("keeps every ") + (tapes > 0 ? "tape" : "state") + " of " +
                      std::to_string(options.steps.front()) +
                      " steps: raise slots, or take revolve");
}

StreamProblem problem_of(const StreamOptions& options) {
  StreamProblem problem;
  problem.sizing.steps = options.steps.front();
  problem.sizing.record = options.record;
  problem.sizing.interval = options.interval;
  problem.checkpoints = options.slots;
  problem.slots = options.slots - slots_beside(*options.schedule);
  problem.read_ahead = 1;
  // As many slots, whatever is read ahead: what is on its way is not the schedule's.
  constexpr std::int64_t kReadAhead = 8;
  problem.shared.blocks = options.slots + kReadAhead;
  problem.shared.most_slots = options.slots;
  problem.shared.tape_units = options.tape_slots;
  problem.tape_restarts = options.tape_restarts;
  problem.blocks_on_disk = options.disk_slots;
  problem.costs.forward = mean(options.advance);
  problem.costs.adjoint = mean(options.adjoint);
  problem.costs.write = options.write;
  problem.costs.read = options.read;
  problem.in_the_abstract = true;
  const StreamNeeds& needs = options.schedule->needs;
  if (needs.each_step.costs && problem.sizing.steps > 0) {
    problem.step_costs = for_each_step(options.advance, problem.sizing.steps);
    problem.adjoint_costs = for_each_step(options.adjoint, problem.sizing.steps);
  }
  if (needs.branches) {
    problem.branches.steps = options.steps;
    problem.branches.slots = options.slots;
    problem.branches.charged_inputs = options.charged_inputs;
    problem.branches.reducible = options.reducible;
    problem.branches.record = options.record;
  }
  return problem;
}

}  // namespace

Kept* kept_of(Action& action) {
  return std::visit(
      [](auto& any) -> Kept* {
        if constexpr (std::is_convertible_v<decltype(&any), Kept*>) return &any;
        return nullptr;
      },
      action);
}

Stream::Stream(const StreamOptions& options)
    : problem_(problem_of(options)), anchors_(options.schedule->at_intervals) {
  const StreamEntry& entry = *options.schedule;
  if (options.slots <= slots_beside(entry)) refuse(options, "takes at least 2 slots");
  if (entry.keeps_every_state) require_all(options);
  if (!options.bytes.empty()) {
    divide(options);
  } else if (entry.states_held != nullptr) {
    const std::int64_t held = entry.states_held(problem_.sizing.chain());
    if (held > options.slots) refuse(options, "takes " + std::to_string(held) + " slots");
  }
  sweep_ = entry.make(problem_);
}

void Stream::divide(const StreamOptions& options) {
  DividedMemory divided = options.schedule->divide(problem_, options.bytes, options.slots);
  divided.largest = *std::max_element(options.bytes.begin(), options.bytes.end());
  if (divided.bytes() > options.slots) {
    refuse(options, "takes " + std::to_string(divided.bytes()) +
                        " bytes of slots, counted in units of " +
                        std::to_string(divided.unit_bytes));
  }
  problem_.divided = std::move(divided);
}

// A run brings x_0 back at the end, for its caller or another reverse sweep: nobody asks for that
// here. The times are those of the options, from beginning to end: what was decided once holds.
Action Stream::of_sweep() {
  for (;;) {
    const Action action = sweep_->next();
    if (std::holds_alternative<Decide>(action)) {
      Measured told;
      told.costs = problem_.costs;
      told.write_times_known = told.of_earlier_sweep = true;
      decide_at_once(*sweep_, told);
      continue;
    }
    if (over_ && (std::holds_alternative<Restore>(action) || std::holds_alternative<Read>(action)))
      continue;
    const bool steps_back =
        std::holds_alternative<Turn>(action) || std::holds_alternative<Adjoint>(action);
    if (steps_back) over_ = sweep_->course().adjoints_left == 0;
    return action;
  }
}

// The first of the slots is for the anchor that is in use: it is read once.
Action Stream::with_anchor_in_memory(Action action) {
  if (Kept* const kept = kept_of(action); kept != nullptr && kept->tier == kRamTier) {
    ++kept->place;
    ++kept->room.begin;
  }
  const auto* const restored = std::get_if<Restore>(&action);
  if (restored != nullptr && restored->tier == kDiskTier) {
    Kept in_memory;
    in_memory.step = restored->step;
    if (in_use_ == restored->place) return Restore{in_memory};
    Action after = with_anchor_in_memory(of_sweep());
    if (!ends_with(restored->step, after)) {
      in_use_ = restored->place;
      ahead_.emplace_back(Keep{in_memory});
    }
    ahead_.push_back(after);
  }
  const auto* const dropped = std::get_if<Drop>(&action);
  if (dropped != nullptr && dropped->tier == kDiskTier && in_use_ == dropped->place) {
    in_use_ = kUnknown;
    Kept in_memory;
    in_memory.step = dropped->step;
    ahead_.push_back(action);
    return Drop{in_memory};
  }
  return action;
}

Action Stream::next() {
  if (std::holds_alternative<Done>(last_)) return last_;
  if (!ahead_.empty()) {
    last_ = ahead_.front();
    ahead_.pop_front();
  } else {
    last_ = anchors_ ? with_anchor_in_memory(of_sweep()) : of_sweep();
  }
  if (Kept* const kept = kept_of(last_); kept != nullptr && problem_.divided) {
    kept->room.begin *= problem_.divided->unit_bytes;
    kept->room.units *= problem_.divided->unit_bytes;
  }
  return last_;
}

void Stream::end(std::int64_t steps) {
  const auto* const run = std::get_if<Advance>(&last_);
  if (problem_.sizing.steps != kUnknown) {
    throw Error(ANADROME_ERR_ORDER, "schedule_end: the number of steps is known already");
  }
  if (ended_ || run == nullptr || run->again) {
    throw Error(ANADROME_ERR_ORDER, "schedule_end: no advance of the forward sweep is under way");
  }
  if (steps < run->first || steps > run->last || !sweep_->course().ends.has(steps)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "schedule_end: " + std::to_string(steps) + " is outside the advance from " +
                    std::to_string(run->first) + " to " + std::to_string(run->last));
  }
  sweep_->finish_forward(steps);
  ended_ = true;
}

}  // namespace anadrome::schedule
