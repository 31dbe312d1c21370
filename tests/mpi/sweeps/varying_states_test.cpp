// SPDX-License-Identifier: BSD-2-Clause
// States whose size changes from step to step and differs between ranks, as on an adaptive mesh.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 40, kMostCells = 250;

// Its state grows and shrinks from step to step, on each rank in its own way. Every value of x_k
// follows from k, the rank and its place, so that each restored state can be checked.
class VaryingModel {
 public:
  VaryingModel() { go_to(0); }
  VaryingModel(const VaryingModel&) = delete;
  VaryingModel& operator=(const VaryingModel&) = delete;

  // `cells`, of changing size, and the number of the step.
  anadrome_status add_fields(anadrome_run* run) {
    const anadrome_status status = anadrome_add_varying(run, "cells", ANADROME_ROLE_STATE,
                                                        8 * kMostCells, size, pack, unpack, this);
    if (status != ANADROME_OK) return status;
    return add_number(run, "step", step_);
  }
  // A state that is not that of its step is a failure of the test.
  anadrome_status sweep(anadrome_run* run, bool unknown = false) {
    go_to(0);
    const anadrome_status status = anadrome_begin(run, unknown ? ANADROME_STEPS_UNKNOWN : kSteps);
    return status == ANADROME_OK ? play(run, unknown) : status;
  }
  anadrome_status pass(anadrome_run* run, anadrome_direction direction) {
    scramble();
    const anadrome_status status = anadrome_pass(run, direction);
    return status == ANADROME_OK ? play(run, false) : status;
  }

  std::int64_t outgrows_at = -1;  ///< more cells from this step on than were registered; none: -1
  std::int64_t visited = 0;       ///< in the last pass

  static std::size_t size(void* self) {
    return 8 * static_cast<VaryingModel*>(self)->cells_.size();
  }
  static int pack(void* self, void* buffer, std::size_t bytes) {
    const auto& model = *static_cast<VaryingModel*>(self);
    if (bytes > 0) std::memcpy(buffer, model.cells_.data(), bytes);
    return bytes == 8 * model.cells_.size() ? 0 : 1;
  }
  static int unpack(void* self, const void* buffer, std::size_t bytes) {
    auto& model = *static_cast<VaryingModel*>(self);
    model.cells_.resize(bytes / 8);
    if (bytes > 0) std::memcpy(model.cells_.data(), buffer, bytes);
    return 0;
  }

 private:
  // Rises and falls, here sooner and there later; and nothing at all from time to time.
  std::int64_t cells_at(std::int64_t step) const {
    if (outgrows_at >= 0 && step >= outgrows_at) return kMostCells + 1;
    const std::int64_t phase = (step + 2 * rank()) % 40;
    return (phase < 20 ? phase : 40 - phase) * (kMostCells / 20);
  }
  static double value_of(std::int64_t step, std::size_t place) {
    return static_cast<double>(step) + 1000.0 * rank() + 1e-3 * static_cast<double>(place);
  }
  void go_to(std::int64_t step) {
    step_ = step;
    cells_.resize(static_cast<std::size_t>(cells_at(step)));
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] = value_of(step, i);
  }
  bool holds(std::int64_t step) const {
    bool right = step_ == step && std::ssize(cells_) == cells_at(step);
    for (std::size_t i = 0; i < cells_.size(); ++i) right = right && cells_[i] == value_of(step, i);
    return right;
  }
  void scramble() {
    step_ = -1;
    std::fill(cells_.begin(), cells_.end(), -1.0);
  }

  anadrome_status play(anadrome_run* run, bool unknown) {
    visited = 0;
    const anadrome_status status = follow(run, ANADROME_OK, [&](const anadrome_action& action) {
      visited += action.kind == ANADROME_VISIT ? 1 : 0;
      const bool undefined = action.kind == ANADROME_TURN && action.again != 0;
      EXPECT_TRUE(undefined || holds(action.first))
          << "step " << action.first << ", kind " << action.kind;
      if (action.kind == ANADROME_ADVANCE) {
        go_to(std::min(action.last, kSteps));
        if (unknown && action.again == 0 && action.last >= kSteps) {
          EXPECT_EQ(anadrome_finish_forward(run, kSteps), ANADROME_OK) << anadrome_last_error();
          unknown = false;
        }
      } else if (action.kind == ANADROME_ADJOINT) {
        scramble();
      }
    });
    if (status == ANADROME_OK && visited == 0) {
      EXPECT_TRUE(holds(0)) << "at DONE";
    }
    return status;
  }

  std::int64_t step_ = 0;
  std::vector<double> cells_;
};

void prepare(RunHandle& run, VaryingModel& model, const std::string& schedule,
             std::int64_t memory) {
  run.set("schedule", schedule);
  run.set("memory", std::to_string(memory) + "B");
  EXPECT_EQ(model.add_fields(run), ANADROME_OK) << anadrome_last_error();
}

TEST(VaryingStates, ComeBackInEveryScheduleAndInPasses) {
  using Case = std::tuple<const char*, std::int64_t, bool>;
  for (const auto& [schedule, memory, unknown] :
       {Case{"store_all", 1 << 20, false}, Case{"revolve", 16 << 10, true},
        Case{"revolve", 64 << 10, false}, Case{"async", 64 << 10, true},
        Case{"async", 64 << 10, false}}) {
    SCOPED_TRACE(std::string(schedule) + (unknown ? ", unknown" : ""));
    VaryingModel model;
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, memory);
    if (!unknown) run.set("passes", "3");
    for (int sweep = 0; sweep < 2; ++sweep) {
      EXPECT_EQ(model.sweep(run, unknown), ANADROME_OK) << anadrome_last_error();
      for (const anadrome_direction direction :
           {ANADROME_PASS_FORWARD, ANADROME_PASS_REVERSE, ANADROME_PASS_FORWARD}) {
        if (unknown) continue;
        EXPECT_EQ(model.pass(run, direction), ANADROME_OK) << anadrome_last_error();
        EXPECT_EQ(model.visited, direction == ANADROME_PASS_FORWARD ? kSteps : 0);
      }
      EXPECT_LE(run.statistics().peak_library_bytes, run.statistics().memory_bytes);
    }
  }
}

TEST(VaryingStates, AreOfStateFieldsWithAllCallbacksAndAnErrorOnAllRanksWhereOneOutgrowsIts) {
  for (const char* schedule : {"revolve", "async"}) {
    VaryingModel model;
    if (rank() == ranks() - 1) model.outgrows_at = 9;
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, 128 << 10);
    EXPECT_EQ(model.sweep(run), ANADROME_ERR_ARGUMENT) << schedule;
    EXPECT_TRUE(has_part(anadrome_last_error(), "'cells' takes"));
    EXPECT_EQ(anadrome_add_varying(run, "x", ANADROME_ROLE_TAPE, 8, VaryingModel::size,
                                   VaryingModel::pack, VaryingModel::unpack, &model),
              ANADROME_ERR_UNSUPPORTED);
    EXPECT_EQ(anadrome_add_varying(run, "x", ANADROME_ROLE_STATE, 8, nullptr, VaryingModel::pack,
                                   VaryingModel::unpack, &model),
              ANADROME_ERR_ARGUMENT);
  }
}

// More than a preflight packs for itself, and nothing at all on the last of several ranks: its
// callbacks are called all the same, for they may call MPI, as these do.
TEST(PackedStates, AreAskedForAlikeOnARankThatHasNothing) {
  const bool none = ranks() > 1 && rank() == ranks() - 1;
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 0, 0, 0, none ? 0U : 2'400'000U});
  const Reference reference(model, 8);
  model.callbacks_meet = true;
  for (const char* schedule : {"revolve", "async"}) {
    SCOPED_TRACE(schedule);
    RunHandle run(model, {{"schedule", schedule}, {"memory", "16MiB"}});
    SweepDriver(run, model, reference).exact_sweep(8);
  }
}

}  // namespace
