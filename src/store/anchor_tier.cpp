#include "store/anchor_tier.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/clock.h"

namespace anadrome::store {

AnchorTier::AnchorTier(const BlockLayout& layout, Pool& pool, BlockPlaces& disk,
                       Transport& transport, BlockIdentity identity, TransferTimes& times,
                       TierObserver& observer)
    : layout_(layout),
      pool_(pool),
      disk_(disk),
      transport_(transport),
      identity_(identity),
      times_(times),
      observer_(observer) {}

// The transport may still use transfers of residents_.
AnchorTier::~AnchorTier() {
  for (auto& [block, resident] : residents_) {
    if (is_moving(resident)) transport_.wait(resident.transfer);
  }
}

bool AnchorTier::is_moving(const Resident& resident) {
  return resident.state == State::kWriting || resident.state == State::kCopying ||
         resident.state == State::kReading;
}

void AnchorTier::take_over(std::int64_t anchors,
                           const std::function<std::int64_t(std::int64_t)>& step_of,
                           const std::map<std::int64_t, JournalBlock>& blocks) {
  for (std::int64_t first = 0; first < anchors; first += layout_.states()) {
    const std::int64_t block = block_of(first);
    const std::int64_t last = std::min(first + layout_.states(), anchors) - 1;
    Written written;
    written.first_step = step_of(first);
    written.last_step = step_of(last);
    written.states = last - first + 1;
    written.copied = block == 0;  // as its checksum will tell
    const auto found = blocks.find(block);
    const bool known = found != blocks.end() && found->second.states >= written.states &&
                       found->second.first_step == written.first_step;
    if (known) {
      written.states = found->second.states;
      written.checksum = found->second.sum;
    } else {
      written.failure = {ANADROME_ERR_CORRUPT, "the state of step " +
                                                   std::to_string(written.first_step) +
                                                   " was not on disk when the run ended"};
    }
    written_.push_back(std::move(written));
  }
  anchors_kept_ = anchors_written_ = anchors;
}

void AnchorTier::truncate(std::int64_t anchors) {
  anchors_kept_ = anchors_written_ = anchors;
  written_.resize(static_cast<std::size_t>(ceil_divide(anchors, layout_.states())));
}

void AnchorTier::keep(LiveState& live, std::int64_t number, std::int64_t step) {
  const std::int64_t block = block_of(number), index = number % layout_.states();
  if (index == 0) {
    if (replaces_) forget(block);
    Resident fresh;
    fresh.pool_block = live.block_to_keep_in([this] { return find_block({0, -1}); });
    current_ = block;
    if (fresh.pool_block >= 0) residents_.emplace(block, std::move(fresh));
    first_step_ = step;
  }
  anchors_kept_ = number + 1;
  last_step_ = step;
  const auto resident = residents_.find(block);
  if (resident != residents_.end()) return live.keep(resident->second.pool_block, index);
  note_newest_block().failure = first_failure();  // the memory is x_0's
}

// Without x_0 nothing can be computed again. As long as it is not on disk it stays in memory,
// whatever else there is no memory for. Collective transfers need all ranks to have all blocks.
bool AnchorTier::first_block_stays() const {
  if (written_.empty() || planned_ || !transport_.overlaps()) return false;
  return written_.front().failure && !written_.front().copied && residents_.count(0) > 0;
}

// Why a block has no memory: x_0 could not be written, or there is none left on this machine.
Failure AnchorTier::first_failure() const {
  if (first_block_stays()) return written_.front().failure;
  return {ANADROME_ERR_MEMORY, "out of memory"};
}

// What failed may have been an accident.
bool AnchorTier::write_first_block_again(const Window& stays) {
  if (!first_block_stays() || disk_refuses() || stays.has(0)) return false;
  const Resident& first = residents_.begin()->second;
  // One that has no place yet is tried where the next one is.
  if (first.state != State::kClean || disk_.capacity() == 0) return false;
  start_write(0, written_.front());
  return true;
}

// A dropped block may still be on its way to disk, where another one is to take its place.
void AnchorTier::forget(std::int64_t block) {
  const auto resident = residents_.find(block);
  if (resident == residents_.end()) return;
  if (is_moving(resident->second)) {
    note_wait(resident->second.transfer, transport_.wait(resident->second.transfer));
    resident->second.dropped = true;
    settle(resident);
    return;
  }
  give_back(resident->second);
  residents_.erase(resident);
}

AnchorTier::Written& AnchorTier::note_newest_block() {
  const std::int64_t block = block_of(anchors_kept_ - 1);
  return note_block(block, first_step_, last_step_, anchors_kept_ - block * layout_.states());
}

AnchorTier::Written& AnchorTier::note_block(std::int64_t block, std::int64_t first_step,
                                            std::int64_t last_step, std::int64_t states) {
  const auto index = static_cast<std::size_t>(block);
  if (index >= written_.size()) written_.resize(index + 1);
  Written& written = written_[index];
  written = {};
  written.first_step = first_step;
  written.last_step = last_step;
  written.states = states;
  read_ahead_of_ = -1;
  return written;
}

void AnchorTier::write_newest_block() {
  const std::int64_t block = block_of(anchors_kept_ - 1);
  // Otherwise there was no memory for it.
  if (residents_.count(block) > 0) start_write(block, note_newest_block());
  anchors_written_ = anchors_kept_;  // last: what could not be begun is not in a table
}

void AnchorTier::start_write(std::int64_t block, const Written& written) {
  Resident& resident = residents_.at(block);
  Transfer& transfer = resident.transfer;
  transfer.write = true;
  transfer.is_copy = false;
  transfer.segment = &disk_.segment_of(block);
  transfer.bytes = address_of(resident);
  transfer.identity = identity_;
  transfer.identity.block = block;
  transfer.identity.first_step = written.first_step;
  transfer.identity.states = written.states;
  if (writes_begun_ == 0) first_write_began_ = now_seconds();
  start(transfer);
  resident.turn = ++writes_begun_;
  resident.state = State::kWriting;  // last: only a transfer that began is waited for
  while (!transport_.overlaps() && is_moving(resident)) {
    note_wait(transfer, transfer.seconds);
    settle(residents_.find(block));
  }
}

void AnchorTier::give_up_newest_block(const Failure& why) {
  note_newest_block().failure = why;
  const auto resident = residents_.find(block_of(anchors_kept_ - 1));
  if (resident != residents_.end()) resident->second.state = State::kClean;
}

void AnchorTier::note_result(const Resident& resident, std::int64_t block) {
  const Transfer& transfer = resident.transfer;
  Written& written = written_[static_cast<std::size_t>(block)];
  note_time(transfer);
  observer_.moved(transfer, written.first_step, written.last_step);
  if (!transfer.write) return;
  written.copied = resident.state == State::kCopying && !transfer.failure;
  if (!transfer.failure) {
    written.checksum = transfer.checksum;
    if (resident.state == State::kWriting) written.failure = {};
    failed_in_series_ = 0;
    return;
  }
  if (resident.state == State::kWriting) written.failure = transfer.failure;
  if (!failed_write_) failed_write_ = transfer.failure;
  ++writes_failed_;
  ++failed_in_series_;
  full_ = full_ || transfer.failure.status == ANADROME_ERR_NO_SPACE;
}

// A transfer is done: note its result. Returns the next resident. A block that was written is in
// memory and on disk; what could not be read is of no use.
AnchorTier::Residents::iterator AnchorTier::settle(Residents::iterator resident) {
  auto& [block, entry] = *resident;
  note_result(entry, block);
  const bool unread = !entry.transfer.write && entry.transfer.failure;
  if (block == 0 && entry.state == State::kWriting && !entry.dropped &&
      disk_.copy_of_first_block() != nullptr) {
    entry.transfer.segment = disk_.copy_of_first_block();
    entry.transfer.is_copy = true;
    transport_.start(entry.transfer);
    entry.state = State::kCopying;
    return std::next(resident);
  }
  entry.state = State::kClean;
  if (!entry.dropped && !unread) return std::next(resident);
  give_back(entry);
  return residents_.erase(resident);
}

bool AnchorTier::is_writing() const {
  return std::any_of(residents_.begin(), residents_.end(),
                     [](const auto& entry) { return entry.second.state == State::kWriting; });
}

void AnchorTier::settle_finished() {
  for (auto resident = residents_.begin(); resident != residents_.end();) {
    const Resident& entry = resident->second;
    const bool writes = entry.state == State::kWriting || entry.state == State::kCopying;
    const bool finished = writes && transport_.done(entry.transfer);
    resident = finished ? settle(resident) : std::next(resident);
  }
}

// The lowest block is needed last.
bool AnchorTier::free_one_clean_block(const Window& stays) {
  return free_first(residents_.begin(), residents_.end(), stays, true);
}

// For want of other memory: one that could not be written, the highest first.
bool AnchorTier::lose_one_clean_block(const Window& stays) {
  return free_first(residents_.rbegin(), residents_.rend(), stays, false);
}

template <class Iterator>
bool AnchorTier::free_first(Iterator from, Iterator end, const Window& stays, bool on_disk) {
  const auto found = std::find_if(from, end, [&](const auto& entry) {
    const auto& [block, resident] = entry;
    // One that is the live state, too, would free nothing.
    return resident.state == State::kClean && !stays.has(block) && is_on_disk(block) == on_disk &&
           pool_.holders(resident.pool_block) == 1 && (block > 0 || !first_block_stays());
  });
  if (found == end) return false;
  pool_.give_back(found->second.pool_block);
  residents_.erase(found->first);
  return true;
}

std::int64_t AnchorTier::take_block() {
  const std::int64_t block = find_block(worked_on());
  if (block >= 0) return block;
  const Failure failure = first_failure();
  throw Error(failure.status, failure.message + "; and there is no memory beside that of step 0");
}

// -1: there is none beside x_0's.
std::int64_t AnchorTier::find_block(Window stays) {
  for (;;) {
    const std::int64_t block = pool_.take();
    if (block >= 0) return block;
    settle_finished();
    if (pool_.free_blocks() > 0 || (!planned_ && free_one_clean_block(stays))) continue;
    const auto busy = first_to_wait_for(stays);
    if (busy == residents_.end() && write_first_block_again(stays)) continue;
    if (busy == residents_.end() && !planned_ && lose_one_clean_block(stays)) continue;
    const bool more_may_go = (replaces_ && !planned_) || first_block_stays();
    if (busy == residents_.end() && more_may_go && stays.last >= stays.first) {
      stays = {0, -1};
      continue;
    }
    if (busy == residents_.end() && first_block_stays()) return -1;
    if (busy == residents_.end()) {
      throw Error(ANADROME_ERR_INTERNAL, "the schedule uses more memory than the pool has");
    }
    note_wait(busy->second.transfer, transport_.wait(busy->second.transfer));
    settle(busy);
  }
}

// One that nobody needs any more, or the oldest. By plan: what was dropped first to be written.
AnchorTier::Residents::iterator AnchorTier::first_to_wait_for(const Window& stays) {
  auto first = residents_.end();
  for (auto it = residents_.begin(); it != residents_.end(); ++it) {
    const auto& [block, resident] = *it;
    if (!is_moving(resident)) continue;
    if (planned_) {
      const bool sooner = first == residents_.end() || resident.turn < first->second.turn;
      if (resident.dropped && sooner) first = it;
      continue;
    }
    if (resident.dropped) return it;
    if (first == residents_.end() && !stays.has(block)) first = it;
  }
  return first;
}

void AnchorTier::start_read(std::int64_t block, std::int64_t pool_block) {
  Resident& resident = residents_[block];
  resident.pool_block = pool_block;
  const Written& written = written_[static_cast<std::size_t>(block)];
  resident.region = written.region;
  Transfer& transfer = resident.transfer;
  transfer.extents = written.extents;
  transfer.write = false;
  const bool copy = block == 0 && from_copy_;
  transfer.segment = copy ? disk_.copy_of_first_block() : &disk_.segment_of(block);
  transfer.bytes = address_of(resident);
  transfer.identity = identity_;
  transfer.identity.block = block;
  transfer.identity.first_step = written.first_step;
  transfer.identity.states = written.states;
  transfer.checksum = written.checksum;
  start(transfer);
  resident.state = State::kReading;
}

// A block that was dropped while it was being written is wanted again after a rewind.
bool AnchorTier::is_resident(std::int64_t block) {
  const auto resident = residents_.find(block);
  if (resident == residents_.end()) return false;
  resident->second.dropped = false;
  return true;
}

void AnchorTier::prefetch_below(std::int64_t number) {
  if (!transport_.overlaps() || first_block_stays()) return;
  const std::int64_t current = block_of(number);
  if (current == read_ahead_of_) return;
  reversing_ = true;
  for (std::int64_t block = current - 1;
       block >= std::max<std::int64_t>(current - prefetch_depth_, 0); --block) {
    if (is_resident(block) || !is_on_disk(block)) continue;
    std::int64_t memory = pool_.take();
    if (memory < 0) {
      settle_finished();
      constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
      if (pool_.free_blocks() > 0 || free_one_clean_block({block, kAny})) memory = pool_.take();
    }
    if (memory < 0) return;  // asked again soon
    start_read(block, memory);
  }
  read_ahead_of_ = current;
}

bool AnchorTier::is_on_disk(std::int64_t block) const {
  const Written& written = written_[static_cast<std::size_t>(block)];
  return block == 0 && from_copy_ ? written.copied : !written.failure;
}

Failure AnchorTier::load(std::int64_t number) {
  const std::int64_t block = block_of(number);
  // Memory for it, for x_0, and for all slots of the schedule is there where one is for reading
  // ahead.
  if (block > 0 && prefetch_depth_ == 0 && first_block_stays()) return first_failure();
  current_ = block;
  if (is_resident(block)) {
    const auto resident = residents_.find(block);
    if (resident->second.state != State::kReading) return {};
    const Transfer& transfer = resident->second.transfer;
    note_wait(transfer, transport_.wait(transfer));
    const bool read = !transfer.failure;
    settle(resident);
    if (read) return {};
  }
  // Where transfers are collective every rank takes part, whatever it knows already; but what has
  // no place has none on any rank.
  const bool has_place = block < disk_.capacity();
  if ((transport_.overlaps() || !has_place) && !is_on_disk(block)) {
    const Failure& unwritten = written_[static_cast<std::size_t>(block)].failure;
    if (unwritten) return unwritten;
    return {ANADROME_ERR_IO,
            "the state of step 0 could not be read, and its second copy was not written"};
  }
  return read_and_wait(block);
}

// What failed once may have been an accident on the way.
Failure AnchorTier::read_and_wait(std::int64_t block) {
  const int attempts = transport_.overlaps() ? 2 : 1;
  Failure failure;
  for (int i = 0; i < attempts; ++i) {
    std::int64_t memory = -1;
    if (stack_ != nullptr) {
      clear(written_[static_cast<std::size_t>(block)].region);
    } else {
      memory = find_block(worked_on());
      if (memory < 0) return first_failure();
    }
    start_read(block, memory);
    const auto resident = residents_.find(block);
    const Transfer& transfer = resident->second.transfer;
    note_wait(transfer, transport_.overlaps() ? transport_.wait(transfer) : transfer.seconds);
    failure = transfer.failure;
    settle(resident);
    if (!failure) break;
  }
  if (!failure && !is_on_disk(block)) {
    failure = written_[static_cast<std::size_t>(block)].failure;
    forget(block);
  }
  return failure;
}

bool AnchorTier::lose(std::int64_t number) {
  const std::int64_t block = block_of(number);
  const bool another = block == 0 && !tried_copy_ && disk_.copy_of_first_block() != nullptr;
  tried_copy_ = tried_copy_ || another;
  // Each rank takes what it can read, or all the same file where transfers are collective.
  const bool keeps = another && transport_.overlaps() && residents_.count(block) > 0;
  if (keeps) return true;
  from_copy_ = from_copy_ || another;
  forget(block);
  return another;
}

void AnchorTier::restore(LiveState& live, std::int64_t number) {
  if (stack_ != nullptr) {
    const Resident& resident = residents_.at(number);
    return stack_->restore_pages(resident.region.place, resident.transfer.extents);
  }
  live.restore(residents_.at(block_of(number)).pool_block, number % layout_.states());
}

void AnchorTier::drop(std::int64_t number) {
  if (number % layout_.states() != 0) return;  // lower anchors of the block are still to come
  const auto resident = residents_.find(block_of(number));
  if (resident == residents_.end()) return;
  const State state = resident->second.state;
  if (state == State::kWriting && may_cancel_ && transport_.cancel(resident->second.transfer)) {
    // Writes go in order, so whatever is above it was taken back before it.
    anchors_written_ = std::min(anchors_written_, number);
  } else if (is_moving(resident->second)) {
    resident->second.dropped = true;
    return;
  }
  give_back(resident->second);
  residents_.erase(resident);
}

void AnchorTier::flush() {
  for (;;) {
    const auto moving = std::find_if(residents_.begin(), residents_.end(),
                                     [](const auto& entry) { return is_moving(entry.second); });
    if (moving == residents_.end()) return;
    transport_.wait(moving->second.transfer);
    settle(moving);
  }
}

std::int64_t AnchorTier::anchors_restorable() const {
  if (anchors_written_ > 0) return anchors_written_;
  return std::min(anchors_kept_, layout_.states());
}

std::vector<std::uint64_t> AnchorTier::checksums() const {
  std::vector<std::uint64_t> words;
  for (const Written& block : written_) {
    words.push_back(block.checksum.low);
    words.push_back(block.checksum.high);
  }
  return words;
}

}  // namespace anadrome::store
