// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/double_sweep.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {
namespace {

DoubleInterval cut(std::int64_t steps, std::int64_t part, std::int64_t tape_units) {
  const std::int64_t parts = ceil_divide(steps, part);
  return {steps, part, parts, parts + tape_units * part};
}

void check(std::int64_t steps, std::int64_t tape_units) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  if (steps < 1 || tape_units < 1 || steps > kMost / tape_units) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "double checkpointing needs steps and tapes of at least one unit, and at most 2^60 "
                "units for all tapes");
  }
}

std::int64_t square_root(std::int64_t value) {
  auto root = static_cast<std::int64_t>(std::sqrt(real(value)));
  while (root > 0 && root > value / root) --root;
  while (root + 1 <= value / (root + 1)) ++root;
  return root;
}

}  // namespace

// steps / part + tape_units part is convex, at most one below what is minimised, and the candidates
// are those around its minimum for which it is below the best of all.
DoubleInterval best_double_interval(std::int64_t steps, std::int64_t tape_units) {
  check(steps, tape_units);
  const std::int64_t middle = std::clamp<std::int64_t>(square_root(steps / tape_units), 1, steps);
  DoubleInterval best = cut(steps, middle, tape_units);
  const auto try_part = [&](std::int64_t part) {
    const DoubleInterval tried = cut(steps, part, tape_units);
    const bool better = tried.local_units < best.local_units ||
                        (tried.local_units == best.local_units && tried.part > best.part);
    if (better) best = tried;
    return steps / part + tape_units * part <= best.local_units;
  };
  for (std::int64_t part = middle + 1; part <= steps && try_part(part);) ++part;
  for (std::int64_t part = middle - 1; part >= 1 && try_part(part);) --part;
  return best;
}

DoubleInterval double_interval_within(std::int64_t steps, std::int64_t tape_units,
                                      std::int64_t local_units) {
  DoubleInterval found = best_double_interval(steps, tape_units);
  if (found.local_units > local_units) {
    throw Error(ANADROME_ERR_ARGUMENT, "an interval of " + std::to_string(steps) + " steps needs " +
                                           std::to_string(found.local_units) + " units");
  }
  // floor(steps / part) + tape_units part does not fall from the best part on; rounding up can only
  // spoil the last few of those that it admits.
  const auto may_fit = [&](std::int64_t part) {
    return steps / part + tape_units * part <= local_units;
  };
  std::int64_t low = std::max(found.part, std::min(steps, square_root(steps / tape_units) + 1));
  std::int64_t high = steps;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (may_fit(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  for (std::int64_t part = low; part > found.part; --part) {
    const DoubleInterval tried = cut(steps, part, tape_units);
    if (tried.local_units <= local_units) return tried;
  }
  return found;
}

// With k >= 2 parts of c steps at most there are the starts of all but the last part, and what is
// kept of c - 1 steps. In one part the interval's start is kept for nothing, but it is there.
std::int64_t longest_double_interval(const DoubleMemory& memory) {
  const std::int64_t tape = std::max<std::int64_t>(memory.tape_units, 1);
  const auto length = [&](std::int64_t part) {
    const std::int64_t parts = memory.units + 1 - tape * (part - 1);
    return parts < 2 ? 0 : parts * part;
  };
  const std::int64_t middle = std::max<std::int64_t>((memory.units + 1 + tape) / (2 * tape), 1);
  return std::max(length(middle), length(middle + 1));
}

namespace {

DoubleInterval held_interval(std::int64_t steps, const DoubleMemory& memory) {
  const bool tapes = memory.tape_units > 0;
  const std::int64_t tape = std::max<std::int64_t>(memory.tape_units, 1);
  const std::int64_t in_one_part = tapes ? 1 + tape * (steps - 1) : steps - 1;
  if (in_one_part <= memory.units) return cut(steps, steps, tape);
  const DoubleInterval found = double_interval_within(steps, tape, memory.units + 1 + tape);
  return found.parts > 1 ? found : cut(steps, steps - 1, tape);
}

}  // namespace

DoubleSweep double_sweep_within(std::int64_t steps, std::int64_t interval,
                                const DoubleMemory& memory) {
  if (interval < 1 || interval > longest_double_interval(memory)) {
    throw Error(ANADROME_ERR_ARGUMENT, "double: an interval of " + std::to_string(interval) +
                                           " steps does not fit; the longest has " +
                                           std::to_string(longest_double_interval(memory)));
  }
  DoubleSweep sweep;
  sweep.steps = steps;
  sweep.keeps_tapes = memory.tape_units > 0;
  sweep.interval = std::max<std::int64_t>(std::min(interval, steps), 1);
  sweep.intervals = std::max<std::int64_t>(ceil_divide(steps, sweep.interval), 1);
  sweep.full = held_interval(sweep.interval, memory);
  const std::int64_t left = steps - (sweep.intervals - 1) * sweep.interval;
  sweep.last = held_interval(std::max<std::int64_t>(left, 1), memory);
  return sweep;
}

// All intervals are alike but the last one, which is shorter, and entered on the way forward.
DoubleTime double_time(const DoubleSweep& sweep, const DoubleCosts& costs) {
  DoublePlanner planner(sweep);
  const StepCosts& step = costs.step;
  const auto forwards = [&](std::int64_t first, std::int64_t last) {
    Segment segment;
    segment.first = first;
    segment.last = last;
    const std::int64_t recorded = costs.record ? last - first : 0;
    return static_cast<double>(planner.advances(segment) + wide(recorded));
  };
  const auto number = [](std::int64_t steps) { return real(steps); };
  const std::int64_t turn = costs.record ? 0 : 1;
  const double others = number(sweep.intervals - 1);
  const std::int64_t last_start = sweep.steps - sweep.last.steps;
  const double last_sweep = number(sweep.last.steps - turn) * step.forward;
  const double last_reversal = forwards(last_start, sweep.steps) * step.forward - last_sweep +
                               number(sweep.last.steps - turn) * step.adjoint;
  const double reversal =
      forwards(0, sweep.interval) * step.forward + number(sweep.interval) * step.adjoint;
  DoubleTime time;
  if (sweep.intervals > 1) {
    const double before = costs.reads_ahead ? 1.0 : 0.0;  // reversals that a read runs beside
    const double write_left = std::max(step.write - last_sweep, 0.0);
    time.waiting = others * std::max(step.write - number(sweep.interval) * step.forward, 0.0) +
                   std::max(write_left + step.read - before * last_reversal, 0.0) +
                   (others - 1) * std::max(step.read - before * reversal, 0.0);
  }
  time.seconds = time.waiting + forwards(0, sweep.steps) * step.forward +
                 number(sweep.steps - turn) * step.adjoint + (others + 1) * step.write_taken +
                 others * step.read_taken;
  return time;
}

DoubleSweep best_double_sweep(std::int64_t steps, std::int64_t least, const DoubleMemory& memory,
                              const DoubleCosts& costs) {
  const std::int64_t longest =
      std::min(longest_double_interval(memory), std::max<std::int64_t>(steps, 1));
  least = std::min(least, longest);
  constexpr std::int64_t kOneByOne = 4096, kFiner = 25;
  const bool known = steps < kMostSteps;
  DoubleSweep best;
  double fewest = 0;
  for (std::int64_t interval = least; interval <= longest;) {
    const DoubleSweep sweep = double_sweep_within(steps, interval, memory);
    const double seconds = double_time(sweep, costs).seconds;
    if (best.interval == 0 || seconds < fewest || (known && seconds <= fewest)) {
      fewest = seconds;
      best = sweep;
    }
    interval += interval < least + kOneByOne ? 1 : interval / kFiner;
  }
  return best;
}

DoublePlanner::Where DoublePlanner::where(std::int64_t step) const {
  const std::int64_t number = step / sweep_.interval;
  return {number * sweep_.interval, number == sweep_.intervals - 1 ? sweep_.last : sweep_.full};
}

Placement DoublePlanner::place(const Segment& segment) {
  const Where here = where(segment.first);
  if (segment.first == here.start && segment.held == Place::kNowhere) {
    if (segment.disk_slots > 0) return {Place::kDisk, 0};
    throw Error(ANADROME_ERR_NO_SPACE, "double: there is no room on disk for the state of step " +
                                           std::to_string(segment.first) +
                                           "; raise disk, or take a longer interval");
  }
  if (segment.last > here.end()) return {Place::kNowhere, here.end() - segment.first};
  const std::int64_t next = here.begin(here.part_of(segment.first) + 1);
  if (segment.last <= next) {
    if (sweep_.keeps_tapes) return {Place::kTape, 0};
    if (segment.held == Place::kNowhere) return {Place::kRam, 0};
    return {Place::kNowhere, 1};
  }
  if (segment.held != Place::kRam) return {Place::kRam, 0};
  return {Place::kNowhere, next - segment.first};
}

// Within one interval the steps before the last part are run, and where states are kept, all but
// the last step of each part once more.
uint128 DoublePlanner::advances_within(std::int64_t first, std::int64_t last) const {
  const Where here = where(first);
  const std::int64_t first_part = here.part_of(first), last_part = here.part_of(last - 1);
  std::int64_t steps = std::max<std::int64_t>(here.begin(last_part) - first, 0);
  if (!sweep_.keeps_tapes) steps += last - first - (last_part - first_part + 1);
  return wide(steps);
}

uint128 DoublePlanner::advances(const Segment& segment) {
  if (segment.last - segment.first < 2) return 0;
  const std::int64_t last_start = where(segment.last - 1).start;
  if (segment.first >= last_start) return advances_within(segment.first, segment.last);
  // On to the last interval; then one interval after the other, all alike but for the first ones.
  uint128 total = wide(last_start - segment.first) + advances_within(last_start, segment.last);
  std::int64_t first = segment.first;
  for (int uneven = 0; uneven < 2 && first < last_start; ++uneven) {
    const std::int64_t end = where(first).end();
    total += advances_within(first, end);
    first = end;
  }
  const auto alike = wide((last_start - first) / sweep_.interval);
  return alike > 0 ? total + alike * advances_within(first, first + sweep_.interval) : total;
}

// ---- as it was published ----

DoubleSweep double_sweep(std::int64_t steps, std::int64_t interval, std::int64_t tape_units) {
  DoubleSweep sweep;
  sweep.steps = steps;
  sweep.interval = std::min(interval, steps);
  sweep.full = best_double_interval(sweep.interval, tape_units);
  sweep.intervals = ceil_divide(steps, sweep.interval);
  const std::int64_t rest = steps - (sweep.intervals - 1) * sweep.interval;
  sweep.last = double_interval_within(rest, tape_units, sweep.full.local_units);
  return sweep;
}

uint128 forwards_of(const DoubleSweep& sweep) {
  return wide(sweep.steps) + wide(sweep.intervals - 1) * wide(sweep.full.forwards()) +
         wide(sweep.last.forwards());
}

}  // namespace anadrome::schedule
