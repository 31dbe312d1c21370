// SPDX-License-Identifier: BSD-2-Clause
// Objects, the part that finds room for their bytes: blocks of their own, and blocks that they
// share.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/index.h"
#include "objects/objects.h"

namespace anadrome::store {

// Memory for an object, in blocks that nobody else has as far as it fills them. Nothing changes if
// there is none.
Objects::Place Objects::allocate(std::int64_t bytes) {
  constexpr std::int64_t kLeastPiece = 4096;
  const std::int64_t block_bytes = blocks_.block_bytes();
  const std::int64_t whole = bytes / block_bytes, rest = bytes % block_bytes;
  if (rest > room()) compact_sparse();
  const std::int64_t begin = round_up(open_used_, kAlign), room = this->room();
  const bool opens = rest > room;
  const std::int64_t here = !opens ? rest : room >= kLeastPiece ? room : 0;
  Place place;
  place.runs.reserve(size(whole + 2));
  if (here > 0) {
    std::vector<Key>& keys = shared_.at(open_).keys;
    if (keys.size() == keys.capacity()) keys.reserve(2 * keys.size() + 8);
  }
  std::vector<Number> taken;
  if (whole > 0 || opens) {
    refresh();
    blocks_.take(whole + (opens ? 1 : 0), taken);
  }
  for (std::int64_t i = 0; i < whole; ++i) {
    place.runs.push_back({taken[at(i)], 0, static_cast<std::int32_t>(block_bytes)});
  }
  if (here > 0) {
    place.runs.push_back(
        {open_, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(here)});
    open_used_ = begin + here;
  }
  if (!opens) return place;
  place.full_used = open_used_;
  try {
    place.full = open_another(taken.back());
  } catch (...) {
    for (const Number block : taken) blocks_.free(block);
    throw;
  }
  open_used_ = rest - here;
  place.runs.push_back({open_, 0, static_cast<std::int32_t>(open_used_)});
  return place;
}

std::int64_t Objects::room() const {
  return open_ == ObjectBlocks::kNone ? 0 : blocks_.block_bytes() - round_up(open_used_, kAlign);
}

// Returns the one that was open. Nothing changes if there is no memory for it; what becomes of the
// block needs none.
Objects::Number Objects::open_another(Number block) {
  for (std::vector<Number>* list : {&stale_, &sparse_}) {
    if (list->capacity() <= shared_.size()) list->reserve(2 * shared_.size() + 8);
  }
  Shared made;
  made.keys.reserve(8);
  shared_.emplace(block, std::move(made));
  blocks_.set_needed(block, ObjectBlocks::kNever);
  open_used_ = 0;
  return std::exchange(open_, block);
}

void Objects::close(Number block, std::int64_t used) {
  if (shared_.at(block).live == 0) {
    forget(block);
    return blocks_.free(block);
  }
  blocks_.filled(block, used);
  if (is_sparse(block)) compact_later(block);
}

void Objects::forget(Number block) {
  const auto found = shared_.find(block);
  if (found->second.stale) std::erase(stale_, block);
  if (found->second.sparse) std::erase(sparse_, block);
  shared_.erase(found);
}

// All runs first: one block may have two of them.
void Objects::free(const std::vector<Run>& runs) {
  runs_ -= std::ssize(runs);
  for (const Run& run : runs) {
    if (is_whole(run)) {
      blocks_.free(run.block);
    } else {
      shared_.at(run.block).live -= run.bytes;
    }
  }
  for (const Run& run : runs) {
    if (is_whole(run) || !shared_.contains(run.block)) continue;
    leave(run.block);
    compact(run.block);
  }
}

// A shared block of which less than half is in use gives it to the open one, so that holes never
// take more than what is alive. Where there is no room it becomes the open one itself, without its
// holes. One that moves, is viewed or lies on disk alone waits.
void Objects::compact(Number block) {
  Shared& shared = shared_.at(block);
  if (shared.live == 0) {
    shared.keys.clear();
    if (block == open_) {
      open_used_ = 0;
      return;
    }
    forget(block);
    return blocks_.free(block);
  }
  if (block == open_ || !is_sparse(block)) return;
  if (!blocks_.may_move(block)) return compact_later(block);
  LiveRuns live;
  bool moves = true;
  const Failure no_memory = failure_from([&] {
    live = live_in(block);
    moves = make_room_for(live);
  });
  if (no_memory) return compact_later(block);
  Number full = ObjectBlocks::kNone;
  const std::int64_t full_used = open_used_;
  if (!moves) {
    blocks_.reopen(block);
    shared.keys.clear();
    shared.live = open_used_ = 0;
    full = std::exchange(open_, block);
  }
  Shared& open = shared_.at(open_);
  for (const auto& [run, key] : live) {  // of the same block: none is overwritten before it moves
    const std::int64_t begin = round_up(open_used_, kAlign);
    std::memmove(blocks_.address(open_) + begin, blocks_.address(block) + run->offset,
                 size(run->bytes));
    run->block = open_;
    run->offset = static_cast<std::int32_t>(begin);
    open_used_ = begin + run->bytes;
    open.keys.push_back(key);
    open.live += run->bytes;
  }
  if (full != ObjectBlocks::kNone) close(full, full_used);
  if (!moves) return;
  blocks_.set_needed(open_, std::min(blocks_.needed(open_), blocks_.needed(block)));
  forget(block);
  blocks_.free(block);
}

// By offset. A key is among those of a block each time that it was put there.
Objects::LiveRuns Objects::live_in(Number block) {
  LiveRuns live;
  for (const Key key : shared_.at(block).keys) {
    const auto owner = objects_.find(key);
    if (owner == objects_.end()) continue;
    for (Run& run : owner->second.runs) {
      if (run.block == block) live.emplace_back(&run, key);
    }
  }
  std::sort(live.begin(), live.end(),
            [](const auto& a, const auto& b) { return a.first->offset < b.first->offset; });
  live.erase(std::unique(live.begin(), live.end()), live.end());
  return live;
}

// In the open block. False: there is none, and no block is free.
bool Objects::make_room_for(const LiveRuns& live) {
  std::int64_t bytes = 0;
  for (const auto& [run, key] : live) bytes += round_up(run->bytes, kAlign);
  if (bytes > room()) {
    const Number another = blocks_.take_free();
    if (another == ObjectBlocks::kNone) return false;
    const std::int64_t used = open_used_;
    Number full = ObjectBlocks::kNone;
    try {
      full = open_another(another);
    } catch (...) {
      blocks_.free(another);
      throw;
    }
    if (full != ObjectBlocks::kNone) close(full, used);
  }
  std::vector<Key>& keys = shared_.at(open_).keys;
  keys.reserve(keys.size() + live.size());
  return true;
}

void Objects::compact_later(Number block) {
  if (!std::exchange(shared_.at(block).sparse, true)) sparse_.push_back(block);
}

void Objects::compact_sparse() {
  const std::vector<Number> blocks = sparse_;
  sparse_.clear();
  for (const Number block : blocks) shared_.at(block).sparse = false;
  for (const Number block : blocks) {
    if (shared_.contains(block)) compact(block);
  }
}

}  // namespace anadrome::store
