// SPDX-License-Identifier: BSD-2-Clause
// Enzyme's loops, on the interfaces of streams and stores alone. The driver does what the actions
// say; a snapshot is an object of the store under the number of its slot.
#include <anadrome/enzyme.h>
#include <anadrome/schedule.h>
#include <anadrome/store.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/c/enzyme_table.h"
#include "base/byte_size.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/words.h"
#include "device/at_once.h"

namespace {

using anadrome::Error;
using anadrome::device::copy_at_once;

constexpr std::int64_t kUnknown = -1, kMostSlots = std::int64_t{1} << 30;

void check(anadrome_status status) {
  if (status != ANADROME_OK) throw Error(status, anadrome_last_error());
}

class Loop {
 public:
  Loop(const anadrome_enzyme_data& data, std::int64_t steps, std::int64_t snapshot_bytes)
      : comm_(data.comm) {
    std::string of_store, of_schedule = "record=1 steps=";
    of_schedule += steps == kUnknown ? "unknown" : std::to_string(steps);
    std::optional<std::int64_t> memory;
    bool has_schedule = false;
    anadrome::each_setting(data.options, [&](std::string_view key, std::string_view value) {
      if (key == "steps" || key == "record" || key == "keep") {
        throw Error(ANADROME_ERR_ARGUMENT, "option " + std::string(key) + " is not the caller's");
      }
      constexpr std::array<std::string_view, 6> kOfStore = {
          "memory", "directory", "name", "disk", "transport", "bandwidth_limit"};
      const bool is_of_store = std::find(kOfStore.begin(), kOfStore.end(), key) != kOfStore.end();
      ((is_of_store ? of_store : of_schedule) += ' ').append(key).append("=").append(value);
      if (key == "memory") memory = anadrome::parse_bytes(value);
      has_schedule = has_schedule || key == "schedule";
      if (key == "slots") slots_ = anadrome::parse_count("slots", value, 1, kMostSlots);
    });
    if (!memory) throw Error(ANADROME_ERR_ARGUMENT, "set the option memory");
    if (!has_schedule) of_schedule += " schedule=revolve";
    // Beside the two of the driver, and what blocks take that are not full.
    const std::int64_t fit = *memory / std::max<std::int64_t>(snapshot_bytes, 1);
    const std::int64_t least =
        agree_on(of_schedule, std::clamp<std::int64_t>(fit - 3, 1, kMostSlots));
    if (slots_ == 0) {
      slots_ = least;
      of_schedule += " slots=" + std::to_string(slots_);
    }
    if (steps != 0) check(anadrome_schedule_open(of_schedule.c_str(), &schedule_));
    check(anadrome_store_open(comm_, of_store.c_str(), &store_));
  }
  ~Loop() { anadrome_schedule_close(&schedule_); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  MPI_Comm comm() const { return comm_; }

  EnzymeCkptAction next() {
    if (schedule_ == nullptr) return {ENZYME_CKPT_DONE, 0, 0, -1};
    if (recorded_) return turn();
    for (;;) {
      anadrome_schedule_action action{};
      check(anadrome_schedule_next(schedule_, &action));
      switch (action.kind) {
        case ANADROME_SCHEDULE_ADVANCE: {
          // The driver's turn has the recorded step in it, and its adjoint.
          const std::int64_t end = action.record != 0 ? action.last - 1 : action.last;
          if (action.record != 0) recorded_ = end;
          if (action.first < end) return {ENZYME_CKPT_FORWARD, end, action.first, -1};
          return turn();
        }
        case ANADROME_SCHEDULE_KEEP:
          return {ENZYME_CKPT_STORE, action.first, action.first, number(action)};
        case ANADROME_SCHEDULE_RESTORE:
          return {ENZYME_CKPT_RESTORE, action.first, action.first, number(action)};
        case ANADROME_SCHEDULE_DROP:
          check(anadrome_store_drop(store_, number(action)));
          break;
        case ANADROME_SCHEDULE_DONE:
          return {ENZYME_CKPT_DONE, 0, 0, -1};
        default:  // TURN and ADJOINT: within the turns of the driver
          break;
      }
    }
  }

  void store(std::int64_t slot, const EnzymeCkptRegion* regions, std::uint64_t count) {
    const std::vector<anadrome_part> parts = parts_of(regions, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (is_on_device(regions[i]))
        copy_at_once(parts[i].values, regions[i].ptr, regions[i].bytes, regions[i].ptr);
    }
    check(anadrome_store_put(store_, slot, static_cast<int>(parts.size()), parts.data()));
  }
  void restore(std::int64_t slot, const EnzymeCkptRegion* regions, std::uint64_t count) {
    const std::vector<anadrome_part> parts = parts_of(regions, count);
    check(anadrome_store_get(store_, slot, static_cast<int>(parts.size()), parts.data()));
    for (std::uint64_t i = 0; i < count; ++i) {
      if (is_on_device(regions[i]))
        copy_at_once(regions[i].ptr, parts[i].values, regions[i].bytes, regions[i].ptr);
    }
  }
  void end(std::int64_t steps) { check(anadrome_schedule_end(schedule_, steps)); }
  void close() { check(anadrome_store_close(&store_)); }

 private:
  // Ranks whose snapshots are larger than those of others have memory for fewer of them, and all
  // run one schedule. Returns the fewest. Collective.
  std::int64_t agree_on(const std::string& schedule, std::int64_t slots) const {
    const auto hash = static_cast<std::int64_t>(anadrome::hash_of(schedule));
    std::array<std::int64_t, 3> least = {slots, hash, ~hash};
    MPI_Allreduce(MPI_IN_PLACE, least.data(), 3, MPI_INT64_T, MPI_MIN, comm_);
    if (least[1] == ~least[2]) return least[0];
    throw Error(
        ANADROME_ERR_ARGUMENT,
        "the steps or the options of the schedule differ between ranks: here '" + schedule + "'");
  }

  EnzymeCkptAction turn() {
    const std::int64_t step = *recorded_;
    recorded_.reset();
    const std::int32_t flag = turned_ ? ENZYME_CKPT_UTURN : ENZYME_CKPT_FIRSTUTURN;
    turned_ = true;
    return {flag, step + 1, step, -1};
  }
  // Slots on disk follow those in memory.
  std::int64_t number(const anadrome_schedule_action& action) const {
    return action.tier == 0 ? action.slot : slots_ + action.slot;
  }
  // LLVM's number of a GPU's global memory, for NVIDIA's and AMD's alike.
  static bool is_on_device(const EnzymeCkptRegion& region) { return region.addrspace == 1; }
  // Regions of a device are copied to and from memory here.
  std::vector<anadrome_part> parts_of(const EnzymeCkptRegion* regions, std::uint64_t count) {
    if (staging_.size() < count) staging_.resize(count);
    while (names_.size() < count) names_.push_back("r" + std::to_string(names_.size()));
    std::vector<anadrome_part> parts;
    for (std::uint64_t i = 0; i < count; ++i) {
      void* place = regions[i].ptr;
      if (is_on_device(regions[i])) {
        staging_[i].resize(regions[i].bytes);
        place = staging_[i].data();
      } else if (regions[i].addrspace != 0) {
        throw Error(ANADROME_ERR_UNSUPPORTED, "a snapshot has memory of address space " +
                                                  std::to_string(regions[i].addrspace) +
                                                  "; only the host's and a device's global one "
                                                  "can be kept");
      }
      parts.push_back({names_[i].c_str(), ANADROME_BYTE, regions[i].bytes, place});
    }
    return parts;
  }

  const MPI_Comm comm_;
  std::int64_t slots_ = 0;
  anadrome_schedule* schedule_ = nullptr;  ///< NULL without steps
  anadrome_store* store_ = nullptr;
  std::optional<std::int64_t> recorded_;  ///< the step whose turn comes next
  bool turned_ = false;
  std::vector<std::string> names_;               ///< of parts
  std::vector<std::vector<std::byte>> staging_;  ///< by region
};

[[noreturn]] void end_program(MPI_Comm comm, const char* why) {
  std::fprintf(stderr, "anadrome: a loop of Enzyme's cannot go on: %s\n", why);
  MPI_Abort(comm, 1);
  std::abort();
}

template <class Body>
void in_loop(void* state, Body&& body) {
  Loop& loop = *static_cast<Loop*>(state);
  try {
    body(loop);
  } catch (const std::exception& error) {
    end_program(loop.comm(), error.what());
  }
}

void* init(void* data, std::int64_t steps, std::uint64_t snapshot_bytes) {
  const auto* given = static_cast<const anadrome_enzyme_data*>(data);
  if (given == nullptr || given->size != sizeof *given || given->options == nullptr) {
    end_program(MPI_COMM_WORLD, "the data of anadrome_enzyme_scheme is no anadrome_enzyme_data");
  }
  try {
    return new Loop(*given, steps, static_cast<std::int64_t>(snapshot_bytes));
  } catch (const std::exception& error) {
    end_program(given->comm, error.what());
  }
}

constexpr EnzymeCheckpointScheme kScheme = {
    .version = 1,
    .init = init,
    .next_action =
        [](void* state, EnzymeCkptAction* out) {
          in_loop(state, [&](Loop& loop) { *out = loop.next(); });
        },
    .store =
        [](void* state, std::int64_t slot, std::int64_t, const EnzymeCkptRegion* regions,
           std::uint64_t count) {
          in_loop(state, [&](Loop& loop) { loop.store(slot, regions, count); });
        },
    .restore =
        [](void* state, std::int64_t slot, std::int64_t, const EnzymeCkptRegion* regions,
           std::uint64_t count) {
          in_loop(state, [&](Loop& loop) { loop.restore(slot, regions, count); });
        },
    .set_nsteps = [](void* state,
                     std::int64_t steps) { in_loop(state, [&](Loop& loop) { loop.end(steps); }); },
    .finalize =
        [](void* state) {
          in_loop(state, [](Loop& loop) { loop.close(); });
          delete static_cast<Loop*>(state);
        },
    .save_state = nullptr,
    .load_state = nullptr,
    .set_paths = nullptr};

}  // namespace

const EnzymeCheckpointScheme* anadrome_enzyme_scheme() { return &kScheme; }
