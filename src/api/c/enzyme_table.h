// SPDX-License-Identifier: BSD-2-Clause
// What Enzyme and a scheme share, by the documentation of Enzyme's checkpoint.h, ABI version 1.
// Enzyme's names, since it is Enzyme's table; tests/enzyme compares with a copy of theirs.
#pragma once

#include <cstdint>

enum : std::int32_t {
  ENZYME_CKPT_STORE = 1,
  ENZYME_CKPT_RESTORE = 2,
  ENZYME_CKPT_FORWARD = 3,
  ENZYME_CKPT_FIRSTUTURN = 4,
  ENZYME_CKPT_UTURN = 5,
  ENZYME_CKPT_ERROR = 6,
  ENZYME_CKPT_DONE = 7
};

struct EnzymeCkptAction {
  std::int32_t flag;
  std::int64_t iteration, startiteration, cpnum;
};

struct EnzymeCkptRegion {
  void* ptr;
  std::uint64_t bytes;
  std::uint32_t addrspace, flags;
};

struct EnzymeCheckpointScheme {
  std::uint32_t version;
  void* (*init)(void* data, std::int64_t nsteps, std::uint64_t snapshot_bytes);
  void (*next_action)(void* state, EnzymeCkptAction* out);
  void (*store)(void* state, std::int64_t slot, std::int64_t step, const EnzymeCkptRegion* regions,
                std::uint64_t nregions);
  void (*restore)(void* state, std::int64_t slot, std::int64_t step,
                  const EnzymeCkptRegion* regions, std::uint64_t nregions);
  void (*set_nsteps)(void* state, std::int64_t nsteps);
  void (*finalize)(void* state);
  void (*save_state)(void* state, std::int64_t slot, std::int64_t step, void* env);
  void (*load_state)(void* state, std::int64_t slot, std::int64_t step, void* env);
  void (*set_paths)(void* state, const std::int64_t* paths, std::uint64_t len);
};
