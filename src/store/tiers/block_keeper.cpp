// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/block_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace anadrome::store {

void BlockKeeper::no_backing() {
  backing_ = nullptr;
  residents_.clear();
  worked_on_ = {};
}

Resident& BlockKeeper::add(std::int64_t block, std::int64_t pool_block) {
  expect_one();
  unused_.key() = block;
  unused_.mapped() = {};
  unused_.mapped().pool_block = pool_block;
  return residents_.insert(std::move(unused_)).position->second;
}

void BlockKeeper::expect_one() {
  constexpr std::int64_t kNoBlock = -1;
  if (unused_.empty()) unused_ = residents_.extract(residents_.try_emplace(kNoBlock).first);
}

Residents::iterator BlockKeeper::release(Residents::iterator resident) {
  pool_.give_back(resident->second.pool_block);
  const auto next = std::next(resident);
  unused_ = residents_.extract(resident);
  return next;
}

std::int64_t BlockKeeper::take() {
  const std::int64_t block = find(worked_on_);
  if (block >= 0) return block;
  const Failure why = backing_->why_no_memory();
  throw Error(why.status, why.message + "; and there is no memory beside that of step 0");
}

std::int64_t BlockKeeper::take_idle(const Window& stays) {
  const std::int64_t block = pool_.take();
  if (block >= 0 || backing_ == nullptr) return block;
  backing_->settle_finished();
  if (pool_.free_blocks() == 0) evict_safe_block(stays);
  return pool_.take();
}

std::int64_t BlockKeeper::find(Window stays) {
  for (;;) {
    const std::int64_t block = pool_.take();
    if (block >= 0) return block;
    if (backing_ != nullptr) {
      backing_->settle_finished();
      if (pool_.free_blocks() > 0 || make_room(stays)) continue;
      if (backing_->first_block_stays()) return -1;
    }
    throw Error(ANADROME_ERR_INTERNAL, "the schedule uses more memory than the pool has");
  }
}

// True: there may be room now. Blocks in `stays` go last.
bool BlockKeeper::make_room(Window& stays) {
  if (evict_safe_block(stays)) return true;
  const auto busy = first_to_wait_for(stays);
  if (busy != residents_.end()) {
    backing_->finish(busy->first);
    return true;
  }
  const bool tries_again = backing_->first_block_stays() && !stays.has(0);
  if (tries_again && backing_->write_first_block_again()) return true;
  if (evict_lost_block(stays)) return true;
  if (stays.has_others()) {  // what was read ahead can be read again
    stays.keep_current();
    return true;
  }
  if (!backing_->first_block_stays() || stays.empty()) return false;
  stays = {};
  return true;
}

bool BlockKeeper::evict_safe_block(const Window& stays) {
  const auto found = std::find_if(residents_.begin(), residents_.end(), [&](const auto& entry) {
    return may_go(entry.first, entry.second, stays) && backing_->is_on_disk(entry.first);
  });
  if (found == residents_.end()) return false;
  release(found);
  return true;
}

bool BlockKeeper::evict_lost_block(const Window& stays) {
  const auto found = std::find_if(residents_.rbegin(), residents_.rend(), [&](const auto& entry) {
    return may_go(entry.first, entry.second, stays) && !backing_->is_on_disk(entry.first);
  });
  if (found == residents_.rend()) return false;
  release(std::prev(found.base()));
  return true;
}

// A block that is the live state, too, would free nothing.
bool BlockKeeper::may_go(std::int64_t block, const Resident& resident, const Window& stays) const {
  return resident.state == Resident::State::kClean && !stays.has(block) &&
         pool_.holders(resident.pool_block) == 1 && (block > 0 || !backing_->first_block_stays());
}

// One that nobody needs any more, or of the fastest volume the one that is done first.
Residents::iterator BlockKeeper::first_to_wait_for(const Window& stays) {
  const auto sooner = [](const Resident& one, const Resident& other) {
    const int volume = one.transfer.volume, others = other.transfer.volume;
    return volume != others ? volume > others : one.turn < other.turn;
  };
  auto first = residents_.end();
  for (auto it = residents_.begin(); it != residents_.end(); ++it) {
    if (!it->second.moving()) continue;
    if (it->second.dropped) return it;
    if (stays.has(it->first)) continue;
    if (first == residents_.end() || sooner(it->second, first->second)) first = it;
  }
  return first;
}

}  // namespace anadrome::store
