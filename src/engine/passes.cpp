// SPDX-License-Identifier: BSD-2-Clause
#include "engine/passes.h"

#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "schedule/checked_sweep.h"

namespace anadrome::engine {

// The fault in a call that goes over the same trajectory once more.
Failure Passes::why_not(const char* call) const {
  const std::string name = call;
  const SweepPlan& plan = play_.plan;
  if (play_.sweep.phase != ANADROME_PHASE_DONE) {
    return {ANADROME_ERR_ORDER, name + ": only after DONE"};
  }
  if (asked_.fields.grew_since_begin()) {
    return {ANADROME_ERR_ORDER, name + ": fields were registered since begin, and not kept"};
  }
  if (!plan.sweep->course().may_rewind) {
    return {ANADROME_ERR_UNSUPPORTED, name + ": schedule=" + to_string(plan.schedule) +
                                          " does not hold x_0 any more; begin a new sweep"};
  }
  return {};
}

// Returns how many anchors are left to all ranks.
std::int64_t Passes::agree(Call call, const Failure& failure, std::int64_t direction) {
  const bool from_disk = !failure && keeper_.uses_disk();
  return agreement_
      .agree({.call = call,
              .failure = failure,
              .equal = direction,
              .equal_name = "the direction of the pass",
              .smallest = from_disk ? keeper_.disk_tier()->anchors().restorable() : 1})
      .smallest;
}

void Passes::goes_on(anadrome_phase phase) {
  SweepState& sweep = play_.sweep;
  sweep.times.done = 0;
  sweep.rewound = true;
  sweep.phase = phase;
  warnings_.start_progress();
  sweep.handed_out = now_seconds();
}

void Passes::rewind() {
  Failure failure;
  const Failure thrown = failure_from([&] { failure = why_not("rewind"); });
  decisions_.rewind(agree(Call::kRewind, thrown ? thrown : failure, 0));
  play_.sweep.passes.on = false;
  keeper_.begin_pass(-1);
  goes_on(ANADROME_PHASE_REVERSE);
}

// The sweep that plays all passes from here on, from what the first sweep has left.
std::unique_ptr<schedule::Sweep> Passes::machine() const {
  const SweepPlan& plan = play_.plan;
  if (plan.memory.single) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "pass: the states in memory are in single precision, and those on disk may be "
                "others; set passes to the number of passes before begin, and none are");
  }
  const std::optional<schedule::Remains> remains = plan.sweep->remains();
  if (!remains) throw Error(ANADROME_ERR_INTERNAL, "pass: the sweep has left nothing");
  return schedule::checked_passes(*remains);
}

void Passes::begin(anadrome_direction direction, const Failure& earlier) {
  SweepState& sweep = play_.sweep;
  SweepPlan& plan = play_.plan;
  const bool forward = direction == ANADROME_PASS_FORWARD;
  std::unique_ptr<schedule::Sweep> passes;
  Failure failure = earlier;
  const Failure thrown = failure_from([&] {
    if (!failure) failure = why_not("pass");
    if (failure) return;
    if (!forward && direction != ANADROME_PASS_REVERSE) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "pass: give ANADROME_PASS_FORWARD or ANADROME_PASS_REVERSE");
    }
    if (!sweep.passes.ready) passes = machine();
  });
  schedule::Pass pass;
  pass.direction = forward ? schedule::Direction::kForward : schedule::Direction::kReverse;
  pass.restorable = agree(Call::kPass, thrown ? thrown : failure, direction);
  pass.states_per_block = plan.memory.layout.states();
  pass.as_read = asked_.options.is_lossy();
  if (passes != nullptr) plan.sweep = std::move(passes);
  sweep.passes.ready = true;
  const std::int64_t mine = forward && keeper_.uses_disk() ? planning_.stride_forward(plan) : 1;
  pass.stride = agreement_.agree({.call = Call::kPass, .failure = {}, .smallest = mine}).smallest;
  try {
    agreement_.agree(
        {.call = Call::kPass, .failure = failure_from([&] { plan.sweep->begin_pass(pass); })});
  } catch (...) {
    sweep.phase = ANADROME_PHASE_IDLE;  // some rank may have begun it
    throw;
  }
  ++sweep.passes.begun;
  sweep.passes.on = true;
  sweep.passes.forward = forward;
  sweep.passes.advances_before = sweep.advances;
  sweep.passes.began = now_seconds();
  const bool records = plan.record && !pass.as_read;
  keeper_.begin_pass(!forward ? -1 : records ? 0 : pass.stride);
  goes_on(forward ? ANADROME_PHASE_FORWARD : ANADROME_PHASE_REVERSE);
}

void Passes::done() {
  SweepState& sweep = play_.sweep;
  sweep.times.done = now_seconds();
  warnings_.progress().finish();
  report_.write_pass();
  sweep.phase = ANADROME_PHASE_DONE;
}

}  // namespace anadrome::engine
