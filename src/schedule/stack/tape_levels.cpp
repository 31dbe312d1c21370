// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/tape_levels.h"

#include <algorithm>

namespace anadrome::schedule {
namespace {

constexpr uint128 kTooMany = uint128{1} << 62;  // steps of a level beyond any schedule's

// Sums of i and of i^2 for i = from .. to.
uint128 sum(std::int64_t from, std::int64_t to) {
  return wide(to) * wide(to + 1) / 2 - wide(from) * wide(from - 1) / 2;
}
uint128 sum_of_squares(std::int64_t from, std::int64_t to) {
  const auto up_to = [](std::int64_t i) { return wide(i) * wide(i + 1) / 2 * wide(2 * i + 1) / 3; };
  return up_to(to) - up_to(from - 1);
}

// C(t - l + b, b) from C(t + b, b).
uint128 fewer(uint128 value, std::int64_t t, std::int64_t b, std::int64_t l) {
  if (std::min(t - l, b) < l) return binomial(t - l, b);
  for (std::int64_t i = 0; i < l; ++i) value = times_over(value, t - i, t - i + b);
  return value;
}

// C(t + l + b, b) from C(t + b, b).
uint128 more(uint128 value, std::int64_t t, std::int64_t b, std::int64_t l) {
  if (std::min(t + l, b) < l) return binomial(t + l, b);
  for (std::int64_t i = 1; i <= l; ++i) value = times_over(value, t + i + b, t + i);
  return value;
}

}  // namespace

TapeLevels::TapeLevels(std::int64_t tape_units, bool tape_restarts)
    : l_(tape_units), restarts_(tape_restarts) {}

std::int64_t TapeLevels::most_tapes(const Start& start) const {
  return (start.units - (start.stays ? 1 : 0)) / l_;
}

// ---- levels ----

// B_i is 1 with one repetition and units - i l + 1 with two: no loop over the tapes.
void TapeLevels::sum_first_levels(std::int64_t units, std::int64_t kinds, Level& level) const {
  const uint128 a = wide(units), k = wide(kinds), l = wide(l_);
  const uint128 s1 = sum(1, kinds);
  const uint128 reach1 = (k + 1) * (a + 1) - l * s1;
  level.group_steps = steps_in_groups(1, kinds, level, units);
  if (level.number == 1) {
    level.groups = k;
    level.end = reach1;
    return;
  }
  level.groups = level.before - wide(level.first_binomial);
  level.end =
      ((k + 1) * (a + 1) * (a + 2) + l * l * sum_of_squares(1, kinds) - l * (2 * a + 3) * s1) / 2;
}

// -1: reversals of so many steps have more repetitions, 1: fewer, and `level` is undefined.
int TapeLevels::try_level(std::int64_t number, std::int64_t steps, const Start& start,
                          Level& level) const {
  const std::int64_t units = start.units, kinds = most_tapes(start), b = number - 1;
  const uint128 wanted = wide(steps);
  uint128 value = binomial(units, b);
  if (value >= kTooMany) return 1;
  level = {};
  level.number = number;
  level.first_binomial = static_cast<std::int64_t>(value);
  if (number <= 2) {
    level.before = wide(kinds + 1);
    if (number == 2) level.before = level.before * wide(units + 1) - wide(l_) * sum(1, kinds);
    if (level.before >= wanted) return 1;
    sum_first_levels(units, kinds, level);
    return level.end < wanted ? -1 : 0;
  }
  for (std::int64_t i = 0, t = units;; ++i) {
    level.before += value;
    if (level.before >= wanted) return 1;
    level.end += times_over(value, t + number, number);
    level.groups += i > 0 ? value : 0;
    level.group_steps += wide(group_length(i)) * value;
    if (i == kinds) break;
    value = fewer(value, t, b, l_);
    t -= l_;
  }
  return level.end < wanted ? -1 : 0;
}

// The questions of a reversal follow each other on neighbouring levels.
TapeLevels::Level TapeLevels::level_of(std::int64_t steps, const Start& start) {
  Level level;
  std::int64_t low = 0, high = steps, stride = 1;  // low: too few repetitions; high: enough
  std::int64_t number = std::min(hint_, high);
  for (;;) {
    const int side = try_level(number, steps, start, level);
    if (side == 0) break;
    if (side < 0) {
      low = number;
      number = stride < high - low ? low + stride : low + (high - low + 1) / 2;
    } else {
      high = number - 1;
      number = stride < high - low ? high + 1 - stride : low + (high - low + 1) / 2;
    }
    stride = std::min(2 * stride, std::max<std::int64_t>(1, (high - low) / 2));
  }
  hint_ = level.number;
  return level;
}

uint128 TapeLevels::steps_in_groups(std::int64_t from, std::int64_t to, const Level& level,
                                    std::int64_t units) const {
  if (from > to) return 0;
  const uint128 each = wide(group_length(1));
  if (level.number == 1) return each * sum(from, to);
  return each * (wide(units + 1) * sum(from, to) - wide(l_) * sum_of_squares(from, to));
}

uint128 TapeLevels::groups_of(std::int64_t from, std::int64_t to, const Level& level,
                              std::int64_t units) const {
  const uint128 count = wide(to - from + 1);
  if (level.number == 1) return count;
  return count * wide(units + 1) - wide(l_) * sum(from, to);
}

TapeLevels::Position TapeLevels::locate(uint128 offset, const Level& level,
                                        const Start& start) const {
  const std::int64_t units = start.units, kinds = most_tapes(start), c = level.number;
  Position position{0, 0};
  if (c <= 2) {
    std::int64_t tapes = kinds, low = 1;  // the largest number with offset within its groups
    if (steps_in_groups(kinds, kinds, level, units) < offset) {
      while (low < tapes) {
        const std::int64_t middle = low + (tapes - low + 1) / 2;
        if (steps_in_groups(middle, kinds, level, units) >= offset) {
          low = middle;
        } else {
          tapes = middle - 1;
        }
      }
    }
    const uint128 rest = offset - steps_in_groups(tapes + 1, kinds, level, units);
    const uint128 length = wide(group_length(tapes));
    position.begun = groups_of(tapes + 1, kinds, level, units) + (rest + length - 1) / length;
    // With two repetitions one group of each length lies before the split, and with one none does.
    if (c == 2) {
      position.left_steps = wide(group_length(1)) * sum(tapes + 1, kinds) + std::min(rest, length);
    }
    return position;
  }
  std::int64_t t = units - kinds * l_;
  uint128 value = binomial(t, c - 1);
  for (std::int64_t tapes = kinds;; --tapes) {
    const uint128 length = wide(group_length(tapes)), all = value * length;
    const uint128 left = times_over(value, c - 1, t + c - 1) * length;
    if (offset <= all || tapes == 1) {
      position.begun += (offset + length - 1) / length;
      position.left_steps += std::min(offset, left);
      return position;
    }
    position.begun += value;
    position.left_steps += left;
    offset -= all;
    value = more(value, t, c - 1, l_);
    t += l_;
  }
}

// ---- answers ----

uint128 TapeLevels::advances(std::int64_t steps, const Start& start) {
  if (steps <= 1) return 0;
  if (step_is_state()) {  // a tape in the place of every state saves the advance over its step
    if (start.stays) return extra_advances(steps + 1, start.units) - wide(steps);
    return extra_advances(steps, start.units) - wide(steps - 1);
  }
  const std::int64_t kinds = most_tapes(start);
  if (kinds == 0) return extra_advances(steps, start.units);
  if (steps - 1 <= kinds) return 0;
  const Level level = level_of(steps, start);
  const uint128 offset = wide(steps) - level.before;
  const std::int64_t c = level.number;
  // C(units + c, units + 1) from B_0 = C(units + c - 1, units).
  const uint128 saved = times_over(wide(level.first_binomial), start.units + c, start.units + 1);
  uint128 begun = 0;
  if (offset > level.free_steps()) {
    begun = locate(offset - level.free_steps(), level, start).begun;
  }
  return wide(c) * wide(steps) + begun - level.groups - saved;
}

bool TapeLevels::begins_with_tape(std::int64_t steps, const Start& start) {
  if (step_is_state()) {
    return !start.stays || (start.units > 1 && splitter_.split(steps + 1, start.units) == 1);
  }
  const std::int64_t kinds = most_tapes(start);
  if (kinds == 0) return false;
  if (steps - 1 <= kinds) return true;
  if (!restarts_ || start.stays || start.units % l_ != 0) return false;
  const Level level = level_of(steps, start);
  return level.number == 1 && wide(steps) - level.before <= level.free_steps();
}

std::int64_t TapeLevels::split(std::int64_t steps, const Start& start) {
  const std::int64_t units = start.units, kinds = most_tapes(start);
  if (units == 1 || steps == 2) return steps - 1;
  if (step_is_state()) return splitter_.split(steps + 1, units) - 1;
  if (kinds == 0) return splitter_.split(steps, units);
  const Level level = level_of(steps, start);
  const uint128 offset = wide(steps) - level.before;
  if (level.number == 1) {
    const bool full = !start.stays && units % l_ == 0;
    return static_cast<std::int64_t>(std::min(offset + (full ? 1 : 0), wide(kinds + 1)));
  }
  Level left;
  try_level(level.number - 1, steps, start, left);
  uint128 steps_before = std::min(offset, left.free_steps());
  if (offset > level.free_steps()) {
    steps_before += locate(offset - level.free_steps(), level, start).left_steps;
  }
  return static_cast<std::int64_t>(left.before + steps_before);
}

}  // namespace anadrome::schedule
