// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_interval.h"

#include <algorithm>

#include "base/index.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/stack/stack_sweep.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
// A sweep turns at x_n, as one more step: here that is the adjoint of the last one.
void append_revolve(OverlapPiece& piece, std::int64_t first, std::int64_t last,
                    std::int64_t slots) {
  StackOptions options;
  options.steps = last - first - 1;
  options.units = std::max<std::int64_t>(slots, 1);
  options.x_0 = Place::kRam;
  StackSweep sweep(options, std::make_unique<RevolvePlanner>());
  const auto add = [&](OverlapKind kind, std::int64_t step, std::int64_t to = 0) {
    piece.push_back(
        {kind, static_cast<std::int32_t>(first + step), static_cast<std::int32_t>(first + to)});
  };
  std::vector<std::int64_t> kept{0};
  const auto adjoint = [&](std::int64_t step) {
    // Its slot is free while the adjoint runs.
    if (kept.back() == step) {
      add(OverlapKind::kDrop, step);
      kept.pop_back();
    }
    add(OverlapKind::kAdjoint, step);
  };
  for (std::int64_t left = last - first; left > 0;) {
    std::visit(Cases{[&](const Advance& run) { add(OverlapKind::kAdvance, run.first, run.last); },
                     [&](const Keep& keep) {
                       if (keep.step == 0) return;  // x_0 is here already
                       kept.push_back(keep.step);
                       add(OverlapKind::kKeep, keep.step);
                     },
                     [&](const Restore& from) { add(OverlapKind::kRestore, from.step); },
                     [&](const Turn& turn) { adjoint(turn.step), --left; },
                     [&](const Adjoint& next) { adjoint(next.step), --left; },
                     [](const auto&) {}},  // its slots are dropped above
               sweep.next());
  }
}

IntervalTable::IntervalTable(std::int64_t most_steps, std::int64_t slots, const OverlapTimes& times)
    : most_steps_(most_steps), slots_(slots), times_(times) {
  const std::size_t size = at(most_steps) + 1;
  for (auto* durations : {&all_slots_, &one_less_, &reading_, &reading_again_, &last_again_})
    durations->assign(size, 0);
  for (auto* splits : {&reading_split_, &reading_again_split_, &last_again_split_})
    splits->assign(size, 0);
  for (std::int64_t steps = 1; steps <= most_steps; ++steps) {
    all_slots_[at(steps)] = in_ram(steps, slots_);
    one_less_[at(steps)] = slots_ > 1 || steps == 1 ? in_ram(steps, slots_ - 1) : 0;
    fill(steps);
  }
}

double IntervalTable::in_ram(std::int64_t steps, std::int64_t slots) const {
  return static_cast<double>(extra_advances(steps, slots)) + real(steps) * times_.adjoint;
}

// The read begins when the base is all that is left in the slots of Revolve, with one slot less
// from there on; or after a further split, whose right part had all slots. O(steps).
void IntervalTable::fill(std::int64_t steps) {
  const std::size_t i = at(steps);
  // With one slot, all right parts are of one step, and the read begins with the last adjoint.
  const bool now = steps == 1 || slots_ > 1;
  reading_[i] = now ? std::max(times_.read, one_less_[i])
                    : real(steps - 1) + times_.adjoint + reading_[i - 1];
  reading_split_[i] = now ? 0 : static_cast<std::int32_t>(steps - 1);
  if (slots_ > 1) {
    for (std::int64_t j = 1; j < steps; ++j) {
      const double split = real(j) + one_less_[at(steps - j)] + reading_[at(j)];
      if (split >= reading_[i]) continue;
      reading_[i] = split;
      reading_split_[i] = static_cast<std::int32_t>(j);
    }
  }
  reading_again_[i] = reading_[i];
  last_again_[i] = all_slots_[i];
  for (std::int64_t j = 1; j < steps; ++j) {
    const double right = real(j) + reading_[at(steps - j)];
    if (right + reading_again_[at(j)] < reading_again_[i]) {
      reading_again_[i] = right + reading_again_[at(j)];
      reading_again_split_[i] = static_cast<std::int32_t>(j);
    }
    if (right + last_again_[at(j)] < last_again_[i]) {
      last_again_[i] = right + last_again_[at(j)];
      last_again_split_[i] = static_cast<std::int32_t>(j);
    }
  }
}

double IntervalTable::duration(std::int64_t steps, IntervalOnDisk on_disk) const {
  switch (on_disk) {
    case IntervalOnDisk::kOnlyPrevious:
      return reading_[at(steps)];
    case IntervalOnDisk::kPreviousAndBase:
      return reading_again_[at(steps)];
    case IntervalOnDisk::kBase:
      return last_again_[at(steps)];
    case IntervalOnDisk::kNothing:
      break;
  }
  return in_ram(steps, slots_);
}

// `base` is in a slot; `previous` is read.
void IntervalTable::append_reading(OverlapPiece& piece, std::int64_t base, std::int64_t steps,
                                   std::int32_t previous) const {
  const auto base32 = static_cast<std::int32_t>(base);
  while (reading_split_[at(steps)] > 0) {
    const std::int64_t j = reading_split_[at(steps)];
    const auto right = static_cast<std::int32_t>(base + j);
    piece.push_back({OverlapKind::kAdvance, base32, right});
    if (steps - j == 1) {
      piece.push_back({OverlapKind::kAdjoint, right, 0});
    } else {
      piece.push_back({OverlapKind::kKeep, right, 0});
      append_revolve(piece, base + j, base + steps, slots_ - 1);
    }
    piece.push_back({OverlapKind::kRestore, base32, 0});
    steps = j;
  }
  if (steps == 1) {
    piece.push_back({OverlapKind::kDrop, base32, 0});
    piece.push_back({OverlapKind::kRead, previous, 0});
    piece.push_back({OverlapKind::kAdjoint, base32, 0});
    return;
  }
  piece.push_back({OverlapKind::kRead, previous, 0});
  append_revolve(piece, base, base + steps, slots_ - 1);
}

OverlapPiece IntervalTable::piece(std::int64_t steps, IntervalOnDisk on_disk) const {
  OverlapPiece piece;
  const bool again =
      on_disk == IntervalOnDisk::kPreviousAndBase || on_disk == IntervalOnDisk::kBase;
  const auto& splits = on_disk == IntervalOnDisk::kBase ? last_again_split_ : reading_again_split_;
  while (again && splits[at(steps)] > 0) {
    const std::int64_t j = splits[at(steps)];
    const auto right = static_cast<std::int32_t>(j);
    piece.push_back({OverlapKind::kAdvance, 0, right});
    piece.push_back({OverlapKind::kDrop, 0, 0});
    piece.push_back({OverlapKind::kKeep, right, 0});
    append_reading(piece, j, steps - j, 0);
    piece.push_back({OverlapKind::kRestore, 0, 0});
    steps = j;
  }
  if (on_disk == IntervalOnDisk::kOnlyPrevious || on_disk == IntervalOnDisk::kPreviousAndBase) {
    append_reading(piece, 0, steps, kPrevious);
  } else {
    append_revolve(piece, 0, steps, slots_);
  }
  return piece;
}

}  // namespace anadrome::schedule
