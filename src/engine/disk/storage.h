// SPDX-License-Identifier: BSD-2-Clause
// A run's storage on disk, for one sweep after the other: its directories (home, and a fast one if
// the options name two), its files, and the transport to each. Everything here is collective unless
// it says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/index.h"
#include "engine/asked/fields.h"
#include "engine/asked/options.h"
#include "engine/disk/disk_space.h"
#include "engine/disk/recovery.h"
#include "engine/disk/run_id.h"
#include "engine/sweep/context.h"
#include "store/moving/transport.h"
#include "store/tiers/volume.h"

namespace anadrome::engine {

class Storage {
 public:
  Storage(Peers& peers, Asked& asked, Measurements& measured, Warnings& warnings)
      : agreement_(peers.agreement),
        held_(peers.held),
        options_(asked.options),
        fields_(asked.fields),
        measured_(measured),
        warnings_(warnings) {}

  /// Do the fields or options of the sweep that begins want other files?
  bool changes();
  /// Where a process that cannot be seen from here holds the directory: as long as the option
  /// wait_for_lock says, until it lets go or is dead. Whoever lives then, prepare says.
  void wait_for_lock();
  /// The directory, its lock and, with `transports`, the transport to it; those of the sweep before
  /// where they fit. A run that cannot be taken over any more leaves `recovery` empty.
  void prepare(const MemoryPlan& memory, bool transports, std::optional<Recovery>& recovery);
  /// Removes the directory of a sweep before, with its files and its watch.
  void give_up();
  /// The first segment, so that a full or forbidden disk shows before the first step. Returns why
  /// the disk takes nothing, if the sweep can go on in memory; a directory that cannot be used is
  /// the user's mistake.
  Failure make_first_files(const SweepPlan& plan, int volume = store::kHome);
  /// Room for another segment. Throws as DiskSpace::grow does.
  void grow(const SweepPlan& plan, Call call, int volume = store::kHome);

  /// Blocks of full size that the option `disk` allows for anchors. Local.
  std::int64_t most_blocks(const MemoryPlan& memory, int volume = store::kHome) const;
  /// Does it count what blocks take when they are compressed? What states take that replace each
  /// other is not known beforehand.
  bool counts_compressed(const SweepPlan& plan) const {
    return options_.leaves_holes() && options_.disk >= 0 && plan.disk_use() == DiskUse::kBlocks;
  }
  /// Blocks that all ranks have begun to write, and how many of them are counted in what was agreed
  /// on.
  struct Begun {
    std::int64_t blocks = 0, counted = 0;
    double uncounted() const { return real(blocks - counted); }
  };
  /// The blocks that two volumes take in so many seconds, beside those that are written: home takes
  /// what it has time for, the fast one what it has room for.
  std::int64_t blocks_within(const MemoryPlan& memory, double seconds, std::int64_t written_at_home,
                             std::int64_t written_fast) const;
  /// The blocks that it is expected to allow: of a whole sweep, and of the one under way.
  std::int64_t expected_blocks(const SweepPlan& plan) const;
  std::int64_t expected_blocks(const SweepPlan& plan, const Begun& begun) const;
  /// Does it allow another block, whatever that and those take that are not counted?
  bool allows_a_block(const SweepPlan& plan, const Begun& begun) const;
  [[noreturn]] void throw_too_small(const MemoryPlan& memory) const;

  bool has_directory() const { return space() != nullptr; }
  /// Is there one, and is it the one of the sweep that begins?
  bool stays() const { return has_directory() && !moves_; }
  int volumes() const { return options_.has_fast() ? store::kMostVolumes : 1; }
  DiskSpace* space(int volume = store::kHome) { return of(volume).space.get(); }
  const DiskSpace* space(int volume = store::kHome) const { return of(volume).space.get(); }
  store::Transport* transport(int volume = store::kHome) { return of(volume).transport.get(); }
  const store::Transport* transport(int volume = store::kHome) const {
    return of(volume).transport.get();
  }
  const RunWords& words() const { return words_; }
  /// Notes what this rank does now, for whoever watches it. Local.
  void note(Doing doing) const {
    if (Watch* const watched = watch()) watched->note(doing);
  }
  /// NULL: nobody watches.
  Watch* watch() const { return has_directory() ? space()->watch() : nullptr; }

  /// The ends. Close: all ranks are known to be in the same call.
  void close_transport() {
    for (Place& place : places_) place.transport.reset();
  }
  void forget_directory() {
    for (Place& place : places_) place.space.reset();
  }
  /// As those of DiskSpace, of every directory. The failure is the first.
  void leave();
  void prepare_to_remove();
  Failure remove();

 private:
  /// A volume's.
  struct Place {
    std::unique_ptr<DiskSpace> space;
    std::unique_ptr<store::Transport> transport;
  };
  Place& of(int volume) { return places_[at(volume)]; }
  const Place& of(int volume) const { return places_[at(volume)]; }
  const Options& options_of(int volume) const {
    return volume == store::kHome ? options_ : fast_options_;
  }

  void agree_on_begin() { agreement_.agree({.call = Call::kBegin, .failure = held_.failure()}); }
  void make_directory(const MemoryPlan& memory, store::Leftovers leftovers, int volume);
  void remove_directory(int volume);
  void require_places(const store::JournalContents& left) const;
  void require_two_directories() const;
  void open(const MemoryPlan& memory, std::optional<Recovery>& recovery);
  void open_fast(const MemoryPlan& memory, std::optional<Recovery>& recovery);
  void wait_for_holder();
  void make_transport(const MemoryPlan& memory, int volume, bool cores_are_busy);
  void warn_of_memory();
  void grow_by(std::int64_t blocks, Call call, int volume);
  std::int64_t segment_blocks(const SweepPlan& plan, int volume) const;
  std::int64_t blocks_in(double left) const;
  std::int64_t blocks_on_disk(const MemoryPlan& memory, int volume) const;

  Agreement& agreement_;
  Held& held_;
  const Options& options_;
  Fields& fields_;
  Measurements& measured_;
  Warnings& warnings_;
  std::array<Place, store::kMostVolumes> places_;
  Options fast_options_;
  std::string run_id_;
  RunWords words_;
  Options built_with_;           ///< the options in force when the files were made
  store::BlockShape built_for_;  ///< of their blocks
  bool built_ = false;           ///< all that belongs to it was made; agreed
  bool moves_ = false;           ///< to another directory, as changes() said last; agreed
  bool changes_ = true;          ///< as changes() said last; agreed
  bool reused_ = false;          ///< the files of the sweep before are this one's; agreed
};

/// Throws `error` where the run that was left may be whole, and says that it is untouched.
[[noreturn]] void throw_untouched(const Error& error);

}  // namespace anadrome::engine
