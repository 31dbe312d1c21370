// SPDX-License-Identifier: BSD-2-Clause
// From a budget in bytes to numbers of blocks and slots, the same on every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "engine/device/device_plan.h"
#include "engine/ranks/agreement.h"
#include "store/memory/block_layout.h"
#include "store/moving/encoded_part.h"

namespace anadrome::engine {

using store::DiskUse;

/// A rank's memory does not suffice; `needed` bytes would.
class TooLittleMemory final : public Error {
 public:
  TooLittleMemory(std::int64_t needed, std::string_view message) noexcept
      : Error(ANADROME_ERR_MEMORY, message), needed_(needed) {}
  std::int64_t needed() const { return needed_; }

 private:
  std::int64_t needed_;
};

struct MemoryPlan {
  store::BlockShape shape;
  store::BlockLayout layout;
  store::BlockLayout slots;  ///< of states in slots, in the same blocks
  bool single = false;       ///< these are in single precision; x_0 is not
  std::int64_t pool_block_bytes = 0;
  std::int64_t blocks = 0;  ///< in the pool, the minimum over ranks
  /// Of these, no schedule's: for x_k and x_{k+1} of exchanged fields, and for what is read from
  /// home beside what is read from a fast volume.
  std::int64_t set_aside = 0;
  std::int64_t buffer_bytes = 0;           ///< for these beside the pool, on this rank
  std::int64_t bytes_per_block = 0;        ///< with its share of all bookkeeping, on this rank
  std::int64_t largest_state_bytes = 0;    ///< on any rank
  std::int64_t largest_slot_bytes = 0;     ///< of a state in a slot, on any rank
  std::int64_t block_bytes_all_ranks = 0;  ///< of one block, on all ranks together
  std::int64_t prefetch_depth = 0;         ///< blocks read ahead; 0 without disk
  std::int64_t checkpoint_slots = 0;       ///< s of E(n, s)
  DevicePlan device;                       ///< with slots, the pool has none

  /// Slots where nothing is read ahead.
  std::int64_t all_slots() const {
    return device.slots > 0 ? device.slots : (blocks - set_aside - 1) * slots.states() + 1;
  }
};

enum class Precision { kAsItIs, kSingle };

/// Least `memory` with which a sweep can run on this rank: one state and its bookkeeping, laid out
/// as `largest_state_bytes`, the most of any rank, has it, or as `given_shape` says. `encoding`: of
/// what goes to disk.
std::int64_t least_memory(std::span<const store::Field> state_fields,
                          std::int64_t largest_state_bytes, DiskUse disk,
                          const std::optional<store::Encoding>& encoding,
                          const store::BlockShape* given_shape = nullptr);

/// Least `memory` in which plan_memory has room for `states` states without disk, the same on all
/// ranks; 2^62 if it is no less. Collective.
std::int64_t memory_for_states(Agreement& agreement, std::span<const store::Field> state_fields,
                               std::int64_t states, Precision slots = Precision::kAsItIs);

/// The contents of a pool, and the memory for it.
struct PoolDemand {
  std::span<const store::Field> state_fields;
  std::int64_t memory = 0;
  DiskUse disk = DiskUse::kNone;
  std::int64_t states = 0;  ///< at most; schedule::kUnknown: as many as fit
  Precision slots = Precision::kAsItIs;
  const store::Encoding* encoding = nullptr;       ///< of what goes to disk, if it is encoded
  const store::BlockShape* given_shape = nullptr;  ///< the blocks have it already
  bool two_volumes = false;
};

/// Lay out the pool. Collective. The result has blocks == 0 if not even one block fits on some
/// rank. With slots in single precision and no disk x_0 lies beside the pool.
MemoryPlan plan_memory(Agreement& agreement, const PoolDemand& demand);
/// Bytes that encoding takes beside the pool.
std::int64_t encoding_bytes(const store::BlockLayout& layout, DiskUse disk,
                            const store::Encoding* encoding);

}  // namespace anadrome::engine
