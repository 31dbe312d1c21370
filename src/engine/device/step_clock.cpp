// SPDX-License-Identifier: BSD-2-Clause
#include "engine/device/step_clock.h"

#include <utility>

namespace anadrome::engine {

void StepClock::begin(std::span<const store::Field> state_fields) {
  mover_ = nullptr;
  started_ = {};
  waiting_.clear();
  for (const store::Field& field : state_fields) {
    if (mover_ == nullptr && field.count > 0) mover_ = store::on_device(field);
  }
}

void StepClock::start() { started_ = mover_->device().mark(mover_->stream()); }

void StepClock::stop(const anadrome_action& action, std::int64_t steps) {
  constexpr std::size_t kMost = 64;  // more would only say the same
  if (!started_ || waiting_.size() >= kMost) return;
  waiting_.push_back(
      {action, steps, std::exchange(started_, {}), mover_->device().mark(mover_->stream())});
}

}  // namespace anadrome::engine
