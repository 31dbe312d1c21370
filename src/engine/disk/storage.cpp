// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/storage.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/index.h"
#include "base/processors.h"
#include "base/text_out.h"
#include "engine/asked/encoding.h"
#include "engine/asked/log.h"
#include "engine/disk/run_id.h"
#include "schedule/words/two_volumes.h"
#include "store/moving/mpio_transport.h"

namespace anadrome::engine {
namespace {

// Of a segment at the most, and blocks of the first one while their number is unknown.
constexpr std::int64_t kSegmentBytes = std::int64_t{4} << 30, kFirstBlocks = 16;

// Do the ranks of some node occupy all the cores they may run on? Where each is bound to a core,
// its I/O thread shares that. Collective.
bool no_core_is_free(MPI_Comm comm, MPI_Comm node) {
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  Processors allowed = allowed_processors();
  MPI_Allreduce(MPI_IN_PLACE, allowed.data(), static_cast<int>(allowed.size()), MPI_UINT64_T,
                MPI_BOR, node);
  int busy = ranks >= count(allowed) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &busy, 1, MPI_INT, MPI_MAX, comm);
  return busy != 0;
}

}  // namespace

void throw_untouched(const Error& error) {
  throw Error(error.status(), std::string(error.what()) +
                                  "; the run that was left is untouched: begin again, or set "
                                  "resume=off to start over");
}

// The directory is one rank's own text; whether to rebuild is everybody's decision.
bool Storage::changes() {
  bool changes = !has_directory() || !built_ || (transport() != nullptr && fields_.changed());
  bool moves = false;
  held_.attempt([&] {
    moves = has_directory() &&
            space()->path() != store::RunDirectory::path(options_.directory, options_.name);
    if (options_.has_fast()) fast_options_ = options_.of_fast();  // before a directory is made
    changes = changes || built_with_.directory != options_.directory ||
              built_with_.fast.directory != options_.fast.directory ||
              built_with_.shared_values() != options_.shared_values();
  });
  struct Any {
    std::int64_t changes, moves;
  };
  const auto any =
      largest_of<std::int64_t>(agreement_.ranks(), Any{changes ? 1 : 0, moves ? 1 : 0});
  changes_ = any.changes != 0;
  moves_ = any.moves != 0;
  return changes_;
}

void Storage::give_up() {
  close_transport();
  for (int volume = 0; volume < store::kMostVolumes; ++volume) {
    if (volume == store::kHome || space(volume) != nullptr) remove_directory(volume);
  }
}

void Storage::remove_directory(int volume) {
  std::unique_ptr<DiskSpace>& space = of(volume).space;
  if (space != nullptr) space->prepare_to_remove();
  if (space != nullptr) space->end_watch();
  agree_on_begin();  // nobody has a file open any more
  if (space != nullptr) held_.hold(space->remove());
  space.reset();
  agree_on_begin();  // removed before anybody makes the next one
}

void Storage::leave() {
  for (Place& place : places_) {
    if (place.space != nullptr) place.space->leave();
  }
}

void Storage::prepare_to_remove() {
  for (Place& place : places_) {
    if (place.space != nullptr) place.space->prepare_to_remove();
  }
}

Failure Storage::remove() {
  Failure first;
  for (Place& place : places_) {
    if (place.space != nullptr) place.space->end_watch();
  }
  const auto each = [&](auto&& body) {
    for (Place& place : places_) {
      if (place.space != nullptr) body(*place.space);
    }
  };
  // Nobody has a file open any more. Where all know of the end, each rank removes its own.
  std::int64_t noted = 1;
  each([&](const DiskSpace& space) { noted = space.end_is_noted() ? noted : 0; });
  if (agreement_.agree({.call = Call::kClose, .failure = {}, .smallest = noted}).smallest == 1) {
    each([](DiskSpace& space) { space.remove_own(); });
    agreement_.agree({.call = Call::kClose, .failure = {}});
  }
  for (Place& place : places_) {
    if (place.space == nullptr) continue;
    const Failure failure = place.space->remove();
    if (!first) first = failure;
  }
  return first;
}

// Rank 0 looks; the others wait in the agreement.
void Storage::wait_for_lock() {
  if (options_.wait_for_lock <= 0 || stays()) return;
  held_.attempt([&] {
    if (agreement_.rank() == 0) wait_for_holder();
  });
  agree_on_begin();
}

void Storage::wait_for_holder() {
  constexpr double kFirstPause = 0.05, kLongestPause = 1;
  const double start = now_seconds();
  bool said = false;
  for (double pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const double left = options_.wait_for_lock - (now_seconds() - start);
    const auto holder = store::RunDirectory::other_holder(options_.directory, options_.name);
    if (!holder || left <= 0) return;
    if (!said) {
      warnings_.say({store::RunDirectory::path(options_.directory, options_.name), " is held by ",
                     store::describe_holder(*holder, calendar_seconds()), "; waits up to ",
                     format_fixed(options_.wait_for_lock, 0),
                     " s for it to end or to be taken for dead (wait_for_lock)"},
                    ANADROME_LOG_NOTICE);
    }
    said = true;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(pause, left)));
  }
}

void Storage::prepare(const MemoryPlan& memory, bool transports,
                      std::optional<Recovery>& recovery) {
  // A run that went on has the blocks of the process before it, whose memory was another.
  const bool same_blocks = transport() != nullptr && built_for_ == memory.shape;
  reused_ = !changes_ && (!transports || same_blocks);
  if (reused_) return;
  built_ = false;
  give_up();
  const RunId id = new_run_id(agreement_.ranks());
  held_.attempt([&] {
    run_id_ = id.data();
    if (transports && options_.has_fast()) require_two_directories();
  });
  agree_on_begin();
  open(memory, recovery);
  if (transports && options_.has_fast()) {
    open_fast(memory, recovery);
  } else if (recovery) {
    recovery->journal.forget_volume(store::kFast);
  }
  held_.attempt([&] { built_with_ = options_; });
  built_for_ = memory.shape;
  if (!transports) {
    agree_on_begin();
    built_ = true;
    return;
  }
  const bool cores_are_busy = no_core_is_free(agreement_.comm(), agreement_.node());
  for (int volume = 0; volume < volumes(); ++volume)
    held_.attempt([&] { make_transport(memory, volume, cores_are_busy); });
  warn_of_memory();
  built_ = true;
  measured_.begin_disk(cores_are_busy);
  fields_.files_are_made();
}

// Before anything in them is touched. They need not be there yet.
void Storage::require_two_directories() const {
  const std::filesystem::path home = options_.directory, fast = options_.fast.directory;
  std::error_code unknown;  // what is wrong with a directory shows when it is used
  const auto real = [&](const std::filesystem::path& path) {
    const std::filesystem::path found = weakly_canonical(path / "run", unknown);
    return unknown ? path : found;
  };
  if (!equivalent(home, fast, unknown) && real(home) != real(fast)) return;
  throw Error(ANADROME_ERR_ARGUMENT, "the two directories are the same: " + fast.string() + " is " +
                                         home.string() + "; set one, or two that differ");
}

void Storage::make_transport(const MemoryPlan& memory, int volume, bool cores_are_busy) {
  store::TransportOptions options;
  options.remember_writes = options_.resume;
  options.bytes_per_second =
      volume == store::kFast ? options_.fast.bandwidth_limit : options_.bandwidth_limit;
  options.encoding = encoding_of(options_, fields_.state());
  options.cores_are_busy = cores_are_busy;
  options.late = [this, volume, said = false](bool write) mutable {
    if (std::exchange(said, true)) return;
    std::array<char, 16> rank{};
    std::snprintf(rank.data(), rank.size(), "%d", agreement_.rank());
    log_line(ANADROME_LOG_WARNING, {"rank ", rank.data(), " has waited a minute for a ",
                                    write ? "write to " : "read from ", space(volume)->path(),
                                    "; it goes on when the disk answers"});
  };
  of(volume).transport = options_.mpio()
                             ? store::make_mpio_transport(memory.layout, options, fields_.state(),
                                                          space(volume)->file_comm())
                             : store::make_direct_transport(memory.layout, options);
}

// On tmpfs or ramfs states on disk take the memory that they are to save.
void Storage::warn_of_memory() {
  Failure in_memory;
  held_.attempt([&] {
    for (int volume = 0; volume < volumes() && !in_memory; ++volume) {
      const std::string& path = space(volume)->path();
      if (!store::file_system().in_memory(path)) continue;
      in_memory = {ANADROME_ERR_MEMORY, path + " is in memory (tmpfs or ramfs)"};
    }
  });
  const Failure somewhere =
      agreement_.agree({.call = Call::kBegin, .failure = held_.failure(), .lost = in_memory}).lost;
  if (!somewhere) return;
  warnings_.say({somewhere.message,
                 ": states that go to disk take memory there, which the option memory does not "
                 "count; set directory to a disk, or schedule=revolve"});
}

void Storage::make_directory(const MemoryPlan& memory, store::Leftovers leftovers, int volume) {
  std::unique_ptr<DiskSpace> space;
  held_.attempt([&] {
    space = std::make_unique<DiskSpace>(agreement_, options_of(volume), memory.layout,
                                        fields_.state(), run_id_);
    if (volume == store::kHome) words_ = words_of(run_id_);
  });
  agree_on_begin();
  space->open(leftovers);
  of(volume).space = std::move(space);
}

// Transfers of all ranks at once want a block in one place on all of them, which the journals of a
// run that had two directories do not say: on some rank it may be lost.
void Storage::require_places(const store::JournalContents& left) const {
  if (!options_.mpio()) return;
  for (const auto& [number, block] : left.blocks) {
    const bool in_place =
        !block.place || (block.place->volume == store::kHome && block.place->place == number);
    if (in_place) continue;
    throw Error(
        ANADROME_ERR_UNSUPPORTED,
        "the run that was left had two directories, and does not go on with transport=mpio");
  }
}

// The directory, with the files of the run that goes on or without any.
void Storage::open(const MemoryPlan& memory, std::optional<Recovery>& recovery) {
  if (!recovery) return make_directory(memory, store::Leftovers::kRemove, store::kHome);
  make_directory(memory, store::Leftovers::kTakeOver, store::kHome);
  const Failure failure = failure_from([&] {
    require_places(recovery->journal);
    space()->reopen(recovery->journal.segments_on(store::kHome));
  });
  try {
    agreement_.agree({.call = Call::kBegin, .failure = failure});
    words_ = {recovery->journal.header.run_id_low, recovery->journal.header.run_id_high};
  } catch (const Error& error) {
    if (error.status() == ANADROME_ERR_PEER) throw;
    if (error.status() != ANADROME_ERR_CORRUPT) {  // its files may be whole
      failure_from([&] { space()->leave(); });
      of(store::kHome).space.reset();
      throw_untouched(error);
    }
    warnings_.warn({"the run that was left cannot be resumed: ", error.what()});
    recovery.reset();
    give_up();
    make_directory(memory, store::Leftovers::kRemove, store::kHome);
  }
}

// Files that a node took with it, or that cannot be opened somewhere, are lost on all ranks: the
// states at home suffice. A directory that cannot be made is an error, as ever.
void Storage::open_fast(const MemoryPlan& memory, std::optional<Recovery>& recovery) {
  std::vector<store::JournalSegment> segments;
  held_.attempt([&] {
    if (recovery) segments = recovery->journal.segments_on(store::kFast);
  });
  std::int64_t any = segments.empty() ? 0 : 1;
  agreement_.ranks().largest(std::span(&any, 1));
  const auto forget = [&] {
    recovery->journal.forget_volume(store::kFast);
    recovery->lost_fast = true;
  };
  if (any == 0) {
    if (recovery) forget();
    return make_directory(memory, store::Leftovers::kRemove, store::kFast);
  }
  make_directory(memory, store::Leftovers::kTakeOver, store::kFast);
  const Failure failure = failure_from([&] { space(store::kFast)->reopen(segments); });
  const Failure lost =
      agreement_.agree({.call = Call::kBegin, .failure = held_.failure(), .lost = failure}).lost;
  if (!lost) return;
  warnings_.warn({lost.message, "; the states that were in the fast directory are lost"});
  forget();
  remove_directory(store::kFast);
  make_directory(memory, store::Leftovers::kRemove, store::kFast);
}

// What the sweep before wrote takes no room from this one.
Failure Storage::make_first_files(const SweepPlan& plan, int volume) {
  DiskSpace& space = *this->space(volume);
  const bool is_home = volume == store::kHome;
  // x_0's first place is in the fast directory then, and no commit counts without one at home.
  const bool needs_copy = is_home && options_.resume && volumes() > 1;
  if (needs_copy && blocks_on_disk(plan.memory, volume) < 2) {
    throw Error(ANADROME_ERR_NO_SPACE,
                "with resume=on the last directory takes the first state and those that a run goes "
                "on from, and disk=" +
                    std::to_string(options_.disk) + " does not hold two blocks of " +
                    format_bytes(plan.memory.block_bytes_all_ranks) + " there");
  }
  if (reused_ && options_.leaves_holes()) space.clear();
  const bool made = space.capacity() > 0;
  // The begin before may have had room for a block and none for the copy.
  const bool lacks_copy = needs_copy && reused_ && space.copy_of_first_block() == nullptr;
  if ((made && !lacks_copy) || most_blocks(plan.memory, volume) <= 0) return {};
  try {
    if (!made) grow_by(segment_blocks(plan, volume), Call::kBegin, volume);
    if (is_home && blocks_on_disk(plan.memory, volume) > 1) space.make_room_for_copy(Call::kBegin);
  } catch (const Error& error) {
    const bool full = error.status() == ANADROME_ERR_NO_SPACE;
    if (!full && error.status() != ANADROME_ERR_IO) throw;
    if (space.capacity() > 0 && !needs_copy) return {};  // without the copy
    if (!full || (is_home && options_.files_are_read())) throw;
    return Failure(error);
  }
  return {};
}

void Storage::grow(const SweepPlan& plan, Call call, int volume) {
  grow_by(segment_blocks(plan, volume), call, volume);
}

// A disk without room for so many blocks may have it for fewer.
void Storage::grow_by(std::int64_t blocks, Call call, int volume) {
  for (;; blocks = ceil_divide(blocks, 2)) {
    try {
      return space(volume)->grow(blocks, call);
    } catch (const Error& error) {
      if (error.status() != ANADROME_ERR_NO_SPACE || blocks <= 1) throw;
    }
  }
}

// How many blocks the next segment should hold. Segments grow with the run, so that there are few,
// and are bounded, so that little space is reserved in vain.
std::int64_t Storage::segment_blocks(const SweepPlan& plan, int volume) const {
  const std::int64_t capacity = space(volume)->capacity();
  const std::int64_t states = plan.memory.layout.states();
  const std::int64_t steps = plan.sweep != nullptr ? plan.sweep->course().steps : plan.steps;
  const std::int64_t block_bytes = std::max<std::int64_t>(plan.memory.block_bytes_all_ranks, 1);
  const bool unknown = options_.interval == 0 || steps < 0 || volumes() > 1;
  std::int64_t blocks =
      std::max({kSegmentBytes / block_bytes, unknown ? capacity / 4 : capacity, std::int64_t{1}});
  if (unknown) {
    // The number of anchors shows only as the run goes on.
    blocks = std::min(blocks, std::max(kFirstBlocks, capacity));
  }
  if (steps >= 0) {  // no more anchors than steps
    const std::int64_t interval = std::max<std::int64_t>(options_.interval, 1);
    const std::int64_t all =
        ceil_divide(ceil_divide(std::max<std::int64_t>(steps, 1), interval), states);
    blocks = std::min(blocks, std::max<std::int64_t>(all - capacity, 1));
  }
  if (counts_compressed(plan)) return blocks;  // which take no room before they are written
  return std::min(blocks, most_blocks(plan.memory, volume) - capacity);
}

// With the copy of the first block; a few pages per file and 40 bytes per slot describe them.
std::int64_t Storage::blocks_on_disk(const MemoryPlan& memory, int volume) const {
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 61;
  const bool fast = volume == store::kFast;
  const std::int64_t disk = fast ? options_.fast.disk : options_.disk;
  if (disk < 0) return kUnlimited;
  const std::int64_t ranks = agreement_.size();
  const auto fields = std::ssize(fields_.state());
  const std::int64_t files =
      (fast ? options_.fast_layout() : options_.layout) == Layout::kShared ? 1 : ranks;
  const std::int64_t per_block =
      memory.block_bytes_all_ranks + 40 * memory.layout.states() + 16 * ranks;
  // Segments double (segment_blocks); each has its groups, headers and tables of ranks.
  const std::int64_t first = std::clamp<std::int64_t>(kSegmentBytes / per_block, 1, kFirstBlocks);
  const double firsts = real(std::max<std::int64_t>(disk / per_block / first, 1));
  const std::int64_t segments = 4 + std::ilogb(firsts);
  const std::int64_t described =
      files * ((std::int64_t{48} << 10) + fields * (std::int64_t{8} << 10)) + fields * ranks * 600;
  return std::max<std::int64_t>(disk - segments * described, 0) / per_block;
}

// At home one of two or more is for the copy.
std::int64_t Storage::most_blocks(const MemoryPlan& memory, int volume) const {
  const std::int64_t blocks = blocks_on_disk(memory, volume);
  return volume == store::kHome && blocks > 1 ? blocks - 1 : blocks;
}

std::int64_t Storage::blocks_within(const MemoryPlan& memory, double seconds,
                                    std::int64_t written_at_home, std::int64_t written_fast) const {
  const auto left = [&](int volume, std::int64_t written) {
    return std::max<std::int64_t>(most_blocks(memory, volume) - written, 0);
  };
  const double per_block = measured_.agreed().write * static_cast<double>(memory.layout.states());
  const double busy = std::max(measured_.agreed().home_writes, written_fast > 0 ? 0.0 : 1.0);
  return schedule::room_of_both(left(store::kHome, written_at_home),
                                left(store::kFast, written_fast), per_block,
                                seconds - busy * per_block);
}

std::int64_t Storage::expected_blocks(const SweepPlan& plan) const {
  if (volumes() > 1) {
    const bool known =
        measured_.of_earlier_sweep() && plan.steps != schedule::kUnknown && options_.interval == 0;
    const double forward = measured_.costs(plan.memory.largest_state_bytes).forward;
    const double seconds = known ? static_cast<double>(plan.steps) * forward : schedule::kForEver;
    // x_0 goes to disk though there is no time for it.
    const bool has_room =
        most_blocks(plan.memory, store::kHome) > 0 || most_blocks(plan.memory, store::kFast) > 0;
    return std::max<std::int64_t>(blocks_within(plan.memory, seconds, 0, 0), has_room ? 1 : 0);
  }
  const std::int64_t most = most_blocks(plan.memory);
  return counts_compressed(plan) ? blocks_in(static_cast<double>(most)) : most;
}

std::int64_t Storage::expected_blocks(const SweepPlan& plan, const Begun& begun) const {
  const double taken =
      measured_.agreed().filled.taken + measured_.share_of_block() * begun.uncounted();
  return begun.blocks +
         blocks_in(static_cast<double>(most_blocks(plan.memory, store::kHome)) - taken);
}

// One has to fit in full size; the others are expected to take as much as those before.
std::int64_t Storage::blocks_in(double left) const {
  constexpr double kLeastShare = 1e-4, kMost = 1e12;
  const double share = std::max(measured_.share_of_block(), kLeastShare);
  return left < 1 ? 0 : 1 + static_cast<std::int64_t>(std::min((left - 1) / share, kMost));
}

bool Storage::allows_a_block(const SweepPlan& plan, const Begun& begun) const {
  const double taken = measured_.agreed().filled.taken + begun.uncounted();
  return taken + 1 <= static_cast<double>(most_blocks(plan.memory, store::kHome));
}

void Storage::throw_too_small(const MemoryPlan& memory) const {
  throw Error(
      ANADROME_ERR_NO_SPACE,
      "disk=" + std::to_string(options_.disk) + " does not hold " +
          format_bytes(memory.block_bytes_all_ranks) +
          ", the least that is written at once, and what describes it in the files; raise disk, or "
          "take schedule=revolve");
}

}  // namespace anadrome::engine
