// SPDX-License-Identifier: BSD-2-Clause
// Carries out what a schedule says of states and tapes: keep, restore, drop, write, read. It owns
// the memory for them, and the state that the caller works on.
//
// The newest block is written when it is known that another action follows it, not when it is full:
// see write_due. An anchor that a rank could not write or read is no failure of the sweep: at the
// next agreement all ranks lose the same anchor, and start from the one before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/index.h"
#include "engine/disk/storage.h"
#include "engine/keep/live_tape.h"
#include "engine/ranks/meeting.h"
#include "engine/sweep/context.h"
#include "engine/sweep/live_state.h"
#include "schedule/words/two_volumes.h"
#include "store/memory/field_copy.h"
#include "store/memory/pool.h"
#include "store/tiers/block_keeper.h"
#include "store/tiers/disk_tier.h"
#include "store/tiers/ram_tier.h"
#include "store/tiers/single_state.h"

namespace anadrome::engine {

class Keeper {
 public:
  Keeper(Context& context, Meeting& meeting, Storage& storage)
      : agreement_(context.peers.agreement),
        meeting_(meeting),
        held_(context.peers.held),
        options_(context.asked.options),
        fields_(context.asked.fields),
        measured_(context.notes.measured),
        storage_(storage),
        plan_(context.play.plan),
        sweep_(context.play.sweep),
        recorder_(context.notes.recorder),
        warnings_(context.notes.warnings) {}

  // ---- begin and end ----
  /// The plan's pool, that of the sweep before where it fits; the live state, and the tier in
  /// memory.
  void make_memory();
  /// The tier on disk. May lack the memory.
  void make_disk_tier();
  /// Unless no anchor will be written. Collective.
  void make_first_files();
  /// Waits for transfers; nothing is kept any more.
  void abandon();

  // ---- the schedule's actions ----
  void keep(const schedule::Keep& kept);
  void restore(const schedule::Restore& kept);
  void drop(const schedule::Drop& kept);

  // ---- anchors ----
  /// Is the newest block full and not being written? The next action has been asked for, so it
  /// shows whether more anchors follow: if none does, TURN is near, and the block is restored from
  /// memory.
  bool write_is_due() const { return sweep_.write_due; }
  /// Begins that write, or leaves it. Collective.
  void write_due();
  /// At TURN, where all anchors are to be on disk: the block that is not full yet. Collective.
  void write_last_block();
  /// Some rank could not load anchor `number`: the anchors of its block are gone on all, and
  /// SweepState::lost says why (false). Collective.
  bool load(Call call, std::int64_t number);
  void read_ahead();
  /// A pass begins, or another reverse sweep: by so many blocks from one that is needed to the
  /// next.
  void begin_pass(std::int64_t stride);
  /// Where the option disk counts compressed states: the sweep learns how many anchors to expect.
  /// Collective.
  void tell_what_disk_holds();
  /// At DONE, before ranks agree on it: what the next sweep knows of how states compress.
  void count_what_was_written();
  /// Anchor `number`, which is loaded, is the newest from here on, and live.
  void go_on_from(std::int64_t number);
  /// The sweep goes on with the anchors that there are. Collective.
  void stop_anchoring(const Failure& why);

  // ---- for Probe: see DiskTier ----
  void begin_trial(std::int64_t anchor, double times) { disk_->begin_trial(anchor, times); }
  void end_trial() {
    held_.attempt([&] { disk_->end_trial(); });
    sweep_.agreed_block = -1;
  }

  // ---- for Preflight ----
  /// x_0, which the schedule has just kept, stays in memory for the next steps, if `keeps` more
  /// states fit beside it.
  void hold_x_0(std::int64_t keeps);
  void let_go_of_x_0();
  /// Is x_0 in memory on this rank?
  bool has_x_0_in_memory() const;
  void restore_x_0();
  // ---- for SpotChecks ----
  /// Is x_step, which is live, kept in memory on this rank, too? It stays there while the schedule
  /// plays no action.
  bool holds(std::int64_t step) const;
  /// Restores that state.
  void restore_held();

  /// The host waits for what a device still copies to or from a state's memory.
  void finish_copies() {
    if (live_ != nullptr) held_.hold(live_->finish_copies());
  }

  /// A block that no tier has, if one is free; the schedule plays no action until it is given back.
  bool has_spare_block() const {
    const std::int64_t for_live_states = plan_.memory.set_aside;
    return !plan_.memory.single && pool_.free_blocks() > for_live_states;
  }
  std::int64_t take_spare_block();
  void give_back_spare_block(std::int64_t block) { pool_.give_back(block); }
  std::span<std::byte> block(std::int64_t block) const {
    return {pool_.address(block), size(pool_.block_bytes())};
  }

  bool uses_disk() const { return disk_ != nullptr; }
  /// NULL without a disk.
  store::DiskTier* disk_tier() { return disk_; }
  const store::DiskTier* disk_tier() const { return disk_; }
  /// NULL before begin.
  LiveState* live() { return live_.get(); }
  const LiveState* live() const { return live_.get(); }
  /// Most bytes that were in use at a time, tables and buffers included.
  std::int64_t peak_bytes() const;

 private:
  template <class Body>
  void copy(Copied what, store::Way way, const std::vector<store::Field>& fields, Body&& body);
  void restore_from_memory(const schedule::Kept& kept);
  void keep_anchor(const schedule::Keep& kept);
  void restore_anchor(const schedule::Restore& kept);
  static store::KeptState state_of(const schedule::Kept& kept) { return {kept.place, kept.step}; }
  void keep_in(store::Tier& tier, const store::KeptState& state);
  void write_newest_block(Call call, bool exact);
  int volume_of_newest(bool commits);
  double seconds_until_turn() const;
  void agree_on_places();
  void close_volumes(const Failure& why);
  enum class Surprise { kNo, kYes };
  void close_volume(int volume, const Failure& why, Surprise surprise = Surprise::kYes);
  void tell_what_volumes_hold();
  void count_blocks(std::int64_t under_way);
  void count_all_blocks(Call call);
  Storage::Begun begun() const;
  Failure why_not_allowed(Call call);
  Failure refusal(Call call, std::int64_t number, int volume);
  Failure failed_write() const;
  schedule::DiskLeft disk_left();
  std::int64_t blocks_to_populate() const;

  Agreement& agreement_;
  Meeting& meeting_;
  Held& held_;
  const Options& options_;
  const Fields& fields_;
  Measurements& measured_;
  Storage& storage_;
  SweepPlan& plan_;
  SweepState& sweep_;
  Recorder& recorder_;
  Warnings& warnings_;
  store::Pool pool_;
  store::BlockKeeper blocks_{pool_};
  std::unique_ptr<device::Pins> pins_;                ///< of blocks of the pool
  std::unique_ptr<store::DeviceSlots> device_slots_;  ///< if slots are on a device
  const store::BlockLayout one_a_block_;              ///< a slot on a device
  std::unique_ptr<LiveState> live_;
  std::unique_ptr<store::SingleState>
      single_;  ///< the same in slots, if these are in single precision
  std::unique_ptr<LiveTape> live_tape_;
  std::optional<schedule::Kept> x_0_;     ///< where it is kept
  std::int64_t x_0_block_ = -1;           ///< if it is held
  std::optional<schedule::Kept> newest_;  ///< where the state lies that was kept or restored last
  std::vector<std::unique_ptr<store::Tier>> tiers_;
  store::RamTier* ram_ = nullptr;                  ///< one of the tiers
  store::DiskTier* disk_ = nullptr;                ///< another; NULL: there is none
  bool calls_back_ = false;                        ///< some field is packed
  schedule::VolumeChoice next_volume_;             ///< of blocks, where there are two volumes
  std::array<bool, store::kMostVolumes> takes_{};  ///< does the volume take more blocks?
};

}  // namespace anadrome::engine
