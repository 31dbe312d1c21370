// SPDX-License-Identifier: BSD-2-Clause
#include "engine/undo/by_steps.h"

#include <algorithm>

#include "base/index.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {

UndoBySteps::UndoBySteps(std::span<const store::Field> state, std::span<const store::Field> sums,
                         std::span<std::byte> guess)
    : state_(state.begin(), state.end()),
      sums_(sums.begin(), sums.end()),
      guess_(guess),
      kept_sums_(size(store::total_bytes(sums))) {
  bits_.reserve(kMost + 1);
}

Failure UndoBySteps::begin(std::span<const std::byte> target) {
  iteration_ = 0;
  std::copy(target.begin(), target.end(), guess_.begin());
  return store::copy_all_out(sums_, kept_sums_.data());
}

Failure UndoBySteps::take_sums_back() const { return store::copy_all_in(sums_, kept_sums_.data()); }

void UndoBySteps::correct(std::span<const std::byte> target, std::span<const std::byte> image) {
  engine::correct(state_, target, image, guess_);
  ++iteration_;
}

void UndoBySteps::look(const Residual& coding, std::span<const std::byte> exact,
                       std::span<std::byte> room) {
  std::copy(guess_.begin(), guess_.end(), room.begin());
  bits_.push_back(coding.take(exact, room));
}

// One more costs a step in either sweep, so it has to make residuals smaller by a fair part.
void UndoBySteps::choose(Ranks& ranks) {
  constexpr double kFairPart = 0.75;
  constexpr std::int64_t kBytesOfNumber = 8;
  bits_.push_back(std::ssize(guess_) / kBytesOfNumber);  // one of each number
  ranks.sum(bits_);
  const std::int64_t small = bits_.back();
  iterations = 1;
  while (iterations < kMost) {
    const std::int64_t now = bits_[at(iterations - 1)];
    if (now <= small || real(bits_[at(iterations)]) > kFairPart * real(now)) break;
    ++iterations;
  }
}

}  // namespace anadrome::engine
