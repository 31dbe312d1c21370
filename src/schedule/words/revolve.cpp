// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/revolve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/index.h"

namespace anadrome::schedule {
namespace {

// Beyond this a product with a factor below 2^63 could leave 128 bits.
constexpr uint128 kSafeBeta = uint128{1} << 64;

}  // namespace

// Makes repetitions_ the least r with beta(slots_, r) >= steps, one r at a time.
void Splitter::settle(std::int64_t steps) {
  const auto wanted = wide(steps);
  while (beta_ < wanted) {
    ++repetitions_;
    beta_ = times_over(beta_, slots_ + repetitions_, repetitions_);
  }
  while (repetitions_ > 0) {
    const uint128 before = times_over(beta_, repetitions_, slots_ + repetitions_);
    if (before < wanted) break;
    beta_ = before;
    --repetitions_;
  }
}

void Splitter::seek_from_scratch(std::int64_t steps, std::int64_t slots) {
  slots_ = slots;
  repetitions_ = 0;
  beta_ = 1;
  if (slots == 1) {
    repetitions_ = steps - 1;
    beta_ = wide(steps);
    return;
  }
  // With more slots than this, r is small enough to count up to.
  constexpr std::int64_t kFewSlots = 40;
  if (slots <= kFewSlots) {
    // C(s + r, s) ~ (r + (s + 1) / 2)^s / s!, from below; settle() makes the guess exact.
    const double s = real(slots);
    const double root = std::exp((std::lgamma(s + 1) + std::log(real(steps))) / s) - (s + 1) / 2;
    const auto guess = static_cast<std::int64_t>(std::max(0.0, root * (1 - 1e-14) - 1));
    for (std::int64_t i = 1; i <= slots; ++i) beta_ = times_over(beta_, guess + i, i);
    repetitions_ = guess;
  }
  settle(steps);
}

void Splitter::seek(std::int64_t steps, std::int64_t slots) {
  constexpr std::int64_t kNear = 4;
  const bool near = slots >= slots_ - kNear && slots <= slots_ + kNear;
  if (!near || slots == 1 || slots_ == 1 || beta_ >= kSafeBeta) {
    seek_from_scratch(steps, slots);
    return;
  }
  while (slots_ > slots) {
    beta_ = times_over(beta_, slots_, slots_ + repetitions_);
    --slots_;
  }
  while (slots_ < slots) {
    ++slots_;
    beta_ = times_over(beta_, slots_ + repetitions_, slots_);
    if (beta_ >= kSafeBeta) {
      seek_from_scratch(steps, slots);
      return;
    }
  }
  // A long way in r is shorter from scratch: the length of the problem changed, not its
  // neighbourhood.
  const uint128 wanted = wide(steps);
  if (beta_ > 16 * wanted || wanted > 16 * beta_) {
    seek_from_scratch(steps, slots);
    return;
  }
  settle(steps);
}

std::int64_t Splitter::repetitions(std::int64_t steps, std::int64_t slots) {
  seek(steps, std::min(slots, std::max<std::int64_t>(steps, 1)));
  return repetitions_;
}

std::int64_t Splitter::split(std::int64_t steps, std::int64_t slots) {
  if (steps <= slots + 1) return 1;  // r = 1: every state gets a slot
  seek(steps, slots);
  const std::int64_t s = slots_, r = repetitions_;  // r >= 2
  // The left part may have up to beta(s, r-1) steps, and the right one needs at least beta(s-1,
  // r-1) (Griewank & Walther 2000, the triangle of optimal splits).
  const uint128 left_most = times_over(beta_, r, s + r);
  const uint128 right_least = times_over(left_most, s, s + r - 1);
  return std::min(static_cast<std::int64_t>(left_most),
                  steps - static_cast<std::int64_t>(right_least));
}

uint128 Splitter::advances(std::int64_t steps, std::int64_t slots) {
  if (steps <= 1) return 0;
  if (steps <= slots + 1) return wide(steps - 1);
  if (slots == 1) return wide(steps) * wide(steps - 1) / 2;
  seek(steps, slots);
  // E = r n - C(s + r, s + 1), and C(s + r, s + 1) = beta(s, r) r / (s + 1).
  const uint128 r = wide(repetitions_);
  return r * wide(steps) - times_over(beta_, repetitions_, slots + 1);
}

uint128 extra_advances(std::int64_t steps, std::int64_t slots) {
  return Splitter().advances(steps, slots);
}

std::int64_t extra_advances_clamped(std::int64_t steps, std::int64_t slots) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const uint128 advances = extra_advances(steps, slots);
  return advances > wide(kMost) ? kMost : static_cast<std::int64_t>(advances);
}

}  // namespace anadrome::schedule
