// SPDX-License-Identifier: BSD-2-Clause
#include "engine/verify/audit.h"

#include <algorithm>

namespace anadrome::engine {
namespace {

constexpr std::int64_t kFirst = 4;   // states are all taken; what shows at all shows early
constexpr std::int64_t kStride = 4;  // then every so many, and twice as many where that is full
constexpr std::int64_t kSingleSteps = 8;  // in every other advance that ends at a fingerprint
constexpr std::size_t kMostStates = 64;
constexpr std::size_t kMostBytes = std::size_t{256} << 10;  // beside the budget

}  // namespace

void Audits::begin() {
  entries_ = {};
  prints_ = {};
  places_ = {};
  candidates_ = 0;
  stride_ = kStride;
  chosen_ = -1;
  by_single_steps_ = true;
  on_ = comparison_.sees_states_again();
  if (!on_) return;
  const std::size_t fields = comparison_.fields();
  const std::size_t fit = kMostBytes / (fields * sizeof(Fingerprint));
  const std::size_t most = std::clamp(fit, std::size_t{2 * kFirst}, kMostStates);
  held_.attempt([&] {
    entries_.reserve(most);
    prints_.resize((most + 1) * fields);
    places_.reserve(most);
    for (std::size_t place = most; place > 0; --place) places_.push_back(place);
  });
}

bool Audits::is_due(bool last) {
  const std::int64_t number = candidates_++;
  return last || number < kFirst || number % stride_ == 0;
}

// A state that is kept is not computed again, and neither is one whose step leaves a tape.
void Audits::choose(const schedule::Advance& advance, const LiveState& live) {
  chosen_ = -1;
  if (!on_ || advance.again) return;
  started_at_ = advance.first;
  const bool last = advance.last == plan_.sweep->course().steps;
  const std::int64_t tapes = advance.record ? 1 : 0;
  const std::int64_t before_end = advance.last - 1 - tapes;
  const bool kept = advance.first == 0 || sweep_.kept_step == advance.first;
  if (!kept && advance.first <= before_end && is_due(false)) {
    take(advance.first, live);
  }
  if (before_end <= advance.first || !is_due(last)) return;
  chosen_ = before_end;
  by_single_steps_ = !by_single_steps_;
}

Audits::Entries::const_iterator Audits::first_from(std::int64_t step) const {
  return std::lower_bound(entries_.begin(), entries_.end(), step,
                          [](const Entry& entry, std::int64_t from) { return entry.step < from; });
}

std::int64_t Audits::next_look(const schedule::Advance& advance) const {
  if (!advance.again) {
    const std::int64_t singles = started_at_ + (by_single_steps_ ? kSingleSteps : 1);
    if (advance.first < std::min(chosen_, singles)) return advance.first + 1;
    return advance.first < chosen_ && chosen_ < advance.last ? chosen_ : advance.last;
  }
  const auto entry = first_from(advance.first + 1);
  return entry == entries_.end() ? advance.last : std::min(entry->step, advance.last);
}

Audits::Entries::const_iterator Audits::forget(Entries::const_iterator entry) {
  places_.push_back(entry->place);
  return entries_.erase(entry);
}

void Audits::thin_out() {
  stride_ *= 2;
  for (auto entry = entries_.cbegin(); entry != entries_.cend();) {
    const bool stays = entry->number < kFirst || entry->number % stride_ == 0;
    entry = stays ? std::next(entry) : forget(entry);
  }
}

void Audits::take(std::int64_t step, const LiveState& live) {
  if (places_.empty()) thin_out();
  if (places_.empty()) return;  // memory was lacking at begin, as all ranks will hear
  const std::size_t place = places_.back();
  places_.pop_back();
  entries_.insert(first_from(step), {step, candidates_ - 1, place});
  comparison_.take(live, prints_at(place));
}

void Audits::compare(std::int64_t step, const LiveState& live) {
  const auto entry = first_from(step);
  if (entry == entries_.end() || entry->step != step) return;
  const Fingerprints first = prints_at(entry->place), now = prints_at(0);
  comparison_.take(live, now, {}, first);
  const std::int64_t again = std::max<std::int64_t>(step - sweep_.restored_step, 1);
  const auto difference = comparison_.compare(Call::kAudit, {live, first, now}, again);
  forget(entry);
  ++sweep_.checks.audited_states;
  if (!difference) return;
  comparison_.judge(*difference, not_the_same(step), kUsualCauses);
}

}  // namespace anadrome::engine
