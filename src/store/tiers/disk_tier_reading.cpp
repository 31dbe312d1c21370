// SPDX-License-Identifier: BSD-2-Clause
// DiskTier, the part for what comes back: blocks that are read, and read ahead, and how a state is
// restored from one.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked.h"
#include "store/tiers/disk_tier.h"

namespace anadrome::store {

// ---- what is read ahead ----

BlockKeeper::Window DiskTier::window(std::int64_t block) {
  if (!reads_ahead_) return {block, block, block};
  const std::int64_t last = block + stride_ * prefetch_depth_;
  return {std::min(block, last), std::max(block, last), block, next_at_home(last)};
}

// The next one after `block` that is to be read from home, where there is another volume; -1: none.
std::int64_t DiskTier::next_at_home(std::int64_t block) {
  if (lanes_.size() == 1 || stride_ == 0) return -1;
  AtHome& known = at_home_;
  // Downwards, what was looked for from a block above is still the next, unless it was passed by.
  const bool holds = stride_ == -1 && known.from >= block && known.next < block;
  if (holds && (known.next < 0 || is_on_disk(known.next))) return known.next;
  known = {block, -1};
  const std::int64_t end =
      std::min(anchors_.noted(), ceil_divide(anchors_.restorable(), layout_.states()));
  for (block += stride_; block >= 0 && block < end; block += stride_) {
    if (anchors_[block].volume != kHome || !is_on_disk(block)) continue;
    known.next = block;
    break;
  }
  return known.next;
}

// ---- reading ----

void DiskTier::start_read(std::int64_t block, std::int64_t pool_block) {
  Resident& resident = blocks_.add(block, pool_block);
  const AnchorBlocks::Block& written = anchors_[block];
  Transfer& transfer = resident.transfer;
  transfer.urgent = false;
  transfer.write = false;
  const bool copy = anchors_.reads_copy(block);
  transfer.volume = copy ? kHome : written.volume;
  transfer.segment = copy ? copy_of_first_block() : &segment_of(written);
  transfer.place = copy ? 0 : written.place;
  transfer.bytes = address_of(resident);
  transfer.ready = live_.ticket(resident.pool_block);
  transfer.identity = anchors_.identity_of(block);
  transfer.checksum = written.checksum;
  transfer.encoded = written.encoded;
  resident.exact = written.encoded.exact;
  notes_of(resident).start(transport_of(resident), transfer);
  resident.turn = ++begun_;
  resident.state = State::kReading;
}

void DiskTier::read_ahead_by(std::int64_t stride) {
  stride_ = stride;
  read_ahead_of_ = kNone;
  at_home_ = {};
  work_on(current_);
}

// True: it is in memory, on its way, or cannot be had. False: there is no memory for it now.
bool DiskTier::read_ahead_to(std::int64_t block, BlockKeeper::Window stays) {
  if (is_resident(block) || !is_on_disk(block)) return true;
  const std::int64_t memory = blocks_.take_idle(stays);
  if (memory < 0) return false;  // asked again soon
  start_read(block, memory);
  return true;
}

void DiskTier::prefetch_after(std::int64_t current) {
  if (current == read_ahead_of_ || !overlaps() || first_block_stays()) return;
  reads_ahead_ = true;
  work_on(current_);
  const std::int64_t end = ceil_divide(anchors_.restorable(), layout_.states());
  const bool up = stride_ > 0;
  // What was there, or comes last, is below.
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const std::int64_t beyond = next_at_home(current + prefetch_depth_ * stride_);
  bool changed = change_ahead(current);
  for (std::int64_t i = 1; i <= prefetch_depth_ && stride_ != 0; ++i) {
    const std::int64_t block = current + i * stride_;
    if (up ? block >= end : block < 0) break;
    const BlockKeeper::Window stays = {up ? current : block, up ? block : kAny, current, beyond};
    if (!read_ahead_to(block, stays)) return;
    changed = change_ahead(block) && changed;
  }
  if (beyond >= 0 && !read_ahead_to(beyond, {up ? current : beyond, up ? beyond : kAny})) return;
  if (changed) read_ahead_of_ = current;
}

Failure DiskTier::load(std::int64_t number) {
  const std::int64_t block = layout_.block_of(number);
  // Memory for it, for x_0, and for all slots of the schedule is there where one is for reading
  // ahead.
  if (block > 0 && prefetch_depth_ == 0 && first_block_stays()) return why_no_memory();
  work_on(block);
  if (is_resident(block)) {
    const State state = residents().at(block).state;
    if (state != State::kReading && state != State::kChanging) return {};
    finish(block);
    if (residents().count(block) > 0) return {};  // it was read
  }
  // Where transfers are collective every rank takes part, whatever it knows already; but what has
  // no place has none on any rank.
  const bool has_place = block < home().places.capacity();
  if ((overlaps() || !has_place) && !is_on_disk(block)) {
    return block < anchors_.noted() ? anchors_.why_not_on_disk(block) : why_no_memory();
  }
  return read_and_wait(block);
}

// One failure may have been an accident on the way.
Failure DiskTier::read_and_wait(std::int64_t block) {
  const int attempts = overlaps() ? 2 : 1;
  Failure failure;
  for (int i = 0; i < attempts; ++i) {
    const std::int64_t memory = blocks_.take_to_read();
    if (memory < 0) return why_no_memory();
    start_read(block, memory);
    const auto resident = residents().find(block);
    const Transfer& transfer = resident->second.transfer;
    notes_of(resident->second)
        .waited(transfer, overlaps() ? wait_for(resident->second) : transfer.seconds);
    failure = transfer.failure;
    settle(resident);
    if (!failure) break;
  }
  if (!failure && !is_on_disk(block)) {
    failure = anchors_.why_not_on_disk(block);
    forget(block);
  }
  return failure;
}

bool DiskTier::lose(std::int64_t number) {
  const std::int64_t block = layout_.block_of(number);
  const bool another = block == 0 && !tried_copy_ && copy_of_first_block() != nullptr;
  tried_copy_ = tried_copy_ || another;
  // Each rank takes what it can read, or all the same file where transfers are collective.
  const bool keeps = another && overlaps() && residents().count(block) > 0;
  if (keeps) return true;
  if (another) anchors_.turn_to_copy();
  forget(block);
  return another;
}

bool DiskTier::is_exact(std::int64_t number) const {
  const std::int64_t block = layout_.block_of(number);
  return block < anchors_.noted() && anchors_[block].encoded.exact;
}

// By the I/O thread, whose codec it is.
void DiskTier::start_change(Resident& resident, std::int64_t block, double times) {
  Transfer& transfer = resident.transfer;
  transfer.write = false;
  transfer.change = times;
  transfer.urgent = true;  // it is needed before all that is read ahead
  transfer.bytes = address_of(resident);
  transfer.ready = live_.ticket(resident.pool_block);
  const bool newest = block == anchors_.newest_block(), noted = block < anchors_.noted();
  transfer.identity.states = newest  ? anchors_.newest_states().count
                             : noted ? anchors_[block].states.count
                                     : 1;
  transfer.encoded = noted ? anchors_[block].encoded : EncodedBlock{};  // by which codec
  transport_of(resident).start(transfer);
  resident.turn = ++begun_;
  resident.state = State::kChanging;  // last: only a transfer that began is waited for
}

void DiskTier::change(std::int64_t block, double times) {
  if (residents().at(block).moving()) finish(block);
  start_change(residents().at(block), block, times);
  finish(block);
  if (residents().count(block) > 0) return;
  throw Error(ANADROME_ERR_MEMORY, "out of memory for what a codec makes of a state");
}

// What is in memory is changed while the states above it are reversed. False: not yet, since it is
// still being written.
bool DiskTier::change_ahead(std::int64_t block) {
  if (!home().transport.is_lossy() || block == 0) return true;
  const auto found = residents().find(block);
  if (found == residents().end() || !found->second.exact || found->second.dropped) return true;
  Resident& resident = found->second;
  if (resident.state == State::kWriting && transport_of(resident).done(resident.transfer))
    settle(found);  // and it stays, since it was not dropped
  const bool shared = blocks_.pool().holders(resident.pool_block) > 1;
  if (resident.state == State::kClean && !shared) start_change(resident, block, 1);
  return resident.state != State::kWriting;
}

void DiskTier::restore(const KeptState& anchor) {
  const std::int64_t block = layout_.block_of(anchor.number);
  if (home().transport.is_lossy() && block > 0) {
    const auto changing = residents().find(block);
    if (changing != residents().end() && changing->second.state == State::kChanging) finish(block);
    if (residents().count(block) == 0) {  // there was no memory to change it
      const Failure lost = load(anchor.number);
      if (lost) throw Error(lost.status, lost.message);
    }
    Resident& resident = residents().at(block);
    if (resident.exact) change(block, 1);
    const bool comes_back = is_on_disk(block);  // once it is forgotten
    if (block == trial_.block && !resident.on_trial && comes_back) {
      resident.on_trial = true;
      change(block, trial_.times);
    }
  }
  restore_exactly(anchor);
}

void DiskTier::end_trial() {
  const auto resident = residents().find(std::exchange(trial_, {}).block);
  if (resident == residents().end() || !resident->second.on_trial) return;
  forget(resident->first);
  read_ahead_of_ = kNone;
}

void DiskTier::restore_exactly(const KeptState& anchor) {
  const Resident& resident = residents().at(layout_.block_of(anchor.number));
  live_.restore(resident.pool_block, layout_.index_in_block(anchor.number));
}

}  // namespace anadrome::store
