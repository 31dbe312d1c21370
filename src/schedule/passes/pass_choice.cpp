// SPDX-License-Identifier: BSD-2-Clause
// PassSweep, the part that chooses what is in RAM, and counts what is still to come: exactly,
// without playing it.
#include <algorithm>

#include "schedule/passes/pass_sweep.h"

namespace anadrome::schedule {

// ---- forward: what the next pass in reverse is to find ----

// From the end down: what is freed by an interval is there for those below it.
void PassSweep::choose_targets() {
  constexpr std::int64_t kFew = 64;  // intervals of one step have nothing to be kept
  std::int64_t left = units_, freed = 0, end = steps_;
  for (std::int64_t tries = units_ + kFew; tries > 0 && left > 0 && end > 1; --tries) {
    const std::int64_t first = anchors_.step(newest_anchor(end - 1));
    const std::int64_t kept = std::min(left, end - first - 1);
    add_targets(first, end - first, kept, freed);
    left -= kept;
    freed += kept;
    end = first;
  }
  std::sort(targets_.begin(), targets_.end());
  const auto serves = [this](const Entry& entry) {
    return std::binary_search(targets_.begin(), targets_.end(), entry.step);
  };
  std::copy_if(ram_.begin(), ram_.end(), std::back_inserter(victims_),
               [&](const Entry& entry) { return !serves(entry); });
}

// The steps from the kept state `first` on are reversed with `kept` states between them, all of
// which were kept before: each part has as many slots as are free once those above it are reversed.
// E(L, s) rises with L by r where beta(s, r-1) <= L < beta(s, r), so the sum over the parts is
// least where r is the same for all. What is left over goes to the last ones.
void PassSweep::add_targets(std::int64_t first, std::int64_t steps, std::int64_t kept,
                            std::int64_t freed) {
  const auto parts_up_to = [&](std::int64_t r) {
    uint128 sum = 0;
    for (std::int64_t part = 0; part <= kept; ++part) sum += binomial(freed + part + 1, r);
    return sum;
  };
  std::int64_t r = 0;
  while (parts_up_to(r) < wide(steps)) ++r;
  uint128 over = wide(steps) - (r > 0 ? parts_up_to(r - 1) : 0);
  std::int64_t end = first + steps;
  for (std::int64_t part = 0; part < kept; ++part) {  // the last one first
    const std::int64_t slots = freed + part + 1;
    const uint128 least = r > 0 ? binomial(slots, r - 1) : 0;
    const uint128 more = std::min(over, binomial(slots, r) - least);
    over -= more;
    end -= static_cast<std::int64_t>(least + more);
    targets_.push_back(end);
  }
}

// ---- reverse: what is worth its place until it is reached ----

// The newest ones, if any: how many of them, to a factor of two.
void PassSweep::choose_kept() {
  const std::int64_t end = target() + 1;
  const std::size_t count = ram_.size();
  std::size_t best = 0;
  uint128 fewest = 0;
  const auto consider = [&](std::size_t lowest) {
    const uint128 steps = reversal(end, lowest, units_ - static_cast<std::int64_t>(count - lowest));
    if (lowest > 0 && steps >= fewest) return;
    fewest = steps;
    best = lowest;
  };
  consider(0);
  for (std::size_t some = 1; some < count; some *= 2) {
    consider(some);
    consider(count - some);
  }
  if (count > 0) consider(count);
  const auto lowest = ram_.begin() + static_cast<std::ptrdiff_t>(best);
  spare_.assign(ram_.begin(), lowest);
  ram_.erase(ram_.begin(), lowest);
}

// ---- how much is left ----

Course PassSweep::course() const {
  Course course = course_;
  course.adjoints_left = pass_.direction == Direction::kForward ? steps_ - at_ : at_ + 1;
  if (done_) course.adjoints_left = 0;
  course.may_rewind = done_;
  return course;
}

std::int64_t PassSweep::advances_remaining() const {
  if (done_) return 0;
  if (pass_.direction == Direction::kForward) return advances_forward();
  const uint128 steps = advances_reverse();
  return steps > wide(kNoLimit) ? kNoLimit : static_cast<std::int64_t>(steps);
}

// Anchors below this number that a pass forward restores.
std::int64_t PassSweep::read_below(std::int64_t number) const {
  const std::int64_t cycle = pass_.stride * pass_.states_per_block;
  const std::int64_t whole = number / cycle * pass_.states_per_block;
  std::int64_t read = whole + std::min(number % cycle, pass_.states_per_block);
  for (const std::int64_t block : lost_) {
    const std::int64_t first = block * pass_.states_per_block;
    if (block % pass_.stride == 0)
      read -= std::clamp<std::int64_t>(number - first, 0, pass_.states_per_block);
  }
  return read;
}

std::int64_t PassSweep::advances_forward() const {
  if (at_ == steps_ || has_tapes()) return 0;
  const auto kept = ram_at(at_);
  const std::int64_t upto = anchors_.count_up_to(at_), newest = upto - 1;
  const bool at_anchor = newest >= 0 && anchors_.step(newest) == at_ && is_read(newest);
  std::int64_t steps = 0;
  const bool recorded = record_ && tape_ == at_;
  if (!recorded && live_ != at_ && kept == ram_.end() && !at_anchor) {
    std::int64_t from = live_;
    if (from == kUnknown) {
      from = anchors_.step(newest_anchor(at_));
      for (const Entry& entry : ram_) {
        if (entry.step <= at_) from = std::max(from, entry.step);
      }
    }
    steps += at_ - from;
  }
  if (record_) return steps + steps_ - at_ - (recorded ? 1 : 0);
  std::int64_t restored = read_below(anchors_.count_up_to(steps_ - 1)) - read_below(upto);
  for (const Entry& entry : ram_) {
    if (entry.step <= at_ || entry.step >= steps_) continue;
    const std::int64_t number = anchors_.count_up_to(entry.step) - 1;
    if (anchors_.step(number) != entry.step || !is_read(number)) ++restored;
  }
  return steps + steps_ - 1 - at_ - restored;
}

uint128 PassSweep::advances_reverse() const {
  if (has_tapes()) return 0;
  std::int64_t end = target() + 1;
  if (end <= 0) return 0;
  uint128 total = record_ ? wide(at_ + 1) : 0;
  std::int64_t live = live_;
  if (record_ && tape_ != kUnknown && tape_ == at_) {
    --total;
    --end;
    live = kUnknown;
  }
  std::int64_t free = free_units();
  for (const Entry& entry : ram_) free += entry.step >= end ? 1 : 0;
  if (live == kUnknown || live >= end) return total + reversal(end, 0, free_units());
  std::int64_t top = anchors_.step(newest_anchor(live));
  for (const Entry& entry : ram_) {
    if (entry.step <= live) top = std::max(top, entry.step);
  }
  if (live == top) return total + reversal(end, 0, free_units());
  if (free == 0) return total + wide(end - 1 - live) + reversal(end - 1, 0, free_units());
  return total + extra_advances(end - live, free) + reversal(live, 0, free_units());
}

// Of the steps below `end`, from the states in RAM from number `lowest` on and from the anchors,
// nothing being live. `free` units: those of states from `end` on are free, too.
uint128 PassSweep::reversal(std::int64_t end, std::size_t lowest, std::int64_t free) const {
  uint128 total = 0;
  const auto reversed = [&](std::int64_t first) {
    if (end - first > 1) total += extra_advances(end - first, free + 1);
    end = first;
  };
  // The anchors above `bottom`: runs of them with none lost between, the newest first.
  const auto down_to = [&](std::int64_t bottom) {
    for (std::int64_t number = newest_anchor(end - 1);
         number >= 0 && anchors_.step(number) > bottom;) {
      reversed(anchors_.step(number));
      std::int64_t first = anchors_.count_up_to(bottom);
      for (const std::int64_t block : lost_) {
        const std::int64_t above = (block + 1) * pass_.states_per_block;
        if (above <= number) first = std::max(first, above);
      }
      total += gaps(first, number, free);
      end = anchors_.step(first);
      number = end > 0 ? newest_anchor(end - 1) : -1;
    }
  };
  for (std::size_t i = ram_.size(); i > lowest; --i) {
    const std::int64_t step = ram_[i - 1].step;
    if (step < end) {
      down_to(step);
      reversed(step);
    }
    ++free;
  }
  down_to(-1);
  return total;
}

// Between the anchors `first` .. `last`, of which none is lost.
uint128 PassSweep::gaps(std::int64_t first, std::int64_t last, std::int64_t free) const {
  uint128 total = 0;
  const auto add = [&](std::int64_t times, std::int64_t steps) {
    if (times > 0 && steps > 1) total += wide(times) * extra_advances(steps, free + 1);
  };
  const auto& stretches = anchors_.stretches();
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::int64_t next = i + 1 < stretches.size() ? stretches[i + 1].number : anchors_.count();
    const std::int64_t from = std::max(stretches[i].number, first);
    const std::int64_t to = std::min(next - 1, last);
    add(to - from, stretches[i].spacing);
    const bool on_to_next = from <= to && to == next - 1 && next <= last;
    if (on_to_next) add(1, anchors_.step(next) - anchors_.step(to));
  }
  return total;
}

}  // namespace anadrome::schedule
