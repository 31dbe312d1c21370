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

void Timeline::tell(OverlapKind kind, std::int32_t slot, std::int64_t first, std::int64_t last) {
  if (actions_ != nullptr) actions_->push_back({kind, slot, first, last});
}

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

void Timeline::advance(std::int64_t first, std::int64_t last) {
  if (first == last) return;
  clock_.compute(real(last - first) * times_.forward);
  tell(OverlapKind::kAdvance, -1, first, last);
}

void Timeline::keep(std::int64_t step) {
  const auto [free_from, slot] = take_free_slot();
  clock_.wait(free_from);
  held_[step] = {slot, now(), now()};
  tell(OverlapKind::kKeep, slot, step, step);
}

void Timeline::restore(std::int64_t step) {
  const Held& state = held(step);
  clock_.wait(state.ready);
  tell(OverlapKind::kRestore, state.slot, step, step);
}

void Timeline::drop(std::int64_t step) {
  const Held state = held(step);
  held_.erase(step);
  // Slots that are free already differ in number only: plans do not depend on how they became so.
  free_.insert({state.busy_until > now() ? state.busy_until : 0, state.slot});
  tell(OverlapKind::kDrop, state.slot, step, step);
}

void Timeline::write(std::int64_t step) {
  Held& state = held(step);
  state.busy_until = clock_.transfer(times_.write, std::max(now(), state.ready));
  tell(OverlapKind::kWrite, state.slot, step, step);
}

void Timeline::read(std::int64_t step) {
  const auto [free_from, slot] = take_free_slot();
  const double there = clock_.transfer(times_.read, std::max(now(), free_from));
  held_[step] = {slot, there, there};
  tell(OverlapKind::kRead, slot, step, step);
}

void Timeline::adjoint(std::int64_t step) {
  clock_.compute(times_.adjoint);
  tell(OverlapKind::kAdjoint, -1, step, step + 1);
}

void Timeline::play(const OverlapPiece& piece, std::int64_t base, std::int64_t previous) {
  for (const OverlapMove& move : piece) {
    const std::int64_t step = move.first == kPrevious ? previous : base + move.first;
    switch (move.kind) {
      case OverlapKind::kAdvance:
        advance(step, base + move.last);
        break;
      case OverlapKind::kKeep:
        keep(step);
        break;
      case OverlapKind::kRestore:
        restore(step);
        break;
      case OverlapKind::kDrop:
        drop(step);
        break;
      case OverlapKind::kWrite:
        write(step);
        break;
      case OverlapKind::kRead:
        read(step);
        break;
      case OverlapKind::kAdjoint:
        adjoint(step);
        break;
    }
  }
}

void Timeline::play_intervals(const std::vector<std::int64_t>& lengths,
                              const std::function<const OverlapPiece&(std::size_t)>& piece) {
  const std::size_t last = lengths.size() - 1;
  std::int64_t anchor = 0;
  for (std::size_t i = 0; i < last; ++i) {
    keep(anchor);
    write(anchor);
    drop(anchor);
    advance(anchor, anchor + lengths[i]);
    anchor += lengths[i];
  }
  keep(anchor);
  for (std::size_t i = last;; --i) {
    play(piece(i), anchor, i > 0 ? anchor - lengths[i - 1] : kPrevious);
    if (i == 0) return;
    anchor -= lengths[i - 1];
    restore(anchor);
  }
}

}  // namespace anadrome::schedule
