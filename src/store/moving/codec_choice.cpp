// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/codec_choice.h"

#include <algorithm>

#include "base/index.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kFirstBlocks = 2;  // of each; the first one meets everything cold
constexpr std::int64_t kAnotherEvery = 32;
constexpr double kNewShare = 0.25;  // of the newest block in what is expected
constexpr double kHopeless = 3;     // so much slower is not tried again

}  // namespace

CodecChoice::CodecChoice(std::span<const CodecName> candidates, bool cores_are_busy)
    : cores_are_busy_(cores_are_busy) {
  for (const CodecName codec : candidates) candidates_.push_back({codec});
}

std::size_t CodecChoice::quickest() const {
  const auto least = std::min_element(candidates_.begin(), candidates_.end(),
                                      [](const Candidate& a, const Candidate& b) {
                                        return a.seconds_per_byte < b.seconds_per_byte;
                                      });
  return size(least - candidates_.begin());
}

CodecName CodecChoice::next() {
  const auto untried = std::find_if(candidates_.begin(), candidates_.end(),
                                    [](const Candidate& c) { return c.blocks < kFirstBlocks; });
  if (untried != candidates_.end()) {
    current_ = size(untried - candidates_.begin());
    return untried->codec;
  }
  const std::size_t best = quickest();
  current_ = best;
  if (++blocks_ % kAnotherEvery == 0) {
    // The others in turn.
    const std::size_t turn = size(blocks_ / kAnotherEvery);
    const std::size_t other = turn % candidates_.size();
    const bool hopeless =
        candidates_[other].seconds_per_byte > kHopeless * candidates_[best].seconds_per_byte;
    if (!hopeless) current_ = other;
  }
  return candidates_[current_].codec;
}

void CodecChoice::note(double seconds, double computed, std::int64_t bytes) {
  if (bytes <= 0) return;
  Candidate& candidate = candidates_[current_];
  const double now = (seconds + (cores_are_busy_ ? computed : 0)) / real(bytes);
  const bool first = candidate.blocks < kFirstBlocks;
  candidate.seconds_per_byte =
      first ? now : candidate.seconds_per_byte + kNewShare * (now - candidate.seconds_per_byte);
  ++candidate.blocks;
}

}  // namespace anadrome::store
