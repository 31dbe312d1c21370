// SPDX-License-Identifier: BSD-2-Clause
#include "engine/choice.h"

#include <string>

namespace anadrome::engine {

using schedule::InAuto;

// Why states go to disk whatever there is room for; NULL: nothing asks for it.
const char* Choice::reason_for_files(const SweepPlan& plan) const {
  if (options_.keep) return "keep=on wants files";
  if (options_.resume) return "resume=on wants files";
  if (options_.probes()) return "probe wants intervals";
  return plan.steps == schedule::kUnknown ? "the number of steps is not known" : nullptr;
}

void Choice::choose(SweepPlan& plan, SweepState& sweep) {
  plan.schedule = options_.schedule;
  if (plan.schedule != nullptr) return;
  // Words may lack the memory on one rank; what follows is collective all the same.
  const auto take = [&](InAuto in_auto, const auto& add_why) {
    plan.schedule = &schedule::schedule_for(in_auto);
    held_.attempt([&] { add_why(sweep.chosen); });
  };
  if (const char* const reason = reason_for_files(plan)) {
    return take(InAuto::kByDefault, [&](std::string& why) { why = reason; });
  }
  const MemoryPlan memory = plan_memory(
      agreement_,
      {.state_fields = fields_.state(), .memory = options_.memory, .states = plan.steps});
  const bool all_fit = memory.checkpoint_slots >= plan.steps;
  take(all_fit ? InAuto::kEveryStateFits : InAuto::kByDefault, [&](std::string& why) {
    why = std::to_string(memory.checkpoint_slots) + " of " + std::to_string(plan.steps) +
          (all_fit ? " states fit: all of them" : " states fit");
  });
  if (all_fit || !planning_.disk_leaves_too_few(plan)) return;
  const std::int64_t beside_a_disk = planning_.slots_with(plan, *plan.schedule);
  take(InAuto::kNoDisk, [&](std::string& why) {
    why += "; beside a disk there would be memory for " + std::to_string(beside_a_disk);
  });
}

}  // namespace anadrome::engine
