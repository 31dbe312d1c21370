// SPDX-License-Identifier: BSD-2-Clause
// Four faults that rings of device, host and disk had that were written by hand, each as a test.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "device_model.h"
#include "device_run.h"
#include "fake_device.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

constexpr std::size_t kState = 2 * 160 * 2048;
constexpr std::int64_t kManySteps = 60;

Result run_with(const std::string& options, DeviceModel& model,
                const std::function<void(const anadrome_action&)>& look = {}) {
  Handle run(options);
  EXPECT_EQ(model.add_fields(run), ANADROME_OK);
  Result result = sweep(run, model, kManySteps, look);
  EXPECT_EQ(run.close(), ANADROME_OK);
  return result;
}

std::string states(const char* option, int count) {
  return std::string(" ") + option + "=" +
         std::to_string(count * static_cast<int>(kState) + 70000) + "B";
}

TEST(FaultsOfRings, ASlotIsNotWrittenAgainBeforeItsCopyHasEnded) {
  const Numbers expected = reference_gradient(kElements, kManySteps);
  for (const bool exchanged : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      fake_device::seed(seed);
      DeviceModel model(kElements, exchanged);
      const Result result =
          run_with("schedule=async interval=1 checkpoints=1" + states("memory", 3) +
                       states("device_memory", exchanged ? 3 : 2),
                   model);
      EXPECT_EQ(result.gradient, expected) << result.message;
    }
  }
}

TEST(FaultsOfRings, FewBlocksMakeNobodyWaitForEver) {
  const Numbers expected = reference_gradient(kElements, kManySteps);
  for (const int blocks : {1, 2, 3}) {
    for (const int slots : {1, 2}) {
      DeviceModel model(kElements);
      const Result result = run_with(
          "schedule=async interval=2" + states("memory", blocks) + states("device_memory", slots),
          model);
      EXPECT_EQ(result.gradient, expected) << result.message;
    }
  }
}

TEST(FaultsOfRings, HostMemoryDoesNotGrowWithTheSteps) {
  DeviceModel model(kElements);
  fake_device::reset_counts();
  const Result result = run_with(
      "schedule=async interval=1" + states("memory", 4) + states("device_memory", 3), model);
  ASSERT_EQ(result.status, ANADROME_OK) << result.message;
  EXPECT_LE(result.stats.peak_library_bytes, result.stats.memory_bytes);
  EXPECT_LE(fake_device::counts().peak_pinned_bytes,
            static_cast<std::size_t>(result.stats.memory_bytes));
}

// The kernels of the forward sweep are all queued before the host has waited for one of them.
TEST(FaultsOfRings, CopiesRunBesideTheSteps) {
  DeviceModel model(kElements);
  const Result result = run_with(
      "schedule=async interval=4 audit=off" + states("memory", 40) + states("device_memory", 4),
      model, [&](const anadrome_action& action) {
        if (action.kind == ANADROME_ADVANCE && action.first == 0) fake_device::reset_counts();
        if (action.kind != ANADROME_TURN) return;
        EXPECT_EQ(fake_device::counts().host_waits, 0);
        EXPECT_GT(fake_device::counts().copies, kManySteps / 4);
      });
  ASSERT_EQ(result.status, ANADROME_OK) << result.message;
}

}  // namespace
