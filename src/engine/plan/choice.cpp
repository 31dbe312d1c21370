// SPDX-License-Identifier: BSD-2-Clause
#include "engine/plan/choice.h"

#include <algorithm>
#include <string>

namespace anadrome::engine {

using schedule::InAuto;

void Choice::choose(SweepPlan& plan, SweepState& sweep) {
  plan.schedule = options_.schedule;
  if (plan.schedule != nullptr) return;
  // Words may lack the memory on one rank; what follows is collective all the same.
  const auto take = [&](InAuto in_auto, const auto& add_why) {
    plan.schedule = &schedule::schedule_for(in_auto);
    held_.attempt([&] { add_why(sweep.chosen); });
  };
  // Why states go to disk whatever there is room for; NULL: nothing asks for it.
  const char* const reason = options_.keep       ? "keep=on wants files"
                             : options_.resume   ? "resume=on wants files"
                             : options_.probes() ? "probe wants intervals"
                                                 : nullptr;
  if (reason != nullptr) return take(InAuto::kByDefault, [&](std::string& why) { why = reason; });
  const std::int64_t fit = planning_.slots_without_disk(plan), slots = options_.most_slots(fit);
  const bool known = plan.steps != schedule::kUnknown;
  const bool all_fit = known && slots >= plan.steps;
  take(all_fit ? InAuto::kEveryStateFits : InAuto::kByDefault, [&](std::string& why) {
    why = !known
              ? "the number of steps is not known"
              : (slots < fit ? "checkpoints=" : "") + std::to_string(std::min(slots, plan.steps)) +
                    " of " + std::to_string(plan.steps) +
                    (all_fit       ? " states fit: all of them"
                     : slots < fit ? " states"
                                   : " states fit");
  });
  if (all_fit || !planning_.disk_leaves_too_few(plan)) return;
  const std::int64_t beside_a_disk = planning_.slots_with(plan, *plan.schedule);
  take(InAuto::kNoDisk, [&](std::string& why) {
    why += "; async would hold " + std::to_string(beside_a_disk) + ", since its writes take memory";
  });
}

}  // namespace anadrome::engine
