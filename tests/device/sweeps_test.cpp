// SPDX-License-Identifier: BSD-2-Clause
// States on a device: the gradient's bits are those of all states kept, whatever the device does
// first.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "device_model.h"
#include "device_run.h"
#include "fake_device.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

std::uint64_t seeds() {
  const char* const many = std::getenv("ANADROME_TEST_SEEDS");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : (ranks() == 1 ? 2 : 1);
}

struct Case {
  std::string name, options;
  bool exchanged = false, default_stream = false, tape = false;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool exchanged : {false, true}) {
    const double live = exchanged ? 2 : 0;
    const auto add = [&](const std::string& name, const std::string& options, double host,
                         double device) {
      all.push_back(
          {name + (exchanged ? "Exchanged" : ""), options + sized(host, device + live), exchanged});
    };
    const std::string async = "schedule=async interval=";
    for (const double slots : {1.0, 3.0, 40.0}) {
      const std::string number = std::to_string(static_cast<int>(slots));
      add("Revolve" + number, "schedule=revolve", 2, slots);
      add("AsyncBy3And" + number, async + "3", 8, slots);
    }
    add("Auto", "", 9, 4);
    add("AllStates", "schedule=store_all", 2, 30);
    add("FewBlocks", async + "2", 2.1, 3);
    add("OneBlock", async + "4", 1.05, 3);
    add("OneBlockAndSlot", async + "2", 1.05, 1);
    add("Lz4", async + "3 compress=lz4", 10, 3);
    add("Mpio", async + "3 transport=mpio", 8, 3);
    add("EveryStateToDisk", async + "1 checkpoints=1", 6, 2);
    add("FewBlocksOfEveryState", async + "1 checkpoints=1", 3.1, 2);
    add("Audited", async + "3 audit=exact", 8, 3);
  }
  for (const double slots : {1.0, 5.0}) {
    const std::string number = std::to_string(static_cast<int>(slots));
    all.push_back({"RevolveOnTheHost" + number, "schedule=revolve" + sized(slots + 0.1, 0)});
    all.push_back({"AsyncOnTheHost" + number, "schedule=async interval=3" + sized(slots + 1, 0)});
  }
  all.push_back({"Tapes", "schedule=revolve" + sized(9, 0), false, false, true});
  all.push_back({"TapesBeside", "schedule=async interval=4" + sized(9, 0), false, false, true});
  all.push_back({"TapesMixed", "schedule=mixed" + sized(9, 0), false, false, true});
  all.push_back({"Undo", "schedule=undo" + sized(11, 0)});
  all.push_back({"UndoBesideSlots", "schedule=undo" + sized(11, 3)});
  all.push_back({"DefaultStream", "schedule=async interval=3" + sized(8, 3), false, true});
  return all;
}

class DeviceSweeps : public testing::TestWithParam<Case> {};

TEST_P(DeviceSweeps, HaveTheBitsOfAllStates) {
  const Case& how = GetParam();
  if (how.options.find("mpio") != std::string::npos && !ANADROME_TEST_MPI) return;
  const Numbers expected = reference_gradient(elements(), kSteps, how.tape);
  // A slot is written again soonest where there is one.
  const bool one_slot = how.options.find("checkpoints=1") != std::string::npos;
  for (std::uint64_t seed = 1; seed <= (one_slot ? 3 : 1) * seeds(); ++seed) {
    fake_device::seed(seed + 1000 * static_cast<std::uint64_t>(rank()));
    DeviceModel model(elements(), how.exchanged, how.default_stream, how.tape);
    fake_device::reset_counts();
    {
      Handle run(how.options);
      ASSERT_EQ(model.add_fields(run), ANADROME_OK) << anadrome_last_error();
      const Result result = sweep(run, model, kSteps);
      ASSERT_EQ(result.status, ANADROME_OK) << result.message;
      EXPECT_EQ(result.gradient, expected) << "seed " << seed;
      EXPECT_LE(result.stats.peak_library_bytes, result.stats.memory_bytes);
      EXPECT_LE(fake_device::counts().peak_pinned_bytes,
                static_cast<std::size_t>(result.stats.memory_bytes));
      if (!how.exchanged)
        model.start(run);  // the caller goes on with its arrays, which nobody copies to any more
      EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
    }
    EXPECT_TRUE(how.tape || fake_device::counts().unpinned_copies == 0)
        << fake_device::counts().unpinned_copies;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceSweeps, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

TEST(DeviceRuns, LeaveNothingOnTheDevice) {
  const auto before = fake_device::counts();
  {
    DeviceModel model(elements());
    Handle run("schedule=async interval=3" + sized(8, 3));
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(sweep(run, model, kSteps).status, ANADROME_OK) << anadrome_last_error();
  }
  const auto after = fake_device::counts();
  EXPECT_EQ(after.bytes, before.bytes);
  EXPECT_EQ(after.pinned_bytes, 0U);
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.contexts_entered, 0);
}

TEST(DeviceRuns, KeepToBothBudgets) {
  for (const bool exchanged : {false, true}) {
    DeviceModel model(kElements, exchanged);
    fake_device::reset_counts();
    const std::size_t own = fake_device::counts().bytes;
    const std::size_t field = (kElements * sizeof(double) + 255) / 256 * 256, state = 2 * field;
    Handle run("schedule=async interval=3 audit=off memory=4MiB device_memory=" +
               std::to_string(7 * state + 11) + "B");
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    const Result result = sweep(run, model, 100);
    ASSERT_EQ(result.status, ANADROME_OK) << result.message;
    EXPECT_EQ(fake_device::counts().peak_bytes - own, 7 * state);
    EXPECT_EQ(result.stats.checkpoint_slots, exchanged ? 5 : 6);
    EXPECT_LE(result.stats.peak_library_bytes, 4 << 20);
    EXPECT_LE(fake_device::counts().peak_pinned_bytes, std::size_t{4} << 20);
  }
}

TEST(DeviceRuns, DoNotMakeTheHostWait) {
  const std::string without = " audit=off";
  for (const char* options :
       {"schedule=revolve", "schedule=store_all", "schedule=async interval=4"}) {
    for (const bool exchanged : {false, true}) {
      for (const bool on_device : {true, false}) {
        if (exchanged && !on_device) continue;
        DeviceModel model(elements(), exchanged);
        Handle run(options + without + sized(60, on_device ? 32 : 0));
        ASSERT_EQ(model.add_fields(run), ANADROME_OK);
        fake_device::reset_counts();
        const Result result = sweep(run, model, kSteps, [&](const anadrome_action& action) {
          // From the first restore on a plan with a disk needs states that are being written.
          const bool kept = std::string(options).find("async") != std::string::npos;
          if (action.kind == ANADROME_TURN || (!kept && action.kind == ANADROME_ADJOINT)) {
            EXPECT_EQ(fake_device::counts().host_waits, 0) << options << exchanged << on_device;
          }
        });
        ASSERT_EQ(result.status, ANADROME_OK) << result.message;
      }
    }
  }
}

// The kernels of the forward sweep are all queued before the host has waited for one of them.
TEST(DeviceRuns, CopyBesideTheSteps) {
  constexpr std::int64_t kManySteps = 60;
  DeviceModel model(kElements);
  Handle run("schedule=async interval=4 audit=off" + sized(40, 4));
  ASSERT_EQ(model.add_fields(run), ANADROME_OK);
  const Result result = sweep(run, model, kManySteps, [&](const anadrome_action& action) {
    if (action.kind == ANADROME_ADVANCE && action.first == 0) fake_device::reset_counts();
    if (action.kind != ANADROME_TURN) return;
    EXPECT_EQ(fake_device::counts().host_waits, 0);
    EXPECT_GT(fake_device::counts().copies, kManySteps / 4);
  });
  ASSERT_EQ(result.status, ANADROME_OK) << result.message;
}

// Who leaves in the middle of a sweep finds nothing copied later, not from and not to memory that
// is gone.
TEST(DeviceRuns, EndAtAnyMoment) {
  for (const bool exchanged : {false, true}) {
    for (const char* options : {"schedule=revolve", "schedule=async interval=2"}) {
      for (int actions = 1; actions < 40; actions += exchanged ? 13 : 5) {
        DeviceModel model(elements(), exchanged);
        Handle run(options + std::string(" audit=off") +
                   sized(7.1, exchanged || actions % 2 != 0 ? 4 : 0));
        ASSERT_EQ(model.add_fields(run), ANADROME_OK);
        ASSERT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
        model.start(run);
        anadrome_action action;
        for (int i = 0; i < actions; ++i) {
          ASSERT_EQ(anadrome_next(run, &action), ANADROME_OK) << anadrome_last_error();
          if (!model.act(run, action)) break;
        }
        if (actions % 3 == 0) {
          EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
          model.start(run);
          EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK) << anadrome_last_error();
        }
        const std::int64_t before = fake_device::counts().copies_into_nothing;
        EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
        fake_device::synchronize(model.stream());
        EXPECT_EQ(fake_device::counts().copies_into_nothing, before);
      }
    }
  }
}

TEST(DeviceRuns, GoBackAgain) {
  const Numbers expected = reference_gradient(elements(), kSteps);
  for (const bool exchanged : {false, true}) {
    for (const char* options :
         {"schedule=revolve", "schedule=async interval=3", "schedule=async interval=3 passes=1"}) {
      DeviceModel model(elements(), exchanged);
      Handle run(options + sized(8, 5));
      ASSERT_EQ(model.add_fields(run), ANADROME_OK);
      EXPECT_EQ(sweep(run, model, kSteps).gradient, expected);
      for (int again = 0; again < 2; ++again) {
        const bool passes = std::string(options).find("passes") != std::string::npos;
        const anadrome_status status =
            passes && again == 0 ? anadrome_pass(run, ANADROME_PASS_REVERSE) : anadrome_rewind(run);
        ASSERT_EQ(status, ANADROME_OK) << anadrome_last_error();
        const Result result = play(run, model);
        ASSERT_EQ(result.status, ANADROME_OK) << result.message;
        EXPECT_EQ(result.gradient, expected) << options;
      }
    }
  }
}

TEST(DeviceRuns, GoOnAfterAStop) {
  const Numbers expected = reference_gradient(elements(), kSteps);
  for (const bool exchanged : {false, true}) {
    for (const int stop_at : {11, 47}) {
      const std::string options =
          "schedule=async interval=3 resume=on checkpoint_interval=0" + sized(12, 4);
      bool stopped = false;
      for (int life = 0; life < 2; ++life) {
        DeviceModel model(elements(), exchanged);
        Handle run(options);
        ASSERT_EQ(model.add_fields(run), ANADROME_OK);
        ASSERT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
        anadrome_phase phase = ANADROME_PHASE_IDLE;
        std::int64_t step = 0;
        ASSERT_EQ(anadrome_resumed(run, &phase, &step), ANADROME_OK);
        EXPECT_EQ(phase != ANADROME_PHASE_IDLE, life == 1 && stopped);
        if (phase == ANADROME_PHASE_IDLE) model.start(run);
        int action = 0;
        const Result result = play(run, model, [&](const anadrome_action&) {
          if (life == 0 && ++action == stop_at) anadrome_request_stop(run);
        });
        stopped = result.status == ANADROME_STOPPED;
        if (stopped) continue;
        ASSERT_EQ(result.status, ANADROME_OK) << result.message;
        EXPECT_EQ(result.gradient, expected) << stop_at;
        break;
      }
      EXPECT_FALSE(stopped);
    }
  }
}

class WithContext : public testing::Environment {
 public:
  void SetUp() override { fake_device::make_context(); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new WithContext);

}  // namespace
