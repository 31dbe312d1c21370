#include "schedule/double_sweep.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"

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
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
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

uint128 DoubleSweep::forwards() const {
  return static_cast<uint128>(steps) +
         static_cast<uint128>(intervals - 1) * static_cast<uint128>(full.forwards()) +
         static_cast<uint128>(last.forwards());
}

DoubleSweep double_sweep(std::int64_t steps, std::int64_t interval, std::int64_t tape_units) {
  check(steps, tape_units);
  if (interval < 1) throw Error(ANADROME_ERR_ARGUMENT, "an interval has at least one step");
  DoubleSweep sweep;
  sweep.steps = steps;
  sweep.interval = std::min(interval, steps);
  sweep.intervals = ceil_divide(steps, sweep.interval);
  sweep.full = best_double_interval(sweep.interval, tape_units);
  const std::int64_t rest = steps - (sweep.intervals - 1) * sweep.interval;
  sweep.last = double_interval_within(rest, tape_units, sweep.full.local_units);
  return sweep;
}

std::int64_t double_interval(std::int64_t steps, std::int64_t transfer_steps,
                             std::int64_t off_chip) {
  if (steps < 1 || transfer_steps < 1 || off_chip < 1) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "double checkpointing needs steps, transfers of at least one step, and room off "
                "chip for a state");
  }
  return std::min(steps, std::max(transfer_steps, ceil_divide(steps, off_chip)));
}

Placement DoublePlanner::place(const Segment& segment) {
  const std::int64_t start = segment.first / sweep_.interval * sweep_.interval;
  const DoubleInterval& interval = interval_of(segment.first);
  const std::int64_t end = start + interval.steps;
  if (segment.first == start && segment.held == Place::kNowhere) return {Place::kDisk, 0};
  if (segment.last > end) return {Place::kNowhere, end - segment.first};
  const std::int64_t part = interval.part_of(segment.first - start);
  const std::int64_t next = start + interval.begin(part + 1);
  if (segment.last <= next) return {Place::kTape, 0};
  if (segment.held != Place::kRam) return {Place::kRam, 0};
  return {Place::kNowhere, next - segment.first};
}

uint128 DoublePlanner::advances(const Segment& segment) {
  if (segment.last - segment.first < 2) return 0;
  // Of the piece first .. last-1 of one interval: up to where its last part begins.
  const auto within = [this](std::int64_t first, std::int64_t last) {
    const std::int64_t start = first / sweep_.interval * sweep_.interval;
    const DoubleInterval& interval = interval_of(first);
    const std::int64_t begin = start + interval.begin(interval.part_of(last - 1 - start));
    return static_cast<uint128>(std::max<std::int64_t>(begin - first, 0));
  };
  const std::int64_t first_interval = segment.first / sweep_.interval;
  const std::int64_t last_interval = (segment.last - 1) / sweep_.interval;
  if (first_interval == last_interval) return within(segment.first, segment.last);
  const std::int64_t first_end = (first_interval + 1) * sweep_.interval;
  const std::int64_t last_start = last_interval * sweep_.interval;
  const auto between = static_cast<uint128>(last_interval - first_interval - 1);
  return static_cast<uint128>(last_start - segment.first) + within(segment.first, first_end) +
         between * within(first_end, first_end + sweep_.interval) +
         within(last_start, segment.last);
}

}  // namespace anadrome::schedule
