// SPDX-License-Identifier: BSD-2-Clause
// Objects, the part that keeps their order, of when each is needed next, and what follows from it:
// what is read ahead, and what leaves memory.
#include <algorithm>
#include <utility>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "objects/objects.h"

namespace anadrome::store {

using Rank = ObjectBlocks::Rank;

void Objects::expect(std::span<const Key> keys) {
  ExpectedGets list(keys);
  // Objects that are no longer expected come first of the rest, in their order.
  std::vector<Object*> before;
  for (const auto& [rank, object] : order_) {
    if (!ExpectedGets::has(rank)) break;
    before.push_back(object);
  }
  for (auto object = before.rbegin(); object != before.rend(); ++object) {
    set_rank(**object, --first_);
  }
  expected_ = std::move(list);
  try {
    keep_to_memory();
  } catch (...) {
    expected_ = {};
    throw;
  }
  for (const Key key : keys) {
    const auto found = objects_.find(key);
    if (found != objects_.end()) set_rank(found->second, *expected_.next(key));
  }
  read_ahead();
}

Rank Objects::rank_for_put(Key key) {
  const std::optional<Rank> expected = expected_.next(key);
  return expected ? *expected : --first_;
}

// Entries before the one that was got are passed over.
Rank Objects::rank_after_get(const Object& object) {
  if (!ExpectedGets::has(object.rank)) return ++last_;
  expected_.pass(object.rank);
  while (order_.begin()->first < object.rank) {
    Object& passed = *order_.begin()->second;
    set_rank(passed, rank_for_put(passed.key));
  }
  const std::optional<Rank> expected = expected_.next(object.key);
  return expected ? *expected : ++last_;
}

void Objects::set_rank(Object& object, Rank rank) {
  ahead_ = std::min(ahead_, rank);
  auto node = order_.extract(object.rank);
  node.key() = rank;
  order_.insert(std::move(node));
  object.rank = rank;
  set_needed(object);
}

void Objects::set_needed(const Object& object) {
  for (const Run& run : object.runs) {
    if (is_whole(run)) {
      blocks_.set_needed(run.block, object.rank);
    } else if (object.rank < blocks_.needed(run.block)) {
      blocks_.set_needed(run.block, object.rank);
    }
  }
}

// An object that shares a block is mostly followed by its neighbours.
void Objects::was_used(Object& object) {
  const Number left_before = left_last_;
  set_rank(object, rank_after_get(object));
  for (const Run& run : object.runs) {
    if (!is_whole(run)) leave(run.block);
  }
  const bool whole = !object.runs.empty() && is_whole(object.runs.front());
  if (whole || left_last_ != left_before) read_ahead();
}

// The block that was used before may be needed later than it says.
void Objects::leave(Number shared) {
  const Number before = std::exchange(left_last_, shared);
  if (before == shared) return;
  const auto found = shared_.find(before);
  if (found == shared_.end() || found->second.stale) return;
  found->second.stale = true;
  stale_.push_back(before);
}

void Objects::refresh() {
  for (const Number block : stale_) {
    Shared& shared = shared_.at(block);
    shared.stale = false;
    Rank soonest = ObjectBlocks::kNever;
    for (const Key key : shared.keys) {
      const auto owner = objects_.find(key);
      if (owner == objects_.end()) continue;
      const auto& runs = owner->second.runs;
      const bool here =
          std::any_of(runs.begin(), runs.end(), [&](const Run& run) { return run.block == block; });
      if (here) soonest = std::min(soonest, owner->second.rank);
    }
    blocks_.set_needed(block, soonest);
  }
  stale_.clear();
}

// It is of no account to who called.
void Objects::read_ahead() noexcept {
  failure_from([this] { fetch_what_comes_first(); });
}

// As far as it is not in memory, and there is memory that is not needed sooner.
void Objects::fetch_what_comes_first() {
  ahead_ = std::min(ahead_, blocks_.soonest_evicted());
  bool refreshed = false;
  for (auto next = order_.lower_bound(ahead_); next != order_.end(); ++next) {
    ahead_ = next->first;
    for (const Run& run : next->second->runs) {
      if (!blocks_.is_on_disk(run.block)) continue;
      if (!std::exchange(refreshed, true)) refresh();
      if (!blocks_.fetch(run.block)) return;
    }
  }
  if (!order_.empty()) ahead_ = order_.rbegin()->first + 1;
}

std::int64_t Objects::table_bytes() const {
  constexpr std::int64_t kHeap = 16;  // what an allocation takes beside its bytes
  constexpr std::int64_t kNode = 16 + kHeap, kTreeNode = 48 + kHeap;
  constexpr std::int64_t kObject = sizeof(Key) + sizeof(Object) + kNode + kTreeNode + kHeap +
                                   2 * static_cast<std::int64_t>(sizeof(Key));
  constexpr std::int64_t kShape = 512;
  return std::ssize(objects_) * kObject + runs_ * static_cast<std::int64_t>(sizeof(Run)) +
         std::ssize(shapes_) * kShape + expected_.bytes() + blocks_.table_bytes();
}

// A little is not counted.
void Objects::keep_to_memory() {
  constexpr std::int64_t kLittle = std::int64_t{1} << 20;
  const std::int64_t bytes = std::max<std::int64_t>(table_bytes() - kLittle, 0);
  if (bytes > blocks_.memory_bytes() - blocks_.block_bytes()) throw_list_too_long();
  blocks_.withhold(ceil_divide(bytes, blocks_.block_bytes()));
}

void Objects::throw_list_too_long() const {
  const std::int64_t each = table_bytes() / std::max<std::int64_t>(std::ssize(objects_), 1);
  throw Error(ANADROME_ERR_MEMORY,
              "the list of " + counted(std::ssize(objects_), "object") +
                  " takes all of memory=" + format_bytes(blocks_.memory_bytes()) + " (about " +
                  std::to_string(each) + " bytes each): raise memory, or put larger objects");
}

}  // namespace anadrome::store
