// SPDX-License-Identifier: BSD-2-Clause
// Keeper, the part for room on disk: to which volume a block goes, how many more there will be, and
// what follows where none is taken.
#include <algorithm>
#include <array>
#include <string>

#include "base/checked.h"
#include "base/clock.h"
#include "base/index.h"
#include "engine/keep/keeper.h"

namespace anadrome::engine {

// ---- two volumes ----

// All ranks decide by what was agreed on. What a run goes on from has to be at home; x_0 is
// written to both.
int Keeper::volume_of_newest(bool commits) {
  if (!takes_[store::kFast]) return store::kHome;
  if (!takes_[store::kHome]) return store::kFast;
  if (plan_.memory.layout.block_of(sweep_.newest_anchor) == 0) return store::kFast;
  const AgreedNumbers& agreed = measured_.agreed();
  const double block = agreed.write * real(plan_.memory.layout.states());
  const bool due = next_volume_.is_for_home(agreed.elapsed, seconds_until_turn(), block,
                                            static_cast<std::int64_t>(agreed.home_writes));
  if (!due && !commits) return store::kFast;
  next_volume_.went_home();
  return store::kHome;
}

// As far as is known; agreed.
double Keeper::seconds_until_turn() const {
  const std::int64_t steps = plan_.sweep->course().steps;
  if (steps == schedule::kUnknown) return schedule::kForEver;
  return real(steps - sweep_.advances) * measured_.costs(plan_.memory.largest_state_bytes).forward;
}

// What a commit found on the fast volume, and so where the next blocks go, may differ between
// ranks; files grow on all of them.
void Keeper::agree_on_places() {
  std::array<std::int64_t, store::kMostVolumes + 1> next{};
  for (int volume = 0; volume < disk_->volumes(); ++volume)
    next[at(volume)] = disk_->blocks_written(volume);
  next.back() = disk_->places_in_turn() ? 1 : 0;
  agreement_.ranks().largest(next);
  if (next.back() == 0) return;
  for (int volume = 0; volume < disk_->volumes(); ++volume)
    disk_->begin_places_at(volume, next[at(volume)]);
}

// Some rank's writes fail: those of which volumes, all ranks learn.
void Keeper::close_volumes(const Failure& why) {
  std::array<std::int64_t, store::kMostVolumes> refuse{};
  for (int volume = 0; volume < disk_->volumes(); ++volume)
    refuse[at(volume)] = disk_->notes(volume).disk_refuses() ? 1 : 0;
  agreement_.ranks().largest(refuse);
  for (int volume = 0; volume < disk_->volumes(); ++volume) {
    if (refuse[at(volume)] != 0 && takes_[at(volume)]) close_volume(volume, why);
  }
}

// It takes no more blocks; where the other one does, the sweep goes on with that.
void Keeper::close_volume(int volume, const Failure& why, Surprise surprise) {
  bool& takes = takes_[at(volume)];
  const bool was_last = !takes_[store::kHome] || !takes_[store::kFast];
  if (was_last) return stop_anchoring(why);
  takes = false;
  measured_.use_volumes(takes_[store::kHome], takes_[store::kFast]);
  if (surprise == Surprise::kNo) return;
  warnings_.warn({volume == store::kFast ? "the fast directory" : "the last directory",
                  " accepts no more states (", why.message, "); they go to the other one"});
}

// How many anchors there will be until TURN.
void Keeper::tell_what_volumes_hold() {
  const std::int64_t steps = plan_.sweep->course().steps;
  const bool given = options_.interval > 0;  // what is measured has no say in it
  const bool both = takes_[store::kHome] && takes_[store::kFast];
  if (!both || given || steps == schedule::kUnknown) return;
  const std::int64_t states = plan_.memory.layout.states();
  const std::int64_t blocks = storage_.blocks_within(plan_.memory, seconds_until_turn(),
                                                     disk_->blocks_written(store::kHome),
                                                     disk_->blocks_written(store::kFast));
  const std::int64_t most = schedule::kMostSteps / states - sweep_.newest_anchor;
  plan_.sweep->disk_holds(sweep_.newest_anchor + 1 + std::min(blocks, most) * states);
}

// ---- blocks that are counted, and places ----

// How many anchors there are, and so the bits of a lossy sweep, must not depend on which writes
// have ended: all ranks count the same blocks, and wait for those that should be there by now.
void Keeper::count_blocks(std::int64_t under_way) {
  const std::int64_t below = plan_.memory.layout.block_of(sweep_.newest_anchor) - under_way;
  held_.attempt([&] { disk_->count_below(below); });
}

// A sweep of few anchors counts none on its way.
void Keeper::count_what_was_written() {
  if (!uses_disk() || !storage_.counts_compressed(plan_)) return;
  const std::int64_t states = plan_.memory.layout.states();
  held_.attempt([&] { disk_->count_below(ceil_divide(disk_->anchors().written(), states)); });
}

void Keeper::count_all_blocks(Call call) {
  count_blocks(0);
  meeting_.agree(call);
}

Storage::Begun Keeper::begun() const {
  return {plan_.memory.layout.block_of(sweep_.newest_anchor), disk_->counted()};
}

// Before the sweep is told that the next block is the last, it is worth a wait to know what those
// under way take.
void Keeper::tell_what_disk_holds() {
  const Storage::Begun begun = this->begun();
  if (storage_.expected_blocks(plan_, begun) <= begun.blocks + 2 && begun.uncounted() > 0)
    count_all_blocks(Call::kAnchor);
  plan_.sweep->disk_holds(checked_multiply(storage_.expected_blocks(plan_, this->begun()),
                                           plan_.memory.layout.states()));
}

Failure Keeper::why_not_allowed(Call call) {
  if (!storage_.counts_compressed(plan_) || storage_.allows_a_block(plan_, begun())) return {};
  if (begun().uncounted() > 0) count_all_blocks(call);
  if (storage_.allows_a_block(plan_, begun())) return {};
  return failure_from([&] {
    throw Error(ANADROME_ERR_NO_SPACE, "disk=" + std::to_string(options_.disk) +
                                           " may not hold another state, whatever it is "
                                           "compressed to");
  });
}

// The block of this anchor gets a place on disk. A failure: the disk is full, and everybody knows.
Failure Keeper::refusal(Call call, std::int64_t number, int volume) {
  const Failure full = why_not_allowed(call);
  if (full) {
    stop_anchoring(full);
    return sweep_.disk_refused;
  }
  if (disk_->has_place(number, volume)) return {};
  const bool as_planned = disk_->volumes() > 1 && disk_->blocks_written(volume) >=
                                                      storage_.most_blocks(plan_.memory, volume);
  if (as_planned) {
    Failure allowed =
        failure_from([] { throw Error(ANADROME_ERR_NO_SPACE, "the option disk allows no more"); });
    close_volume(volume, allowed, Surprise::kNo);
    return allowed;
  }
  const double start = now_seconds();
  try {
    storage_.grow(plan_, call, volume);
  } catch (const Error& error) {
    if (error.status() != ANADROME_ERR_NO_SPACE && error.status() != ANADROME_ERR_IO) throw;
    close_volume(volume, Failure(error));
    return Failure(error);
  }
  recorder_.waited(start, now_seconds());
  return {};
}

// The writes of this rank that failed, if they mean that the disk takes no more. Of a volume that
// takes none any more they are no news.
Failure Keeper::failed_write() const {
  for (int volume = 0; volume < disk_->volumes(); ++volume) {
    const store::TransferNotes& notes = disk_->notes(volume);
    if (takes_[at(volume)] && notes.disk_refuses()) return notes.failed_write();
  }
  return {};
}

void Keeper::stop_anchoring(const Failure& why) {
  if (sweep_.no_more_anchors) return;
  if (plan_.sweep != nullptr) {
    const schedule::DiskLeft left = disk_left();
    held_.attempt([&] { plan_.sweep->disk_is_full(left); });
    agreement_.agree({.call = Call::kAnchor, .failure = held_.failure()});
  }
  sweep_.no_more_anchors = true;
  sweep_.disk_refused = why;
  sweep_.anchors_on_disk = disk_->anchors().written();
  warnings_.warn({"the disk accepts no more states (", why.message,
                  "); the sweep continues with those on disk, and recomputes more steps"});
}

// What every rank has on disk. x_0 stays in memory where it is on no disk, and what is restored
// needs room beside it: that for reading ahead, unless there is nothing else to restore.
schedule::DiskLeft Keeper::disk_left() {
  held_.attempt([&] { disk_->flush(); });
  schedule::DiskLeft left;
  const std::int64_t good =
      agreement_
          .agree({.call = Call::kAnchor,
                  .failure = held_.failure(),
                  .smallest = std::min(disk_->good_places(), sweep_.newest_anchor)})
          .smallest;
  left.slots = options_.most_slots(plan_.memory.all_slots());
  if (good > 0 || sweep_.anchors_put == 1) return left;
  if (plan_.memory.layout.block_of(sweep_.newest_anchor) <= 1) {
    disk_->set_prefetch_depth(0);
  } else {
    left.slots = 0;
  }
  return left;
}

}  // namespace anadrome::engine
