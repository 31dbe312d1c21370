// SPDX-License-Identifier: BSD-2-Clause
// What may be wrong on a device, with its driver, or with what is asked of it: an error on every
// rank, and no wrong number.
#include <anadrome/gradient.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "core.h"
#include "device_model.h"
#include "device_run.h"
#include "fake_device.h"
#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"

namespace {

using namespace anadrome::test;

TEST(DeviceFaults, ACopyThatFailsIsAnErrorOnEveryRank) {
  for (const char* options : {"schedule=revolve", "schedule=async interval=3"}) {
    for (const double device : {0.0, 4.0}) {
      for (const int copy : {0, 5, 20}) {
        fake_device::make_context();
        bool right = false, failed = false;
        {
          DeviceModel model(elements());
          Handle run(options + sized(8, device));
          ASSERT_EQ(model.add_fields(run), ANADROME_OK);
          if (rank() == 0) fake_device::fail_copy_after(copy);
          const Result result = sweep(run, model, kSteps);
          failed = result.status == ANADROME_ERR_IO || result.status == ANADROME_ERR_PEER;
          right = result.status == ANADROME_OK &&
                  result.gradient == reference_gradient(elements(), kSteps);
          fake_device::fail_copy_after(-1);
        }
        EXPECT_TRUE(everywhere(failed) || everywhere(right)) << options << " " << copy;
        EXPECT_TRUE(everywhere(failed) || copy > 12) << options << " " << copy;
      }
    }
  }
}

// For the last ones nothing waits but the sweep's end.
TEST(DeviceFaults, EachCopyThatFailsIsHeardOf) {
  constexpr std::int64_t kFew = 4;
  std::int64_t copies = 0;
  for (std::int64_t fails = -1; fails < copies; ++fails) {
    fake_device::make_context();
    DeviceModel model(kElements);
    Handle run("schedule=async interval=2" + sized(8, 2));
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    fake_device::reset_counts();
    fake_device::fail_copy_after(fails);
    const Result result = sweep(run, model, kFew);
    if (fails < 0) copies = fake_device::counts().copies;
    fake_device::fail_copy_after(-1);
    EXPECT_EQ(result.status == ANADROME_OK, fails < 0) << "copy " << fails << " of " << copies;
  }
  EXPECT_GT(copies, kFew);
}

TEST(DeviceFaults, ACopyThatNeverEndsIsAnErrorWithAWatchdog) {
  fake_device::make_context();
  for (const int copy : {0, 7}) {
    DeviceModel model(elements());
    Handle run("schedule=async interval=2 watchdog=1" + sized(2.1, 2));
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    if (rank() == 0) fake_device::hang_copy_after(copy);
    const Result result = sweep(run, model, kSteps);
    fake_device::hang_copy_after(-1);
    EXPECT_TRUE(result.status == ANADROME_ERR_IO || result.status == ANADROME_ERR_PEER)
        << result.message;
    EXPECT_TRUE(has_part(result.message, "the device did not finish"));
  }
}

TEST(DeviceFaults, AnExchangedGradientIsNotChecked) {
  DeviceModel model(kElements, true);
  Handle run("schedule=revolve" + sized(2, 5));
  ASSERT_EQ(model.add_fields(run), ANADROME_OK);
  anadrome_model none = {};
  none.size = sizeof none;
  none.start = [](void*) { return 0; };
  none.advance = [](void*, std::int64_t, std::int64_t, std::int64_t*) { return 0; };
  none.turn = none.adjoint = [](void*, std::int64_t) { return 0; };
  anadrome_gradient gradient = {};
  gradient.size = sizeof gradient;
  anadrome_gradient_check check = {};
  check.size = sizeof check;
  EXPECT_EQ(anadrome_check_gradient(run, 3, &none, &gradient, &check), ANADROME_ERR_UNSUPPORTED)
      << anadrome_last_error();
}

TEST(DeviceFaults, AContextThatIsGoneIsAnError) {
  void* const context = fake_device::make_context();
  {
    auto* const model = new DeviceModel(elements());  // its memory goes with the context
    Handle run("schedule=async interval=3" + sized(8, 3));
    ASSERT_EQ(model->add_fields(run), ANADROME_OK);
    ASSERT_EQ(anadrome_begin(run, kSteps), ANADROME_OK);
    model->start(run);
    anadrome_action action;
    ASSERT_EQ(anadrome_next(run, &action), ANADROME_OK);
    fake_device::destroy_context(context);
    const anadrome_status status = follow(run, ANADROME_OK, [](const anadrome_action&) {});
    EXPECT_TRUE(status == ANADROME_ERR_IO || status == ANADROME_ERR_PEER) << anadrome_last_error();
  }
  fake_device::make_context();
}

// A driver of the caller's own, which counts, and one of whose events fails.
struct Driver {
  std::atomic<std::int64_t> calls = 0, fails_at = -1;  // of events that the I/O thread waits for
  const std::thread::id caller = std::this_thread::get_id();
  anadrome_device_operations table() {
    namespace core = fake_device::core;
    anadrome_device_operations all = {};
    all.size = sizeof all;
    all.context = this;
    all.owner = [](void* me, const void* pointer, void** device) {
      ++static_cast<Driver*>(me)->calls;
      return pointer == nullptr ? core::current(device) : core::context_of(pointer, device);
    };
    all.enter = [](void*, void* device) { return core::push(device); };
    all.leave = [](void*) {
      void* context = nullptr;
      return core::pop(&context);
    };
    all.make_stream = [](void*, void** stream) { return core::make_stream(stream); };
    all.destroy_stream = [](void*, void* stream) { return core::destroy_stream(stream); };
    all.make_event = [](void*, void** event) { return core::make_event(event); };
    all.destroy_event = [](void*, void* event) { return core::destroy_event(event); };
    all.record = [](void*, void* event, void* stream) { return core::record(event, stream); };
    all.query = [](void* me, void* event) {
      auto& driver = *static_cast<Driver*>(me);
      const int code = core::query(event);
      const bool by_io_thread = std::this_thread::get_id() != driver.caller;
      if (code == 0 && by_io_thread && driver.fails_at >= 0 && driver.fails_at-- == 0) return 77;
      return code == core::kNotReady ? -1 : code;
    };
    all.follow = [](void*, void* stream, void* event) { return core::follow(stream, event); };
    all.seconds = [](void*, void* begin, void* end, double* seconds) {
      float milliseconds = 0;
      const int code = core::elapsed(&milliseconds, begin, end);
      *seconds = milliseconds;
      return code;
    };
    all.copy = [](void* me, void* to, const void* from, std::size_t bytes, void* stream) {
      ++static_cast<Driver*>(me)->calls;
      return core::copy(to, from, bytes, stream);
    };
    all.pin = [](void*, void* memory, std::size_t bytes) { return core::pin(memory, bytes); };
    all.unpin = [](void*, void* memory) { return core::unpin(memory); };
    all.allocate = [](void*, std::size_t bytes, void** memory) {
      return core::allocate(memory, bytes);
    };
    all.release = [](void*, void* memory) { return core::release(memory); };
    return all;
  }
};

TEST(DeviceDrivers, OfTheCallerAreUsed) {
  for (const bool exchanged : {false, true}) {
    Driver driver;
    const anadrome_device_operations table = driver.table();
    DeviceModel model(elements(), exchanged);
    Handle run("schedule=async interval=3" + sized(8, 5));
    ASSERT_EQ(anadrome_set_device(run, &table), ANADROME_OK) << anadrome_last_error();
    ASSERT_EQ(model.add_fields(run), ANADROME_OK) << anadrome_last_error();
    const Result result = sweep(run, model, kSteps);
    ASSERT_EQ(result.status, ANADROME_OK) << result.message;
    EXPECT_EQ(result.gradient, reference_gradient(elements(), kSteps));
    EXPECT_TRUE(driver.calls > 30 || elements() == 0) << driver.calls;
  }
}

TEST(DeviceDrivers, AnEventThatFailsEndsTheSweep) {
  for (const std::int64_t event : {0, 3}) {
    Driver driver;
    const anadrome_device_operations table = driver.table();
    DeviceModel model(elements());
    Handle run("schedule=async interval=2 audit=off" + sized(4, 2));
    ASSERT_EQ(anadrome_set_device(run, &table), ANADROME_OK);
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    if (rank() == 0) driver.fails_at = event;
    const Result result = sweep(run, model, kSteps);
    EXPECT_TRUE(result.status == ANADROME_ERR_IO || result.status == ANADROME_ERR_PEER) << event;
    EXPECT_TRUE(has_part(result.message, "error 77"));
  }
}

// A device whose events come one after the other, each a while after the one before.
struct SlowDriver {
  static constexpr double kSeconds = 0.008;
  anadrome_device_operations fast;
  std::mutex mutex;
  std::map<void*, std::int64_t> numbers;
  std::int64_t recorded = 0;
  double began = 0;

  anadrome_device_operations table(anadrome_device_operations all) {
    fast = all;
    all.record = [](void* context, void* event, void* stream) {
      const std::lock_guard lock(slow->mutex);
      slow->numbers[event] = ++slow->recorded;
      return slow->fast.record(context, event, stream);
    };
    all.query = [](void* context, void* event) {
      const std::lock_guard lock(slow->mutex);
      if (slow->began == 0) slow->began = MPI_Wtime();
      const double passed = MPI_Wtime() - slow->began;
      if (static_cast<double>(slow->numbers[event]) * kSeconds > passed) return -1;
      return slow->fast.query(context, event);
    };
    return all;
  }
  static SlowDriver* slow;
};
SlowDriver* SlowDriver::slow = nullptr;

TEST(DeviceDrivers, ASlowDeviceIsNoFaultOfAWatchdog) {
  for (const char* options : {"schedule=revolve", "schedule=async interval=3"}) {
    Driver driver;
    SlowDriver slow;
    SlowDriver::slow = &slow;
    const anadrome_device_operations table = slow.table(driver.table());
    DeviceModel model(elements());
    Handle run(options + std::string(" audit=off watchdog=0.5") + sized(8, 5));
    ASSERT_EQ(anadrome_set_device(run, &table), ANADROME_OK);
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    const Result result = sweep(run, model, kSteps);
    EXPECT_EQ(result.status, ANADROME_OK) << result.message;
    EXPECT_EQ(result.gradient, reference_gradient(elements(), kSteps));
    EXPECT_TRUE(elements() == 0 ||
                static_cast<double>(slow.recorded) * SlowDriver::kSeconds > 2 * 0.5)
        << slow.recorded;
    EXPECT_EQ(run.close(), ANADROME_OK);
  }
}

TEST(DeviceFields, AreChecked) {
  DeviceModel model(kElements);
  double here = 0;
  Handle run("");
  const auto add = [&](void* values, std::size_t count) {
    return anadrome_add_device_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, values, count,
                                     nullptr);
  };
  EXPECT_EQ(add(nullptr, 3), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(add(&here, 1), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "field 'u'"));
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_UNSUPPORTED) << "what was refused is missing";
  EXPECT_EQ(anadrome_set_device(run, nullptr), ANADROME_ERR_ARGUMENT);
  for (const std::size_t size : {std::size_t{0}, sizeof(anadrome_device_operations)}) {
    anadrome_device_operations operations = {};
    operations.size = size;
    EXPECT_EQ(anadrome_set_device(run, &operations), ANADROME_ERR_ARGUMENT);
    EXPECT_EQ(anadrome_set_device(nullptr, &operations), ANADROME_ERR_ARGUMENT);
  }
  DeviceModel with_tape(kElements, false, false, true);
  Handle other("schedule=revolve device_memory=4MiB");
  ASSERT_EQ(with_tape.add_fields(other), ANADROME_OK);
  EXPECT_EQ(anadrome_begin(other, 3), ANADROME_ERR_UNSUPPORTED) << "tapes have no slots there";
}

TEST(DeviceFields, OfExchangedStatesNeedMemoryThere) {
  for (const char* memory : {"0", "1000000B"}) {
    DeviceModel model(kElements, true);
    Handle run(std::string("schedule=revolve device_memory=") + memory);
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_MEMORY);
    EXPECT_TRUE(has_part(anadrome_last_error(), "at least 1920000 bytes"));
  }
  fake_device::limit_memory(fake_device::counts().bytes + 10 * kElements * sizeof(double));
  {
    DeviceModel model(kElements, true);
    Handle run("schedule=revolve device_memory=1GiB");
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    EXPECT_EQ(anadrome_begin(run, 100), ANADROME_ERR_MEMORY);
  }
  fake_device::limit_memory(std::size_t{1} << 31);
}

TEST(DeviceFields, AreTheSameOnAllRanks) {
  if (ranks() == 1) return;
  std::vector<double> here(3);
  void* const there = fake_device::allocate(24);
  {
    Handle run("schedule=revolve");
    const anadrome_status status =
        rank() == 0
            ? anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, here.data(), 3)
            : anadrome_add_device_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, there, 3,
                                        nullptr);
    ASSERT_EQ(status, ANADROME_OK);
    EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT);
  }
  fake_device::release(there);
}

}  // namespace
