// SPDX-License-Identifier: BSD-2-Clause
#include "objects/object_blocks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/byte_size.h"
#include "base/index.h"

namespace anadrome::store {
namespace {

constexpr ObjectBlocks::Rank kAnyRank = std::numeric_limits<ObjectBlocks::Rank>::min();

}  // namespace

BlockLayout object_layout(std::int64_t memory) {
  constexpr std::int64_t kBlocks = 64, kFewestBlocks = 16;
  constexpr std::int64_t kLeast = std::int64_t{16} << 10, kMost = std::int64_t{4} << 20;
  if (memory < kFewestBlocks * kLeast) {
    throw Error(ANADROME_ERR_MEMORY,
                "a store needs a memory of at least " + format_bytes(kFewestBlocks * kLeast));
  }
  const std::int64_t bytes = std::clamp(memory / kBlocks / kPage * kPage, kLeast, kMost);
  const Field field{.name = "bytes", .type = ANADROME_BYTE, .count = bytes, .mover = {}};
  return {BlockShape{1, true}, std::span(&field, 1)};
}

ObjectBlocks::ObjectBlocks(const Parts& parts, std::uint64_t id_low, std::uint64_t id_high)
    : parts_(parts),
      id_low_(id_low),
      id_high_(id_high),
      in_pool_(size(parts.pool.blocks()), kNone),
      soonest_evicted_(kNever) {
  moving_.reserve(in_pool_.size());
  unwritten_.reserve(in_pool_.size());
}

// The transport may still use transfers of blocks.
ObjectBlocks::~ObjectBlocks() {
  for (const Number block : moving_) {
    const Transfer& transfer = *at(block).transfer;
    if (!parts_.transport->cancel(transfer)) parts_.transport->wait(transfer);
  }
}

// ---- memory ----

std::int64_t ObjectBlocks::usable_bytes() const {
  constexpr std::int64_t kOpen = 1;  // which objects share
  return (parts_.pool.blocks() - std::ssize(withheld_) - spare() - kOpen) * block_bytes();
}

// One more than needed stays, for a number that goes up and down.
void ObjectBlocks::withhold(std::int64_t blocks) {
  while (std::ssize(withheld_) < blocks) {
    withheld_.reserve(withheld_.size() + 1);
    withheld_.push_back(take_memory(spare()));
    parts_.pool.discard(withheld_.back());
  }
  while (std::ssize(withheld_) > blocks + 1) {
    parts_.pool.give_back(withheld_.back());
    withheld_.pop_back();
  }
}

void ObjectBlocks::take(std::int64_t count, std::vector<Number>& taken) {
  const std::size_t before = taken.size();
  taken.reserve(before + size(count));
  try {
    for (std::int64_t i = 0; i < count; ++i) taken.push_back(new_block(take_memory(spare())));
  } catch (...) {
    for (; taken.size() > before; taken.pop_back()) free(taken.back());
    throw;
  }
}

ObjectBlocks::Number ObjectBlocks::take_free() {
  return parts_.pool.free_blocks() > spare() ? new_block(parts_.pool.take()) : kNone;
}

ObjectBlocks::Number ObjectBlocks::new_block(std::int64_t memory) {
  Number block = kNone;
  try {
    if (unused_.empty()) {
      unused_.reserve(blocks_.size() + 1);
      blocks_.emplace_back();
      unused_.push_back(static_cast<Number>(blocks_.size() - 1));
    }
    block = unused_.back();
  } catch (...) {
    parts_.pool.give_back(memory);
    throw;
  }
  unused_.pop_back();
  Block& made = at(block);
  made = {};
  made.state = State::kFilling;
  made.serial = ++serials_;
  set_memory(block, memory);
  return block;
}

void ObjectBlocks::set_memory(Number block, std::int64_t memory) {
  at(block).memory = memory;
  in_pool_[size(memory)] = block;
}

std::int64_t ObjectBlocks::leave_memory(Number block) {
  const std::int64_t memory = std::exchange(at(block).memory, -1);
  in_pool_[size(memory)] = kNone;
  return memory;
}

// A block more than `leaves`.
std::int64_t ObjectBlocks::take_memory(std::int64_t leaves) {
  while (parts_.pool.free_blocks() <= leaves) {
    if (!make_room(leaves)) throw_no_room();
  }
  return parts_.pool.take();
}

bool ObjectBlocks::make_room(std::int64_t leaves) {
  settle();
  return parts_.pool.free_blocks() > leaves || evict(kAnyRank) ||
         wait_for_oldest(State::kWriting) || wait_for_oldest(State::kReading) || write_again();
}

// Of those that are on disk, too, the one that is needed last.
bool ObjectBlocks::evict(Rank later_than) {
  Number last = kNone;
  for (const Number block : in_pool_) {
    if (block == kNone) continue;
    const Block& here = at(block);
    const bool may_go = here.state == State::kClean && here.pins == 0 && here.needed > later_than;
    if (may_go && (last == kNone || here.needed > at(last).needed)) last = block;
  }
  if (last == kNone) return false;
  Block& gone = at(last);
  soonest_evicted_ = std::min(soonest_evicted_, gone.needed);
  gone.state = State::kOnDisk;
  parts_.pool.give_back(leave_memory(last));
  return true;
}

ObjectBlocks::Rank ObjectBlocks::soonest_evicted() {
  return std::exchange(soonest_evicted_, kNever);
}

bool ObjectBlocks::wait_for_oldest(State state) {
  const auto oldest = std::find_if(moving_.begin(), moving_.end(),
                                   [&](Number block) { return at(block).state == state; });
  if (oldest == moving_.end()) return false;
  wait(*oldest);
  return true;
}

// The failure may have been an accident, or there is room on the disk by now.
bool ObjectBlocks::write_again() {
  if (parts_.transport == nullptr || unwritten_.empty()) return false;
  const Number block = unwritten_.front();
  refused_ = failure_from([&] { start_write(block); });
  if (!refused_) wait(block);
  return !refused_;
}

void ObjectBlocks::throw_no_room() const {
  const std::string memory = format_bytes(usable_bytes());
  if (refused_ && !unwritten_.empty()) {
    throw Error(refused_.status,
                "the memory of " + memory +
                    " is full of objects that cannot be written: " + refused_.message);
  }
  if (!unwritten_.empty()) {
    throw Error(ANADROME_ERR_NO_SPACE, "the memory of " + memory +
                                           " is full, and the store has no disk (disk=0): drop "
                                           "objects, or raise the option memory");
  }
  throw Error(ANADROME_ERR_MEMORY, "views and the object at hand hold all of the memory of " +
                                       memory + ": release views, or raise the option memory");
}

// ---- the life of a block ----

void ObjectBlocks::filled(Number block, std::int64_t used) {
  at(block).used = used;
  at(block).state = State::kDirty;
  unwritten_.push_back(block);
  write_dirty();
}

void ObjectBlocks::reopen(Number block) {
  Block& here = at(block);
  if (here.state == State::kDirty) std::erase(unwritten_, block);
  give_back_place(here);
  here.state = State::kFilling;
  here.serial = ++serials_;
}

void ObjectBlocks::free(Number block) {
  Block& gone = at(block);
  if (gone.transfer != nullptr && parts_.transport->done(*gone.transfer)) finish(block);
  if (gone.transfer != nullptr && !take_back(block)) {
    gone.dropped = true;
    return;
  }
  if (gone.state == State::kDirty) std::erase(unwritten_, block);
  release(block);
}

// A transfer that has not begun.
bool ObjectBlocks::take_back(Number block) {
  Block& here = at(block);
  if (!parts_.transport->cancel(*here.transfer)) return false;
  std::erase(moving_, block);
  here.transfer = nullptr;
  return true;
}

void ObjectBlocks::release(Number block) {
  Block& gone = at(block);
  if (gone.memory >= 0) parts_.pool.give_back(leave_memory(block));
  give_back_place(gone);
  gone = {};
  unused_.push_back(block);
}

void ObjectBlocks::give_back_place(Block& block) {
  if (block.place < 0) return;
  parts_.files->give_back(std::exchange(block.place, -1));
  refused_ = {};  // there is room again
}

bool ObjectBlocks::in_memory(Number block) const {
  const State state = at(block).state;
  return state != State::kOnDisk && state != State::kReading;
}

bool ObjectBlocks::may_move(Number block) const {
  const Block& here = at(block);
  return here.pins == 0 && (here.state == State::kDirty || here.state == State::kClean);
}

// ---- to disk ----

// As long as three quarters of the memory are free, nothing may ever have to go to disk. From then
// on what is needed last goes first.
void ObjectBlocks::write_dirty() {
  if (parts_.transport == nullptr || refused_ || few_in_use()) return;
  std::stable_sort(unwritten_.begin(), unwritten_.end(),
                   [this](Number a, Number b) { return at(a).needed > at(b).needed; });
  refused_ = failure_from([&] {
    while (!unwritten_.empty()) start_write(unwritten_.front());
  });
}

bool ObjectBlocks::few_in_use() const {
  constexpr std::int64_t kShare = 4;
  const std::int64_t in_use = parts_.pool.blocks() - parts_.pool.free_blocks();
  return in_use * kShare < parts_.pool.blocks();
}

void ObjectBlocks::start_write(Number block) {
  Block& here = at(block);
  if (here.place < 0) here.place = parts_.files->take();
  start(block, true, false);
  here.state = State::kWriting;
  std::erase(unwritten_, block);
}

void ObjectBlocks::start_read(Number block, std::int64_t memory, bool urgent) {
  set_memory(block, memory);
  try {
    start(block, false, urgent);
  } catch (...) {
    parts_.pool.give_back(leave_memory(block));
    throw;
  }
  at(block).state = State::kReading;
}

void ObjectBlocks::start(Number block, bool write, bool urgent) {
  Block& here = at(block);
  auto made = std::make_unique<Transfer>();
  Transfer& transfer = *made;
  transfer.write = write;
  transfer.urgent = urgent;
  transfer.segment = &parts_.files->segment_of(here.place);
  transfer.bytes = parts_.pool.address(here.memory);
  if (here.used < block_bytes()) transfer.extents = {{0, here.used}};
  transfer.place = here.place;
  transfer.identity = {id_low_, id_high_, 0, here.place, here.serial, 1};
  transfer.checksum = here.checksum;
  parts_.transport->start(transfer);
  here.transfer = std::move(made);
  moving_.push_back(block);
}

// What could not be written has its reason in `refused`: refused_ is the newest write's.
Failure ObjectBlocks::flush() {
  constexpr int kAttempts = 2;
  Failure refused;
  const auto wait_for_all = [&] {
    while (!moving_.empty()) {
      wait(moving_.front());
      if (refused_) refused = refused_;
    }
  };
  for (int i = 0; i < kAttempts; ++i) {
    wait_for_all();
    if (unwritten_.empty()) break;
    if (parts_.transport == nullptr) {
      return {ANADROME_ERR_NO_SPACE, "the store has no disk (disk=0)"};
    }
    refused_ = failure_from([&] {
      while (!unwritten_.empty()) start_write(unwritten_.front());
    });
    if (refused_) refused = refused_;
    wait_for_all();
  }
  if (!unwritten_.empty()) return refused;
  return failure_from([&] {
    if (parts_.files != nullptr) parts_.files->sync();
  });
}

// ---- transfers that are done ----

// Writes end in the order in which they began, and reads mostly: one that is not done stands for
// those behind it.
void ObjectBlocks::settle() {
  bool writes_wait = false, reads_wait = false;
  for (std::size_t i = 0; i < moving_.size() && !(writes_wait && reads_wait);) {
    const Number block = moving_[i];
    const Transfer& transfer = *at(block).transfer;
    bool& waits = transfer.write ? writes_wait : reads_wait;
    if (!waits && parts_.transport->done(transfer)) {
      finish(block);
      continue;
    }
    waits = true;
    ++i;
  }
}

void ObjectBlocks::wait(Number block) {
  const bool write = at(block).state == State::kWriting;
  const double seconds = parts_.transport->wait(*at(block).transfer);
  (write ? waited_for_writes_ : waited_for_reads_) += seconds;
  finish(block);
}

// A block whose write failed is dirty again; it gets another place next time.
void ObjectBlocks::finish(Number block) {
  Block& here = at(block);
  const std::unique_ptr<Transfer> transfer = std::move(here.transfer);
  std::erase(moving_, block);
  if (here.dropped) return release(block);
  if (transfer->write) {
    refused_ = transfer->failure;
    here.checksum = transfer->checksum;
    here.state = transfer->failure ? State::kDirty : State::kClean;
    if (!transfer->failure) return;
    unwritten_.push_back(block);
    parts_.files->give_back_last(std::exchange(here.place, -1));
  } else if (transfer->failure) {
    read_failure_ = transfer->failure;
    here.state = State::kOnDisk;
    parts_.pool.give_back(leave_memory(block));
  } else {
    here.state = State::kClean;
  }
}

// ---- from disk ----

// An eighth of the memory is left to what is put next.
bool ObjectBlocks::fetch(Number block) {
  constexpr std::int64_t kShare = 8;
  const std::int64_t reserve = parts_.pool.blocks() / kShare;
  const Rank rank = at(block).needed;
  if (parts_.pool.free_blocks() <= reserve) settle();
  if (parts_.pool.free_blocks() <= reserve && !evict(rank)) return false;
  start_read(block, parts_.pool.take(), false);
  return true;
}

void ObjectBlocks::fetch_now(Number block) {
  Block& here = at(block);
  if (here.state == State::kReading && take_back(block)) {  // it waits behind others
    here.state = State::kOnDisk;
    return start_read(block, leave_memory(block), true);
  }
  if (here.state != State::kOnDisk) return;
  if (parts_.pool.free_blocks() == 0) settle();
  if (parts_.pool.free_blocks() == 0 && !evict(here.needed)) return;
  start_read(block, parts_.pool.take(), true);
}

// One failure may have been an accident on the way.
std::byte* ObjectBlocks::load(Number block) {
  constexpr int kReads = 2;
  for (int reads = 0; !in_memory(block);) {
    if (at(block).state == State::kReading) {
      wait(block);
    } else if (reads++ < kReads) {
      start_read(block, take_memory(0), true);
    } else {
      throw Error(read_failure_.status, read_failure_.message);
    }
  }
  return address(block);
}

// ---- facts ----

std::string ObjectBlocks::path_of(Number block) const {
  const std::int64_t place = at(block).place;
  return place < 0 ? "memory" : parts_.files->segment_of(place).path();
}

std::int64_t ObjectBlocks::blocks_in_memory() const {
  return parts_.pool.blocks() - parts_.pool.free_blocks() - std::ssize(withheld_);
}

std::int64_t ObjectBlocks::table_bytes() const {
  constexpr std::int64_t kLists = 3 * sizeof(Number) + 8;  // and the list of free places
  return std::ssize(blocks_) * (static_cast<std::int64_t>(sizeof(Block)) + kLists);
}

}  // namespace anadrome::store
