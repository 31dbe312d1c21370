// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/anchor_list.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

std::int64_t AnchorList::step(std::int64_t number) const {
  auto stretch = stretches_.end() - 1;  // the newest ones are asked for most
  if (number < stretch->number) {
    stretch = std::upper_bound(stretches_.begin(), stretches_.end(), number,
                               [](std::int64_t n, const Stretch& s) { return n < s.number; }) -
              1;
  }
  return stretch->step + (number - stretch->number) * stretch->spacing;
}

std::int64_t AnchorList::count_up_to(std::int64_t step) const {
  const auto above =
      std::upper_bound(stretches_.begin(), stretches_.end(), step,
                       [](std::int64_t at, const Stretch& stretch) { return at < stretch.step; });
  if (above == stretches_.begin()) return 0;
  const Stretch& stretch = *(above - 1);
  const std::int64_t end = above == stretches_.end() ? count_ : above->number;
  if (stretch.spacing == 0) return stretch.number + 1;
  return std::min(end, stretch.number + (step - stretch.step) / stretch.spacing + 1);
}

void AnchorList::append(std::int64_t step) {
  if (count_ > 0) {
    Stretch& last = stretches_.back();
    const std::int64_t spacing = step - newest_step();
    if (last.number == count_ - 1) last.spacing = spacing;  // its first neighbour
    if (last.spacing == spacing) {
      ++count_;
      return;
    }
  }
  stretches_.push_back({count_, step, 0});
  ++count_;
}

void AnchorList::make_room() {
  if (stretches_.capacity() - stretches_.size() < kRoom) {
    stretches_.reserve(2 * stretches_.size() + 2 * kRoom);
  }
}

AnchorList AnchorList::of(std::int64_t count, const std::vector<Stretch>& stretches) {
  AnchorList list;
  list.count_ = count;
  list.stretches_ = stretches;
  bool fits = count > 0 && !stretches.empty() && stretches.front().number == 0 &&
              stretches.front().step == 0;
  for (std::size_t i = 0; fits && i < stretches.size(); ++i) {
    const std::int64_t end = i + 1 < stretches.size() ? stretches[i + 1].number : count;
    const std::int64_t anchors = end - stretches[i].number;
    fits = anchors > 0 && (anchors == 1 || stretches[i].spacing > 0) && stretches[i].spacing >= 0 &&
           stretches[i].spacing <= (kMostSteps - stretches[i].step) / anchors;
    if (fits && i + 1 < stretches.size()) fits = list.step(end - 1) < stretches[i + 1].step;
  }
  if (!fits) throw Error(ANADROME_ERR_CORRUPT, "a list of anchors that cannot be");
  return list;
}

void AnchorList::truncate(std::int64_t count) {
  count_ = std::min(count_, count);
  while (!stretches_.empty() && stretches_.back().number >= count_) stretches_.pop_back();
}

}  // namespace anadrome::schedule
