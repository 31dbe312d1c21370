// SPDX-License-Identifier: BSD-2-Clause
// States on a device: the gradient's bits are those of all states kept, whatever the device does
// first.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <anadrome/gradient.h>

#include "core.h"
#include "device_model.h"
#include "fake_device.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 23;
constexpr std::size_t kElements = 40000;  // 320 kB a field: a block holds one state

// The last of many ranks has nothing on its device.
std::size_t elements() {
  return ranks() > 2 && rank() == ranks() - 1 ? 0
                                              : kElements + 17 * static_cast<std::size_t>(rank());
}

std::string mebibytes(double states) {
  return std::to_string(static_cast<std::int64_t>(states * 1.01 * 2 * (kElements + 100) * 8)) + "B";
}

class Handle {
 public:
  explicit Handle(const std::string& options) {
    EXPECT_EQ(anadrome_open(MPI_COMM_WORLD, &run_), ANADROME_OK);
    anadrome_set(run_, "directory", directory().c_str());
    anadrome_set(run_, "warnings", "off");
    set_options(run_, options);
  }
  ~Handle() { anadrome_close(&run_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator anadrome_run*() const { return run_; }  // NOLINT(google-explicit-constructor)
  anadrome_status close() { return anadrome_close(&run_); }

 private:
  anadrome_run* run_ = nullptr;
};

std::uint64_t seeds() {
  const char* const many = std::getenv("ANADROME_TEST_SEEDS");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : (ranks() == 1 ? 2 : 1);
}

bool everywhere(bool here) {
  int all = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

struct Case {
  std::string name, options;
  bool exchanged = false, default_stream = false, tape = false;
};

std::string sized(double host, double device) {
  return " memory=" + mebibytes(host) + " device_memory=" + (device == 0 ? "0" : mebibytes(device));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, const std::string& options, bool exchanged) {
    all.push_back({name + (exchanged ? "Exchanged" : ""), options, exchanged});
  };
  for (const bool exchanged : {false, true}) {
    const double live = exchanged ? 2 : 0;
    for (const double slots : {1.0, 2.0, 5.0, 40.0}) {
      const std::string number = std::to_string(static_cast<int>(slots));
      add("Revolve" + number, "schedule=revolve" + sized(2, slots + live), exchanged);
      add("AsyncBy3And" + number, "schedule=async interval=3" + sized(8, slots + live), exchanged);
    }
    add("Auto", sized(9, 4 + live), exchanged);
    add("AllStates", "schedule=store_all" + sized(2, 30 + live), exchanged);
    add("FewBlocks", "schedule=async interval=2" + sized(2.1, 3 + live), exchanged);
    add("OneBlock", "schedule=async interval=4" + sized(1.05, 3 + live), exchanged);
    add("Lz4", "schedule=async interval=3 compress=lz4" + sized(10, 3 + live), exchanged);
    add("Mpio", "schedule=async interval=3 transport=mpio" + sized(8, 3 + live), exchanged);
    add("EveryStateToDisk", "schedule=async interval=1 checkpoints=1" + sized(6, 2 + live),
        exchanged);
    add("Audited", "schedule=async interval=3 audit=exact preflight=3" + sized(8, 3 + live),
        exchanged);
    add("Unaudited", "schedule=async interval=5 audit=off preflight=off" + sized(8, 3 + live),
        exchanged);
  }
  for (const double slots : {1.0, 2.0, 5.0, 40.0}) {
    const std::string number = std::to_string(static_cast<int>(slots));
    add("RevolveOnTheHost" + number, "schedule=revolve" + sized(slots + 0.1, 0), false);
    add("AsyncOnTheHost" + number, "schedule=async interval=3" + sized(slots + 1, 0), false);
  }
  all.push_back({"Tapes", "schedule=revolve" + sized(9, 0), false, false, true});
  all.push_back({"TapesBeside", "schedule=async interval=4" + sized(9, 0), false, false, true});
  all.push_back({"TapesMixed", "schedule=mixed" + sized(9, 0), false, false, true});
  all.push_back({"DefaultStream", "schedule=async interval=3" + sized(8, 3), false, true});
  return all;
}

class DeviceSweeps : public testing::TestWithParam<Case> {};

TEST_P(DeviceSweeps, HaveTheBitsOfAllStates) {
  const Case& how = GetParam();
  if (how.options.find("mpio") != std::string::npos && !ANADROME_TEST_MPI) return;
  const Numbers expected = reference_gradient(elements(), kSteps, how.tape);
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
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
  const std::string without = " audit=off preflight=off";
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

// Who leaves in the middle of a sweep finds nothing copied later, not from and not to memory that
// is gone.
TEST(DeviceRuns, EndAtAnyMoment) {
  for (const bool exchanged : {false, true}) {
    for (const char* options : {"schedule=revolve", "schedule=async interval=2"}) {
      for (int actions = 1; actions < 40; actions += exchanged ? 7 : 3) {
        DeviceModel model(elements(), exchanged);
        Handle run(options + std::string(" audit=off preflight=off") +
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
    for (const int stop_at : {4, 11, 30, 47}) {
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

TEST(DeviceFaults, ACopyThatFailsIsAnErrorOnEveryRank) {
  for (const char* options : {"schedule=revolve", "schedule=async interval=3"}) {
    for (const double device : {0.0, 4.0}) {
      for (const int copy : {0, 1, 5, 12, 20, 40}) {
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
    EXPECT_NE(result.message.find("the device did not finish"), std::string::npos)
        << result.message;
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
  none.turn = [](void*, std::int64_t) { return 0; };
  none.adjoint = [](void*, std::int64_t) { return 0; };
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
    anadrome_status status = ANADROME_OK;
    while (status == ANADROME_OK && action.kind != ANADROME_DONE)
      status = anadrome_next(run, &action);
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
    Handle run("schedule=async interval=2 preflight=off" + sized(4, 2));
    ASSERT_EQ(anadrome_set_device(run, &table), ANADROME_OK);
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    if (rank() == 0) driver.fails_at = event;
    const Result result = sweep(run, model, kSteps);
    EXPECT_TRUE(result.status == ANADROME_ERR_IO || result.status == ANADROME_ERR_PEER) << event;
    EXPECT_NE(result.message.find("error 77"), std::string::npos) << result.message;
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
  EXPECT_NE(std::string(anadrome_last_error()).find("field 'u'"), std::string::npos)
      << anadrome_last_error();
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_UNSUPPORTED) << "what was refused is missing";
  EXPECT_EQ(anadrome_set_device(run, nullptr), ANADROME_ERR_ARGUMENT);
  anadrome_device_operations operations = {};
  EXPECT_EQ(anadrome_set_device(run, &operations), ANADROME_ERR_ARGUMENT);
  operations.size = sizeof operations;
  EXPECT_EQ(anadrome_set_device(run, &operations), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_device(nullptr, &operations), ANADROME_ERR_ARGUMENT);
}

TEST(DeviceFields, OfExchangedStatesNeedMemoryThere) {
  for (const char* memory : {"0", "1000000B"}) {
    DeviceModel model(kElements, true);
    Handle run(std::string("schedule=revolve device_memory=") + memory);
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_MEMORY);
    const std::string message = anadrome_last_error();
    EXPECT_NE(message.find("at least 1920000 bytes"), std::string::npos) << message;
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

TEST(DeviceFields, WithTapesHaveNoSlotsThere) {
  DeviceModel model(kElements, false, false, true);
  Handle run("schedule=revolve device_memory=4MiB");
  ASSERT_EQ(model.add_fields(run), ANADROME_OK);
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_UNSUPPORTED);
}

class WithContext : public testing::Environment {
 public:
  void SetUp() override { fake_device::make_context(); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new WithContext);

}  // namespace
