#include "schedule/anchor_list.h"

#include <algorithm>

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

void AnchorList::truncate(std::int64_t count) {
  count_ = std::min(count_, count);
  while (!stretches_.empty() && stretches_.back().number >= count_) stretches_.pop_back();
}

}  // namespace anadrome::schedule
