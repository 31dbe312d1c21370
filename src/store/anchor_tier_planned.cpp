// AnchorTier, the part of schedules that say what is written and read, and when.
#include <algorithm>

#include "store/anchor_tier.h"

namespace anadrome::store {

void AnchorTier::write(std::int64_t number, std::int64_t step) {
  const std::int64_t block = block_of(number);
  Written& written = note_block(block, step, step, 1);
  written.extents = residents_.at(block).transfer.extents;
  start_write(block, written);
}

void AnchorTier::give_up(std::int64_t number, std::int64_t step, const Failure& why) {
  note_block(block_of(number), step, step, 1).failure = why;
  residents_.at(block_of(number)).state = State::kClean;
}

// Without a thread for it, load does it where it is needed.
void AnchorTier::read(std::int64_t number) {
  const std::int64_t block = block_of(number);
  if (!transport_.overlaps() || is_resident(block) || !is_on_disk(block)) return;
  start_read(block, take_block());
}

// ---- in a stack ----

std::int64_t AnchorTier::keep_at(std::int64_t number, std::int64_t step, const Region& region) {
  forget(number);
  clear(region);
  Resident& resident = residents_[number];
  resident.region = region;
  current_ = number;
  anchors_kept_ = number + 1;
  first_step_ = last_step_ = step;
  return stack_->keep_in_pages(region.place, region.units, resident.transfer.extents);
}

// Dropped while it was being written it may still be there, and its place is another one's now.
void AnchorTier::read_to(std::int64_t number, const Region& region) {
  Written& written = written_[static_cast<std::size_t>(number)];
  written.region = region;
  stack_->note_return(region.place, written.extents);
  forget(number);
  if (!transport_.overlaps() || !is_on_disk(number)) return;
  clear(region);
  start_read(number, -1);
}

void AnchorTier::clear(const Region& region) {
  for (;;) {
    const auto found = std::find_if(residents_.begin(), residents_.end(), [&](const auto& entry) {
      const Region& other = entry.second.region;
      return other.place < region.place + region.units && region.place < other.place + other.units;
    });
    if (found == residents_.end()) return;
    if (!found->second.dropped || !is_moving(found->second)) {
      throw Error(ANADROME_ERR_INTERNAL, "the plan has two states in one place");
    }
    note_wait(found->second.transfer, transport_.wait(found->second.transfer));
    settle(found);
  }
}

}  // namespace anadrome::store
