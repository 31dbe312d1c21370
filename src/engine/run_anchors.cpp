// Run, the part that keeps anchors and gets them back, or does without.
//
// What a rank could not write or read is no failure of the sweep: at the next agreement all ranks
// lose the same anchor, and start from the one before it.
#include <cstdio>

#include "base/clock.h"
#include "engine/run.h"

namespace anadrome::engine {

void Run::keep_anchor(const schedule::Action& action) {
  if (!uses_disk()) {
    copy(kept_, [&] { slots_->keep(0); });
    return;
  }
  if (stack_ != nullptr) {
    keep_in_stack(action);
  } else {
    copy(kept_, [&] { tier_->keep(*live_, action.slot, action.first); });
  }
  if (script_->sequence() != nullptr) attempt([&] { sequence().make_room_for_anchors(); });
  newest_anchor_ = action.slot;
  ++anchors_put_;
  write_due_ = tier_->fills_block(action.slot) && script_->overlapped() == nullptr;
}

// The newest block is written once it is clear that more anchors follow. If none does, TURN is near
// and it is restored from memory.
void Run::write_due_block() {
  write_due_ = false;
  if (no_more_anchors_ && script_->sequence() != nullptr) return;
  if (script_->sequence() != nullptr && sequence().ends_in_ram() && !writes_all_anchors()) return;
  const Failure refused = tier_->disk_refuses() ? tier_->failed_write() : Failure{};
  const Agreement::Output agreed = agree(Call::kAnchor, 0, "", refused);
  if (agreed.lost) stop_anchoring(agreed.lost);
  if (no_more_anchors_ && script_->sequence() != nullptr) {
    attempt([&] { tier_->give_up_newest_block(disk_refused_); });
  } else {
    write_newest_block(Call::kAnchor);
  }
  if (!no_more_anchors_) commit_if_due(Call::kAnchor, agreed);
}

void Run::write_newest_block(Call call) {
  const bool room = tier_->block_of(newest_anchor_) < disk_->capacity() ||
                    grow_disk(call, segment_blocks(script_->steps()));
  attempt([&] {
    if (room) {
      tier_->write_newest_block();
    } else {
      tier_->give_up_newest_block(disk_refused_);
    }
  });
}

// False: the disk is full, and everybody knows.
bool Run::grow_disk(Call call, std::int64_t blocks) {
  const double start = now_seconds();
  try {
    disk_->grow(blocks, call);
  } catch (const Error& error) {
    if (error.status() != ANADROME_ERR_NO_SPACE && error.status() != ANADROME_ERR_IO) throw;
    stop_anchoring(Failure(error));
    return false;
  }
  recorder_.waited(start, now_seconds());
  return true;
}

// The sweep goes on with the anchors that there are.
void Run::stop_anchoring(const Failure& why) {
  if (no_more_anchors_) return;
  no_more_anchors_ = true;
  disk_refused_ = why;
  if (script_.has_value() && script_->sequence() != nullptr) sequence().add_no_more_anchors();
  warn({"the disk takes no more states (", why.message,
        "); the sweep goes on with those that there are, and runs more steps again"});
}

void Run::restore_anchor(const schedule::Action& action) {
  if (!uses_disk()) {
    copy(restored_, [&] { slots_->restore(0); });
    return;
  }
  // One agreement per block: from here on the caller acts on what was read.
  const std::int64_t block = tier_->block_of(action.slot);
  if (block != agreed_block_ || script_->nested() != nullptr) {
    if (!load_anchor(Call::kRestore, action.slot)) {
      const bool goes_on = script_->lose_anchor(action.slot, first_of_block(action.slot));
      if (!goes_on) throw Error(lost_.status, lost_.message + "; nothing before it is kept");
      return;
    }
    agreed_block_ = block;
  }
  newest_anchor_ = action.slot;
  copy(restored_, [&] {
    // This rank may have needed its memory since all ranks had it.
    const Failure lost = tier_->load(action.slot);
    if (lost) throw Error(lost.status, lost.message);
    tier_->restore(*live_, action.slot);
  });
  attempt([&] { tier_->prefetch_below(action.slot); });
}

std::int64_t Run::first_of_block(std::int64_t number) const {
  return number - number % memory_plan_.layout.states();
}

// False: some rank could not. The anchors of its block are gone on all, and lost_ says why.
bool Run::load_anchor(Call call, std::int64_t number) {
  for (;;) {
    if (!transport_->overlaps()) agree(call);  // the read itself is collective
    Failure lost;
    attempt([&] { lost = tier_->load(number); });
    const Agreement::Output agreed = agree(call, 0, "", lost);
    if (phase_ == ANADROME_PHASE_REVERSE) commit_if_due(call, agreed);
    if (!agreed.lost) return true;
    lost_ = agreed.lost;
    ++anchors_lost_;
    agreed_block_ = -1;
    if (!tier_->lose(number)) {
      warn({lost_.message, "; its steps are run again from an earlier state"});
      return false;
    }
    warn({lost_.message, "; another copy is read"});
  }
}

// Once in a sweep: more of the same is counted in the statistics.
void Run::warn(std::initializer_list<std::string_view> what) {
  if (warned_) return;
  warned_ = true;
  if (agreement_.rank() != 0 || !options_.warnings) return;
  progress_.finish();
  std::fputs("anadrome: ", stderr);
  for (const std::string_view part : what) std::fwrite(part.data(), 1, part.size(), stderr);
  std::fputc('\n', stderr);
}

}  // namespace anadrome::engine
