// Run, the part that finds out whether steps can be run again: the hash of the state just before an
// anchor, when it is computed first and when it is computed again.
#include "engine/run.h"

namespace anadrome::engine {

// The step before the next anchor, if it is to be audited; it is computed again unless the anchor
// before it is that state.
std::int64_t Run::audited_step() const {
  const schedule::Sequence* sequence = sequence_if_any();
  if (options_.audit == Audit::kOff || !uses_disk() || sequence == nullptr) {
    return schedule::kUnknown;
  }
  const std::int64_t ahead = sequence->anchor_ahead();
  if (ahead == schedule::kUnknown || ahead - 1 <= sequence->anchors().newest_step()) {
    return schedule::kUnknown;
  }
  // A hash takes a sixth of the time of a fast disk's write: what shows at all shows in the first.
  constexpr std::int64_t kFirst = 4, kThen = 16;
  const std::int64_t number = sequence->anchors().count();
  const bool chosen = options_.audit == Audit::kError || number <= kFirst || number % kThen == 0;
  return chosen ? ahead - 1 : schedule::kUnknown;
}

void Run::note_audit(std::int64_t step) {
  attempt([&] { audits_[step] = live_->hash(); });
}

void Run::check_audit(std::int64_t step) {
  const auto audit = audits_.find(step);
  if (audit == audits_.end()) return;
  attempt([&] {
    if (live_->hash() != audit->second && !audit_failure_) {
      audit_failure_ = {ANADROME_ERR_NONDETERMINISTIC,
                        "the state of step " + std::to_string(step) +
                            " is not the same when it is computed again: the gradient is that of "
                            "another trajectory (option audit)"};
    }
  });
  if (options_.audit == Audit::kError && audit_failure_) hold(audit_failure_);
  audits_.erase(audit);
}

}  // namespace anadrome::engine
