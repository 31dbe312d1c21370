// SPDX-License-Identifier: BSD-2-Clause
#include "engine/keep/keeper.h"

#include <algorithm>
#include <string>

#include "base/checked.h"
#include "base/clock.h"
#include "base/index.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {

using store::Way;

// ---- begin and end ----

// First touch takes longer than a copy, so it is not left to the sweep; but a fast disk needs few
// of many blocks.
std::int64_t Keeper::blocks_to_populate() const {
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  const bool all = plan_.disk_use() == DiskUse::kNone && plan_.steps != schedule::kUnknown;
  if (all) return pool_.blocks();
  return ceil_divide(kBytes, std::max<std::int64_t>(pool_.block_bytes(), 1));
}

void Keeper::make_memory() {
  const store::BlockLayout& layout = plan_.memory.layout;
  const std::int64_t block_bytes = plan_.memory.pool_block_bytes, blocks = plan_.memory.blocks;
  held_.attempt([&] {
    if (pool_.blocks() == blocks && pool_.block_bytes() == block_bytes) return;
    pins_.reset();
    pool_ = {};
    pool_ = store::Pool(block_bytes, blocks);
  });
  pool_.reset();
  if (held_.failure()) return;
  pool_.populate(blocks_to_populate());
  calls_back_ = store::any_packed(fields_.state()) || store::any_packed(fields_.tape());
  held_.attempt([&] {
    const auto device = device_of(fields_.state());
    const DevicePlan& on_device = plan_.memory.device;
    if (device != nullptr && pins_ == nullptr)
      pins_ = std::make_unique<device::Pins>(device, pool_.block_bytes());
    if (on_device.slots > 0) {
      device_slots_ = std::make_unique<store::DeviceSlots>(device, fields_.state(),
                                                           on_device.blocks, on_device.staged);
    }
    const ForDevices devices = {device_slots_.get(), pins_.get(),
                                !plan_.record && on_one_device(fields_.state())};
    live_ = std::make_unique<LiveState>(layout, fields_.state(), blocks_, devices);
    if (plan_.keeps_tapes) live_tape_ = std::make_unique<LiveTape>(layout, fields_.tape());
    const store::BlockLayout& slots = plan_.memory.slots;
    std::int64_t x_0_bytes = 0;
    if (plan_.memory.single) {
      if (plan_.disk_use() == DiskUse::kNone) x_0_bytes = store::most_piece_bytes(fields_.state());
      single_ = std::make_unique<store::SingleState>(slots, fields_.state(), pool_);
    }
    store::Live& live = single_ != nullptr ? static_cast<store::Live&>(*single_) : *live_;
    auto ram = device_slots_ == nullptr
                   ? std::make_unique<store::RamTier>(slots, blocks_, live, x_0_bytes)
                   : std::make_unique<store::RamTier>(one_a_block_, device_slots_->blocks(),
                                                      *live_->on_device());
    ram_ = ram.get();
    tiers_.push_back(std::move(ram));
  });
}

void Keeper::make_disk_tier() {
  const RunWords& words = storage_.words();
  store::BlockIdentity identity;
  identity.run_id_low = words.low;
  identity.run_id_high = words.high;
  identity.sweep = sweep_.number;
  std::vector<store::Volume> volumes;
  for (int volume = 0; volume < storage_.volumes(); ++volume) {
    store::Transport& transport = *storage_.transport(volume);
    volumes.push_back({*storage_.space(volume), transport, measured_.transfers(volume)});
    sweep_.before.totals[at(volume)] = transport.totals();
  }
  const store::DiskTier::Parts parts = {plan_.memory.layout, blocks_, volumes, *live_};
  auto disk = std::make_unique<store::DiskTier>(parts, identity, recorder_);
  disk->set_prefetch_depth(plan_.memory.prefetch_depth);
  if (!options_.writes_all_anchors()) disk->allow_cancelling();
  disk_ = disk.get();
  tiers_.push_back(std::move(disk));
  takes_ = {true, storage_.volumes() > 1};
  next_volume_ = {};
  measured_.use_volumes(takes_[store::kHome], takes_[store::kFast]);
  measured_.begin_sweep();
}

void Keeper::make_first_files() {
  const bool fits_in_memory = plan_.steps != schedule::kUnknown && !options_.writes_all_anchors() &&
                              schedule::tail_advances(plan_.steps, plan_.memory.checkpoint_slots,
                                                      plan_.record, plan_.kept_tape_slots()) == 0;
  if (fits_in_memory) return;
  for (int volume = storage_.volumes() - 1; volume >= 0; --volume) {
    const Failure refused = storage_.make_first_files(plan_, volume);
    if (refused) close_volume(volume, refused);
  }
}

void Keeper::abandon() {
  disk_ = nullptr;
  ram_ = nullptr;
  x_0_.reset();
  x_0_block_ = -1;
  newest_.reset();
  tiers_.clear();
  live_tape_.reset();
  single_.reset();
  live_.reset();
  device_slots_.reset();
}

// Whoever fills it does so at once.
std::int64_t Keeper::take_spare_block() {
  const std::int64_t block = pool_.take();
  held_.hold(live_->wait_for(block));
  if (pins_ != nullptr && block >= 0)
    held_.attempt([&] { pins_->pin(block, pool_.address(block)); });
  return block;
}

std::int64_t Keeper::peak_bytes() const {
  return plan_.memory.buffer_bytes + pool_.touched_blocks() * plan_.memory.bytes_per_block;
}

// ---- in memory ----

// Whatever fails on this rank, it calls the callbacks of `fields`, as the others do.
template <class Body>
void Keeper::copy(Copied what, Way way, const std::vector<store::Field>& fields, Body&& body) {
  ++(way == Way::kOut ? sweep_.copies.kept : sweep_.copies.restored);
  const bool timed = measured_.times_copy(what, recorder_.on());
  double start = timed ? now_seconds() : 0;
  const std::int64_t moves = calls_back_ ? store::moves_of(fields) : 0;
  held_.attempt(body);
  if (calls_back_ && store::moves_of(fields) == moves)
    held_.attempt([&] { held_.hold(store::move_for_others(fields, way)); });
  if (!timed) return;
  const double end = now_seconds();
  start = recorder_.after_waits(start);  // for a block to copy to
  recorder_.add(Activity::kCopy, start, end, 0, 0);
  sweep_.copies.seconds += measured_.add_copy(what, std::max(end - start - clock_seconds(), 0.0));
}

void Keeper::keep_in(store::Tier& tier, const store::KeptState& state) {
  const Copied what = &tier == disk_ ? Copied::kAnchor : Copied::kSlot;
  copy(what, Way::kOut, fields_.state(), [&] { tier.keep(state); });
}

void Keeper::keep(const schedule::Keep& kept) {
  if (kept.what == schedule::What::kState) {
    sweep_.kept_step = kept.step;
    newest_ = kept;
    if (kept.step == 0) x_0_ = kept;
  }
  if (kept.tier != schedule::kRamTier) return keep_anchor(kept);
  if (kept.what == schedule::What::kState) return keep_in(*ram_, state_of(kept));
  copy(Copied::kSlot, Way::kOut, fields_.tape(),
       [&] { live_tape_->keep(ram_->hold(kept.place, plan_.tape_slots)); });
}

void Keeper::restore(const schedule::Restore& kept) {
  const bool state = kept.what == schedule::What::kState;
  if (state) sweep_.kept_step = kept.step;
  if (state) newest_ = kept;
  sweep_.restored_step = state ? kept.step : kept.step + 1;
  if (kept.tier != schedule::kRamTier) return restore_anchor(kept);
  copy(Copied::kSlot, Way::kIn, state ? fields_.state() : fields_.tape(), [&] {
    if (state) return ram_->restore(state_of(kept));
    live_tape_->restore(ram_->held(kept.place, plan_.tape_slots));
  });
}

void Keeper::drop(const schedule::Drop& kept) {
  if (x_0_ == static_cast<const schedule::Kept&>(kept)) x_0_.reset();
  if (newest_ == static_cast<const schedule::Kept&>(kept)) newest_.reset();
  held_.attempt([&] {
    if (kept.tier != schedule::kRamTier) return disk_->drop(kept.place);
    if (kept.what == schedule::What::kState) return ram_->drop(kept.place);
    ram_->let_go(kept.place, plan_.tape_slots);
  });
}

void Keeper::hold_x_0(std::int64_t keeps) {
  if (pool_.free_blocks() <= keeps + plan_.memory.set_aside) return;
  if (!x_0_) {  // the schedule keeps tapes alone
    x_0_block_ = take_spare_block();
    return held_.attempt([&] { live_->keep(x_0_block_, 0); });
  }
  const bool on_disk = x_0_->tier != schedule::kRamTier;
  if (!on_disk || plan_.memory.layout.index_in_block(x_0_->place) != 0) return;
  x_0_block_ = disk_->block_in_memory(x_0_->place);
  if (x_0_block_ >= 0) pool_.hold(x_0_block_);
}

void Keeper::let_go_of_x_0() {
  if (x_0_block_ >= 0) pool_.give_back(x_0_block_);
  x_0_block_ = -1;
}

bool Keeper::has_x_0_in_memory() const {
  if (x_0_block_ >= 0) return true;
  if (!x_0_) return false;
  return x_0_->tier == schedule::kRamTier || disk_->block_in_memory(x_0_->place) >= 0;
}

void Keeper::restore_x_0() {
  if (x_0_block_ < 0) return restore_from_memory(*x_0_);
  held_.attempt([&] { live_->restore(x_0_block_, 0); });
}

void Keeper::restore_from_memory(const schedule::Kept& kept) {
  held_.attempt([&] {
    if (kept.tier == schedule::kRamTier) return ram_->restore(state_of(kept));
    disk_->restore(state_of(kept));
  });
}

bool Keeper::holds(std::int64_t step) const {
  if (!newest_ || newest_->step != step) return false;
  return newest_->tier == schedule::kRamTier || disk_->block_in_memory(newest_->place) >= 0;
}

void Keeper::restore_held() { restore_from_memory(*newest_); }

// ---- anchors ----

void Keeper::keep_anchor(const schedule::Keep& kept) {
  keep_in(*disk_, state_of(kept));
  held_.attempt([&] { plan_.sweep->make_room_for_anchors(); });
  sweep_.newest_anchor = kept.place;
  ++sweep_.anchors_put;
  sweep_.write_due = plan_.memory.layout.fills_block(kept.place);
}

void Keeper::write_due() {
  sweep_.write_due = false;
  const schedule::Course course = plan_.sweep->course();
  if (sweep_.no_more_anchors) {  // it stays as long as nobody needs its memory
    held_.attempt([&] { disk_->write_newest_block(sweep_.disk_refused); });
    return;
  }
  if (course.ends_in_ram && !options_.writes_all_anchors()) return;
  // Until it is known how states compress the interval is too long, so that is worth a wait. Later,
  // half of the memory may be on its way, or of the disk: block 0 takes as long as many others.
  const std::int64_t most =
      std::min(plan_.memory.blocks, storage_.most_blocks(plan_.memory, store::kHome));
  const std::int64_t under_way = std::max<std::int64_t>(most / 2, 2);
  if (storage_.counts_compressed(plan_)) count_blocks(measured_.knows_share() ? under_way : 0);
  const Agreement::Output agreed = meeting_.agree(Call::kAnchor, failed_write());
  measured_.learn({.anchor = sweep_.newest_anchor, .advances = sweep_.advances});
  if (storage_.counts_compressed(plan_)) tell_what_disk_holds();
  if (agreed.lost) close_volumes(agreed.lost);
  tell_what_volumes_hold();
  if (sweep_.no_more_anchors) {
    held_.attempt([&] { disk_->write_newest_block(sweep_.disk_refused); });
  } else {
    // Where another process would go on from this anchor, it needs the state as it is.
    const bool commits = agreed.commit == Agreement::Input::Commit::kDue || agreed.stop;
    write_newest_block(Call::kAnchor, commits);
  }
  if (!sweep_.no_more_anchors) meeting_.commit_if_due(Call::kAnchor, agreed);
}

void Keeper::write_last_block() {
  const bool partly_filled = uses_disk() && options_.writes_all_anchors() &&
                             disk_->anchors().written() < disk_->anchors().kept();
  if (partly_filled && !sweep_.no_more_anchors) write_newest_block(Call::kTurn, false);
}

void Keeper::write_newest_block(Call call, bool exact) {
  int volume = volume_of_newest(exact);
  Failure refused = refusal(call, sweep_.newest_anchor, volume);
  if (refused && !sweep_.no_more_anchors) {  // the other one may take it
    volume = store::kHome + store::kFast - volume;
    refused = refusal(call, sweep_.newest_anchor, volume);
  }
  held_.attempt([&] { disk_->write_newest_block(refused, exact, volume); });
}

void Keeper::restore_anchor(const schedule::Restore& kept) {
  // One agreement per block: from here on the caller acts on what was read.
  const std::int64_t block = plan_.memory.layout.block_of(kept.place);
  if (block != sweep_.agreed_block) {
    if (!load(Call::kRestore, kept.place)) {
      Failure& lost = sweep_.lost;
      if (plan_.sweep->lose(plan_.memory.layout.first_of_block(kept.place))) return;
      failure_from([&] {
        lost.message += "; nothing before it can be started from";
        lost.message += options_.begin_anew();
      });
      throw Error(lost.status, lost.message);
    }
    sweep_.agreed_block = block;
  }
  sweep_.newest_anchor = kept.place;
  copy(Copied::kSlot, Way::kIn, fields_.state(), [&] {
    // This rank may have needed the anchor's memory since all ranks had it.
    const Failure lost = disk_->load(kept.place);
    if (lost) throw Error(lost.status, lost.message);
    disk_->prefetch(kept.place);  // the disk works while this one is copied
    disk_->restore(state_of(kept));
  });
  held_.attempt([&] { disk_->prefetch(kept.place); });  // exchanged: now there is memory
}

bool Keeper::load(Call call, std::int64_t number) {
  for (;;) {
    if (disk_->agreed_before_use() == store::Tier::Agreed::kAboutToLoad) {
      held_.attempt([&] { disk_->expect_load(); });
      meeting_.agree(call);
    }
    Failure lost;
    held_.attempt([&] { lost = disk_->load(number); });
    const Agreement::Output agreed = meeting_.agree(call, lost);
    // Not on trial: the adjoint fields are the trial's then.
    const bool in_reverse = sweep_.phase == ANADROME_PHASE_REVERSE && !sweep_.checks.on_trial;
    if (in_reverse || sweep_.passes.on) meeting_.commit_if_due(call, agreed);
    if (!agreed.lost) return true;
    sweep_.lost = agreed.lost;
    ++sweep_.anchors_lost;
    if (sweep_.no_more_anchors && number >= sweep_.anchors_on_disk) ++sweep_.never_on_disk;
    sweep_.agreed_block = -1;
    if (!disk_->lose(number)) {
      warnings_.warn({agreed.lost.message, "; its steps are run again from an earlier state"});
      return false;
    }
    warnings_.warn({agreed.lost.message, "; another copy is read"});
  }
}

void Keeper::read_ahead() {
  if (uses_disk()) held_.attempt([&] { disk_->prefetch(sweep_.newest_anchor); });
}

void Keeper::begin_pass(std::int64_t stride) {
  sweep_.agreed_block = -1;
  const std::int64_t anchors = plan_.sweep->anchors().count();
  sweep_.newest_anchor = stride < 0 ? std::max<std::int64_t>(anchors - 1, 0) : 0;
  if (!uses_disk() || anchors == 0) return;
  held_.attempt([&] {
    disk_->read_ahead_by(stride);
    disk_->prefetch_from(sweep_.newest_anchor);
  });
}

void Keeper::go_on_from(std::int64_t number) {
  disk_->truncate(number + 1);
  agree_on_places();
  sweep_.newest_anchor = number;
  sweep_.agreed_block = plan_.memory.layout.block_of(number);
  held_.attempt([&] { disk_->restore_exactly({number, 0}); });
}

}  // namespace anadrome::engine
