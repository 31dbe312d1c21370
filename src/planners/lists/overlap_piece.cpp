// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_piece.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {

Timeline::Timeline(std::int64_t slots, const OverlapTimes& times,
                   std::vector<OverlapAction>* actions)
    : times_(times), actions_(actions), most_slots_(slots) {}

// The one that is free first, and of those free already the one of the lowest number.
std::pair<double, std::int32_t> Timeline::take_free_slot() {
  if ((free_.empty() || free_.begin()->first > now()) && slots_used_ < most_slots_) {
    return {0, static_cast<std::int32_t>(slots_used_++)};
  }
  if (free_.empty()) throw Error(ANADROME_ERR_INTERNAL, "a plan keeps more states than slots");
  return free_.extract(free_.begin()).value();
}

Timeline::Held& Timeline::held(std::int64_t step) {
  const auto found = held_.find(step);
  if (found == held_.end()) {
    throw Error(ANADROME_ERR_INTERNAL,
                "a plan asks for state " + std::to_string(step) + ", which is in no slot");
  }
  return found->second;
}

void Timeline::act(OverlapKind kind, std::int64_t step, std::int64_t last) {
  std::int32_t slot = -1;
  if (kind != OverlapKind::kAdvance) last = step;
  switch (kind) {
    case OverlapKind::kAdvance:
      if (step == last) return;
      clock_.compute(real(last - step) * times_.forward);
      break;
    case OverlapKind::kAdjoint:
      clock_.compute(times_.adjoint);
      last = step + 1;
      break;
    case OverlapKind::kKeep: {
      const auto [free_from, taken] = take_free_slot();
      clock_.wait(free_from);
      slot = taken;
      held_[step] = {slot, now(), now()};
      break;
    }
    case OverlapKind::kRead: {
      const auto [free_from, taken] = take_free_slot();
      const double there = clock_.transfer(times_.read, std::max(now(), free_from));
      slot = taken;
      held_[step] = {slot, there, there};
      break;
    }
    case OverlapKind::kRestore:
      slot = held(step).slot;
      clock_.wait(held(step).ready);
      break;
    case OverlapKind::kWrite: {
      Held& state = held(step);
      slot = state.slot;
      state.busy_until = clock_.transfer(times_.write, std::max(now(), state.ready));
      break;
    }
    case OverlapKind::kDrop: {
      const Held state = held(step);
      slot = state.slot;
      held_.erase(step);
      // Free slots differ in number only: plans do not depend on how they became so.
      free_.insert({state.busy_until > now() ? state.busy_until : 0, slot});
      break;
    }
  }
  if (actions_ != nullptr) actions_->push_back({kind, slot, step, last});
}

void Timeline::play(const OverlapPiece& piece, std::int64_t base, std::int64_t previous) {
  for (const OverlapMove& move : piece) {
    const std::int64_t step = move.first == kPrevious ? previous : base + move.first;
    act(move.kind, step, base + move.last);
  }
}

void Timeline::play_intervals(const std::vector<std::int64_t>& lengths,
                              const std::function<const OverlapPiece&(std::size_t)>& piece) {
  const std::size_t last = lengths.size() - 1;
  std::int64_t anchor = 0;
  for (std::size_t i = 0; i < last; ++i) {
    act(OverlapKind::kKeep, anchor);
    act(OverlapKind::kWrite, anchor);
    act(OverlapKind::kDrop, anchor);
    act(OverlapKind::kAdvance, anchor, anchor + lengths[i]);
    anchor += lengths[i];
  }
  act(OverlapKind::kKeep, anchor);
  for (std::size_t i = last;; --i) {
    play(piece(i), anchor, i > 0 ? anchor - lengths[i - 1] : kPrevious);
    if (i == 0) return;
    anchor -= lengths[i - 1];
    act(OverlapKind::kRestore, anchor);
  }
}

}  // namespace anadrome::schedule
