// SPDX-License-Identifier: BSD-2-Clause
#include "varying_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi_main.h"

namespace anadrome::test {
namespace {

double value_of(std::int64_t step, int rank, std::size_t place) {
  return static_cast<double>(step) + 1000.0 * rank + 1e-3 * static_cast<double>(place);
}

}  // namespace

VaryingModel::VaryingModel(std::int64_t most_cells) : rank_(rank()), most_cells_(most_cells) {
  go_to(0);
}

// Rises and falls, here sooner and there later; and nothing at all from time to time.
std::int64_t VaryingModel::cells_at(std::int64_t step) const {
  if (outgrows_at >= 0 && step >= outgrows_at) return most_cells_ + 1;
  const std::int64_t phase = (step + 2 * rank_) % 40;
  return (phase < 20 ? phase : 40 - phase) * (most_cells_ / 20) / divisor;
}

std::vector<std::int64_t> VaryingModel::bytes(std::int64_t steps) const {
  std::vector<std::int64_t> bytes;
  for (std::int64_t k = 0; k < steps; ++k) {
    bytes.push_back(8 * (cells_at(k) + 1));
  }
  return bytes;
}

anadrome_status VaryingModel::add_fields(anadrome_run* run) {
  const auto most = static_cast<std::size_t>(8 * most_cells_);
  const anadrome_status status =
      anadrome_add_varying(run, "cells", ANADROME_ROLE_STATE, most, size, pack, unpack, this);
  if (status != ANADROME_OK) return status;
  return anadrome_add_field(run, "step", ANADROME_ROLE_STATE, ANADROME_INT64, &step_, 1);
}

std::size_t VaryingModel::size(void* self) {
  return 8 * static_cast<VaryingModel*>(self)->cells_.size();
}

int VaryingModel::pack(void* self, void* buffer, std::size_t bytes) {
  const auto& model = *static_cast<VaryingModel*>(self);
  if (bytes > 0) std::memcpy(buffer, model.cells_.data(), bytes);
  return bytes == 8 * model.cells_.size() ? 0 : 1;
}

int VaryingModel::unpack(void* self, const void* buffer, std::size_t bytes) {
  auto& model = *static_cast<VaryingModel*>(self);
  model.cells_.resize(bytes / 8);
  if (bytes > 0) std::memcpy(model.cells_.data(), buffer, bytes);
  return 0;
}

void VaryingModel::go_to(std::int64_t step) {
  step_ = step;
  cells_.resize(static_cast<std::size_t>(cells_at(step)));
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] = value_of(step, rank_, i);
}

bool VaryingModel::holds(std::int64_t step) const {
  if (step_ != step || static_cast<std::int64_t>(cells_.size()) != cells_at(step)) return false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i] != value_of(step, rank_, i)) return false;
  }
  return true;
}

void VaryingModel::scramble() {
  step_ = -1;
  std::fill(cells_.begin(), cells_.end(), -1.0);
}

anadrome_status VaryingModel::sweep(anadrome_run* run, std::int64_t steps, bool unknown) {
  go_to(0);
  furthest_ = 0;
  const anadrome_status status = anadrome_begin(run, unknown ? ANADROME_STEPS_UNKNOWN : steps);
  return status == ANADROME_OK ? play(run, steps, unknown) : status;
}

anadrome_status VaryingModel::sweep_again(anadrome_run* run, std::int64_t steps) {
  scramble();
  const anadrome_status status = anadrome_rewind(run);
  return status == ANADROME_OK ? play(run, steps, false, true) : status;
}

anadrome_status VaryingModel::pass(anadrome_run* run, std::int64_t steps,
                                   anadrome_direction direction) {
  scramble();
  const anadrome_status status = anadrome_pass(run, direction);
  return status == ANADROME_OK ? play(run, steps, false, true) : status;
}

anadrome_status VaryingModel::play(anadrome_run* run, std::int64_t steps, bool unknown,
                                   bool once_more) {
  advances = visited = 0;
  std::int64_t checked = -1;  // the step that was run last, again
  bool turned = once_more;
  anadrome_status status = ANADROME_OK;
  anadrome_action action;
  while (status == ANADROME_OK && (status = anadrome_next(run, &action)) == ANADROME_OK) {
    visited = action.kind == ANADROME_VISIT ? visited + 1 : visited;
    const bool undefined = (action.kind == ANADROME_TURN && action.again != 0) ||
                           (action.kind == ANADROME_DONE && visited > 0);
    EXPECT_TRUE(undefined || holds(action.first))
        << "step " << action.first << ", kind " << action.kind;
    if (action.kind == ANADROME_DONE) break;
    if (action.kind == ANADROME_ADVANCE) {
      const std::int64_t last = std::min(action.last, steps);
      // No parts of the sweep: steps before TURN, and one before its own adjoint step.
      const bool preflight = action.again != 0 && !turned;
      if (!preflight) advances += last - action.first;
      const bool may_be_checked = turned && !once_more && action.again != 0;
      checked = may_be_checked && last == action.first + 1 ? action.first : -1;
      furthest_ = std::max(furthest_, last);
      go_to(last);
      if (unknown && action.again == 0 && action.last >= steps) {
        EXPECT_EQ(anadrome_finish_forward(run, steps), ANADROME_OK) << anadrome_last_error();
        unknown = false;
      }
    } else if (action.kind == ANADROME_TURN) {
      turned = true;
    } else if (action.kind == ANADROME_ADJOINT) {
      if (std::exchange(checked, -1) == action.first) --advances;
      scramble();
    }
  }
  return status;
}

}  // namespace anadrome::test
