#include "engine/audit.h"

#include <string>

namespace anadrome::engine {

std::int64_t Audits::next_step(const schedule::Sweep& sweep) const {
  if (options_.audit == Audit::kOff) return schedule::kUnknown;
  // A hash takes a sixth of the time of a fast disk's write: what shows at all shows in the first.
  constexpr std::int64_t kFirst = 4, kThen = 16;
  const std::int64_t number = sweep.anchors().count();
  const bool chosen = options_.audit == Audit::kError || number <= kFirst || number % kThen == 0;
  if (!chosen) return schedule::kUnknown;
  const std::int64_t ahead = sweep.course().anchor_ahead;
  const bool again = ahead != schedule::kUnknown && ahead - 1 > sweep.anchors().newest_step();
  return again ? ahead - 1 : schedule::kUnknown;
}

void Audits::note(std::int64_t step, const LiveState& live) {
  held_.attempt([&] { sweep_.audits[step] = live.hash(); });
}

void Audits::compare(std::int64_t step, const LiveState& live) {
  const auto audit = sweep_.audits.find(step);
  if (audit == sweep_.audits.end()) return;
  held_.attempt([&] {
    if (live.hash() != audit->second && !sweep_.audit_failure) {
      sweep_.audit_failure = {
          ANADROME_ERR_NONDETERMINISTIC,
          "the state of step " + std::to_string(step) +
              " is not the same when it is computed again: the gradient is that of another "
              "trajectory (option audit)"};
    }
  });
  if (options_.audit == Audit::kError && sweep_.audit_failure) held_.hold(sweep_.audit_failure);
  sweep_.audits.erase(audit);
}

}  // namespace anadrome::engine
