// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/disk_tier.h"

#include <algorithm>
#include <string>

namespace anadrome::store {

DiskTier::DiskTier(const Parts& parts, const BlockIdentity& identity, TierObserver& observer)
    : layout_(parts.layout),
      blocks_(parts.blocks),
      live_(parts.live),
      anchors_(parts.layout, identity),
      filled_(parts.layout) {
  for (const Volume& volume : parts.volumes) {
    lanes_.push_back({volume, TransferNotes(parts.layout, volume.times, observer)});
  }
  in_turn_ = lanes_.size() > 1;
  blocks_.back_with(*this);
  work_on(0);
}

// The transport may still use transfers of residents.
DiskTier::~DiskTier() {
  for (auto& [block, resident] : residents()) {
    if (resident.moving()) wait_for(resident);
  }
  blocks_.no_backing();
}

void DiskTier::set_prefetch_depth(std::int64_t depth) {
  prefetch_depth_ = depth;
  work_on(current_);
}

void DiskTier::work_on(std::int64_t block) {
  current_ = block;
  blocks_.work_on(window(block));
}

const Segment& DiskTier::segment_of(const AnchorBlocks::Block& block) const {
  const BlockPlaces& places = lane(block.volume).volume.places;
  if (block.place >= places.capacity()) throw Error(ANADROME_ERR_INTERNAL, "a block has no place");
  return places.segment_of(block.place);
}

// ---- keeping ----

void DiskTier::keep(const KeptState& anchor) {
  const std::int64_t block = layout_.block_of(anchor.number);
  const std::int64_t index = layout_.index_in_block(anchor.number);
  if (index == 0) {
    std::int64_t memory = live_.share_block();
    if (memory < 0) memory = blocks_.take_to_fill();
    work_on(block);
    if (memory >= 0) blocks_.add(block, memory);
  }
  anchors_.keep(anchor);
  filled_.expect(block);  // now, since a collective write would wait for a rank without memory
  const auto resident = residents().find(block);
  if (resident != residents().end()) {
    live_.keep(resident->second.pool_block, index);
  } else {
    note(block, anchors_.newest_states()).failure = why_no_memory();  // the memory is x_0's
  }
}

// A dropped block may still be on its way to disk, where another one is to take its place.
void DiskTier::forget(std::int64_t block) {
  const auto resident = residents().find(block);
  if (resident == residents().end()) return;
  if (!resident->second.moving()) {
    blocks_.release(resident);
    return;
  }
  resident->second.dropped = true;
  finish(block);
}

AnchorBlocks::Block& DiskTier::note(std::int64_t block, const AnchorBlocks::States& states,
                                    int volume) {
  read_ahead_of_ = kNone;
  at_home_ = {};
  AnchorBlocks::Block& noted = anchors_.note(block, states);
  noted.volume = volume;
  noted.place = in_turn_ ? lane(volume).next_place : block;
  return noted;
}

void DiskTier::take_over(std::int64_t anchors,
                         const std::function<std::int64_t(std::int64_t)>& step_of,
                         const std::map<std::int64_t, JournalBlock>& blocks) {
  anchors_.take_over(anchors, step_of, blocks);
  for (std::int64_t block = 0; block < anchors_.noted(); ++block) {
    AnchorBlocks::Block& noted = anchors_[block];
    in_turn_ = in_turn_ || noted.volume != kHome || noted.place != block;
    const bool has_place =
        noted.volume < volumes() && noted.place < lane(noted.volume).volume.places.capacity();
    if (!noted.failure && !has_place) {
      noted.failure = {ANADROME_ERR_IO, "the state of step " +
                                            std::to_string(noted.states.first_step) +
                                            " was in a directory that is gone"};
    }
    filled_.expect(block);
    filled_.note(block, noted.failure ? nullptr : &noted.encoded);
  }
  note_places();
}

void DiskTier::truncate(std::int64_t anchors) {
  anchors_.truncate(anchors);
  at_home_ = {};
  note_places();
}

// What comes next goes behind what is there.
void DiskTier::note_places() {
  for (Lane& lane : lanes_) lane.next_place = 0;
  for (std::int64_t block = 0; block < anchors_.noted(); ++block) {
    const AnchorBlocks::Block& noted = anchors_[block];
    if (noted.failure || noted.volume >= volumes()) continue;
    std::int64_t& next = lane(noted.volume).next_place;
    next = std::max(next, noted.place + 1);
  }
}

// ---- writing ----

bool DiskTier::has_place(std::int64_t number, int volume) const {
  const Lane& there = lane(volume);
  const std::int64_t place = in_turn_ ? there.next_place : layout_.block_of(number);
  return place < there.volume.places.capacity();
}

void DiskTier::write_newest_block(const Failure& refused, bool exact, int volume) {
  put(anchors_.newest_block(), anchors_.newest_states(), refused, exact, volume);
  if (!refused) anchors_.all_are_written();  // last: what could not be begun is not in a table
}

void DiskTier::put(std::int64_t block, const AnchorBlocks::States& states, const Failure& refused,
                   bool exact, int volume) {
  const auto resident = residents().find(block);
  const bool in_memory = resident != residents().end();
  if (!in_memory && !refused) {  // there was no memory for it; other ranks may write it
    ++lane(volume).next_place;
    return;
  }
  AnchorBlocks::Block& noted = note(block, states, volume);
  if (!refused || block == 0) lane(volume).next_place = noted.place + 1;
  if (!refused) return start_write(block, exact);
  noted.failure = refused;
  if (in_memory) resident->second.state = State::kClean;
}

// x_0 is what the caller gave, and goes as it is.
void DiskTier::start_write(std::int64_t block, bool exact) {
  Resident& resident = residents().at(block);
  Transfer& transfer = resident.transfer;
  transfer.write = true;
  transfer.is_copy = false;
  transfer.exact = exact || block == 0 || !resident.exact;  // it was changed already
  // A commit waits for no more than one block that is under way: home is slow then.
  transfer.urgent = exact && lanes_.size() > 1;
  const AnchorBlocks::Block& noted = anchors_[block];
  transfer.volume = noted.volume;
  transfer.segment = &segment_of(noted);
  transfer.place = noted.place;
  transfer.bytes = address_of(resident);
  transfer.ready = live_.ticket(resident.pool_block);
  transfer.identity = anchors_.identity_of(block);
  notes_of(resident).start(transport_of(resident), transfer);
  resident.turn = ++begun_;
  resident.state = State::kWriting;  // last: only a transfer that began is waited for
  while (!overlaps() && resident.moving()) {
    notes_of(resident).waited(transfer, transfer.seconds);
    settle(residents().find(block));
  }
}

// Only this rank may be in need, so no other place is taken than those that it has on all.
bool DiskTier::write_first_block_again() {
  Resident& first = residents().begin()->second;
  if (first.state != State::kClean) return false;
  const AnchorBlocks::Block& noted = anchors_[0];
  // One that has no place yet is tried where the next one is.
  if (!notes(noted.volume).disk_refuses() && has_places(noted.volume)) {
    start_write(0, true);
    return true;
  }
  if (noted.volume == kHome || copy_of_first_block() == nullptr || notes(kHome).disk_refuses())
    return false;
  first.transfer.write = first.transfer.exact = true;
  first.transfer.bytes = address_of(first);
  first.transfer.ready = live_.ticket(first.pool_block);
  first.transfer.identity = anchors_.identity_of(0);
  start_copy(first);
  return true;
}

void DiskTier::start_copy(Resident& first) {
  Transfer& transfer = first.transfer;
  transfer.segment = copy_of_first_block();
  transfer.place = 0;
  transfer.is_copy = true;
  transfer.volume = kHome;
  transfer.urgent = lanes_.size() > 1;
  transport_of(first).start(transfer);
  first.turn = ++begun_;
  first.state = State::kCopying;  // last: only a transfer that began is waited for
}

// A transfer is done: note its result. Returns the next resident. A block that was written is in
// memory and on disk; what could not be read, or changed, is of no use.
Residents::iterator DiskTier::settle(Residents::iterator resident) {
  auto& [block, entry] = *resident;
  const bool changed = entry.state == State::kChanging;
  if (changed) {
    entry.transfer.change = 0;
    entry.exact = false;
  } else {
    const AnchorBlocks::States& states = anchors_[block].states;
    notes_of(entry).finished(entry.transfer, states.first_step, states.last_step);
  }
  if (entry.transfer.write) {
    if (!entry.transfer.is_copy)
      filled_.note(block, entry.transfer.failure ? nullptr : &entry.transfer.encoded);
    anchors_.note_written(entry.transfer);
    if (!entry.exact) anchors_[block].encoded.exact = false;
  }
  const bool unread = !entry.transfer.write && entry.transfer.failure;
  if (block == 0 && entry.state == State::kWriting && !entry.dropped &&
      copy_of_first_block() != nullptr) {
    start_copy(entry);
    return std::next(resident);
  }
  const bool is_noted = block < anchors_.noted();
  entry.state = changed && !is_noted ? State::kFilling : State::kClean;
  if (!entry.dropped && !unread) return std::next(resident);
  return blocks_.release(resident);
}

std::int64_t DiskTier::writes_under_way(int volume) const {
  return std::count_if(residents().begin(), residents().end(), [&](const auto& entry) {
    const State state = entry.second.state;
    return entry.second.transfer.volume == volume &&
           (state == State::kWriting || state == State::kCopying);
  });
}

double DiskTier::wait_for(const Resident& resident) const {
  return transport_of(resident).wait(resident.transfer);
}

void DiskTier::settle_finished() {
  for (auto resident = residents().begin(); resident != residents().end();) {
    const Resident& entry = resident->second;
    const bool settles = entry.moving() && entry.state != State::kReading;
    const bool finished = settles && transport_of(entry).done(entry.transfer);
    resident = finished ? settle(resident) : std::next(resident);
  }
}

void DiskTier::finish(std::int64_t block) {
  const auto resident = residents().find(block);
  notes_of(resident->second).waited(resident->second.transfer, wait_for(resident->second));
  settle(resident);
}

void DiskTier::count_below(std::int64_t block) {
  for (auto resident = residents().begin(); resident != residents().end();) {
    const auto& [number, entry] = *resident;
    if (number >= block) break;
    if (entry.state == State::kWriting) notes_of(entry).waited(entry.transfer, wait_for(entry));
    resident = entry.state == State::kWriting ? settle(resident) : std::next(resident);
  }
  filled_.count_below(block);
}

void DiskTier::flush() {
  for (;;) {
    const auto moving = std::find_if(residents().begin(), residents().end(),
                                     [](const auto& entry) { return entry.second.moving(); });
    if (moving == residents().end()) return;
    wait_for(moving->second);
    settle(moving);
  }
}

// The copy is begun when the first write is done.
void DiskTier::queue_first_block_at_home() {
  const auto first = residents().find(0);
  const bool writes = first != residents().end() && first->second.state == State::kWriting;
  if (writes && anchors_[0].volume != kHome) finish(0);
}

// ---- what is where ----

// Without x_0 nothing can be computed again. As long as it is not on disk it stays in memory,
// whatever else there is no memory for. Collective transfers need all ranks to have all blocks.
bool DiskTier::first_block_stays() const {
  return overlaps() && anchors_.first_is_nowhere() && residents().count(0) > 0;
}

// Why a block has no memory: x_0 could not be written, or there is none left on this machine.
Failure DiskTier::why_no_memory() const {
  if (first_block_stays()) return anchors_[0].failure;
  return {ANADROME_ERR_MEMORY, "out of memory"};
}

// A block that was dropped while it was being written is wanted again after a rewind.
std::int64_t DiskTier::block_in_memory(std::int64_t number) const {
  const auto resident = residents().find(layout_.block_of(number));
  const bool there = resident != residents().end() && !resident->second.dropped &&
                     resident->second.state != State::kReading &&
                     resident->second.state != State::kChanging;
  return there ? resident->second.pool_block : -1;
}

std::int64_t DiskTier::good_places() const {
  std::int64_t most = anchors_.noted();
  if (!in_turn_) most = std::min(most, home().places.capacity());
  std::int64_t block = 0;
  while (block < most && is_on_disk(block)) ++block;
  return block * layout_.states();
}

bool DiskTier::is_resident(std::int64_t block) {
  const auto resident = residents().find(block);
  if (resident == residents().end()) return false;
  resident->second.dropped = false;
  return true;
}

// ---- the ends ----

void DiskTier::drop(std::int64_t number) {
  if (layout_.index_in_block(number) != 0) return;  // lower anchors of the block are still to come
  const auto resident = residents().find(layout_.block_of(number));
  if (resident == residents().end()) return;
  const State state = resident->second.state;
  if (state == State::kWriting && may_cancel_ &&
      transport_of(resident->second).cancel(resident->second.transfer)) {
    // Writes go in order, so whatever is above it was taken back before it.
    anchors_.take_back(number);
  } else if (resident->second.moving()) {
    resident->second.dropped = true;
    return;
  }
  blocks_.release(resident);
}

}  // namespace anadrome::store
