// SPDX-License-Identifier: BSD-2-Clause
// States that lossy compression changes on their way to disk: by no more than was asked for, in
// fields of real numbers alone, the same in every run, and never unasked.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 16;

// Steps do not spread an error, and enlarge it by 5 % at most.
struct LossyModel {
  std::vector<double> real, free;  ///< `free` has a tolerance of its own
  std::vector<float> single;
  std::vector<std::int64_t> integers;
  std::vector<char> packed;

  explicit LossyModel(std::size_t count)
      : real(count), free(count / 2), single(count), integers(count / 3), packed(1000) {}
  bool operator==(const LossyModel&) const = default;

  void start() {
    for (std::size_t i = 0; i < real.size(); ++i) real[i] = 5 + std::sin(1e-3 * double(i));
    for (std::size_t i = 0; i < free.size(); ++i) free[i] = std::cos(1e-3 * double(i));
    for (std::size_t i = 0; i < single.size(); ++i) single[i] = 1e-3F * float(i % 1000);
    for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = std::int64_t(i) << 40;
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = char(i % 100);
  }
  void step(std::int64_t k) {
    for (double& value : real) value += 0.05 * std::sin(value + double(k));
    for (double& value : free) value += 0.05 * std::sin(value - double(k));
    for (float& value : single) value += 0.05F * std::sin(value);
    for (std::int64_t& value : integers) value = 3 * value + k;
    for (char& value : packed) value = char(value * 7 + int(k));
  }
  static int pack(void* context, void* buffer, std::size_t bytes) {
    std::memcpy(buffer, static_cast<LossyModel*>(context)->packed.data(), bytes);
    return 0;
  }
  static int unpack(void* context, const void* buffer, std::size_t bytes) {
    std::memcpy(static_cast<LossyModel*>(context)->packed.data(), buffer, bytes);
    return 0;
  }
  void add_to(anadrome_run* run) {
    add_array(run, "real", real);
    add_array(run, "free", free);
    add_array(run, "single", single);
    add_array(run, "integers", integers);
    anadrome_add_packed(run, "packed", ANADROME_ROLE_STATE, packed.size(), pack, unpack, this);
    const auto count = static_cast<std::int64_t>(real.size());
    const std::int64_t sizes[] = {100, count / 100};
    EXPECT_EQ(anadrome_set_shape(run, "real", 2, sizes), ANADROME_OK) << anadrome_last_error();
    EXPECT_EQ(anadrome_set_tolerance(run, "free", 1e-3), ANADROME_OK) << anadrome_last_error();
  }
  // The largest difference of each field of real numbers.
  template <class Real>
  static double difference(const std::vector<Real>& some, const std::vector<Real>& others) {
    double most = 0;
    for (std::size_t i = 0; i < some.size(); ++i)
      most = std::max(most, std::abs(double(some[i]) - double(others[i])));
    return most;
  }
};

class LossySweep : public testing::Test {
 protected:
  // On one rank nothing.
  static std::size_t count() { return ranks() > 1 && rank() == ranks() - 1 ? 0 : 60'000; }

  LossySweep() : model_(count()) {
    model_.start();
    states_.push_back(model_);
    for (std::int64_t k = 0; k < kSteps; ++k) {
      model_.step(k);
      states_.push_back(model_);
    }
  }

  // The states from which steps were adjoined.
  std::vector<LossyModel> sweep(anadrome_run* run) {
    const anadrome_status begun = anadrome_begin(run, kSteps);
    model_.start();
    std::vector<LossyModel> found = play(run, begun);
    EXPECT_TRUE(model_ == states_.front()) << "x_0 is the caller's";
    return found;
  }
  // The states that a sweep or a pass, which began so, saw in its order.
  std::vector<LossyModel> play(anadrome_run* run, anadrome_status begun) {
    std::vector<LossyModel> found;
    const auto act = [&](const anadrome_action& action) {
      take_steps(action, [this](std::int64_t k) { model_.step(k); });
      if (action.kind == ANADROME_ADVANCE && action.again == 0) {
        EXPECT_TRUE(model_ == states_[std::size_t(action.last)]) << "only what is read is changed";
      }
      if (action.kind == ANADROME_VISIT || action.kind == ANADROME_ADJOINT) found.push_back(model_);
    };
    EXPECT_EQ(follow(run, begun, act), ANADROME_OK) << anadrome_last_error();
    return found;
  }

  /// Integers and packed fields are exact; the largest difference of the fields `real`, `free` and
  /// `single`.
  std::array<double, 3> differences(const std::vector<LossyModel>& found) const {
    EXPECT_EQ(found.size(), std::size_t(kSteps));
    std::array<double, 3> most = {};
    for (std::size_t i = 0; i < found.size(); ++i) {
      const LossyModel& wanted = states_[std::size_t(kSteps) - 1 - i];
      EXPECT_TRUE(found[i].integers == wanted.integers && found[i].packed == wanted.packed);
      most[0] = std::max(most[0], LossyModel::difference(found[i].real, wanted.real));
      most[1] = std::max(most[1], LossyModel::difference(found[i].free, wanted.free));
      most[2] = std::max(most[2], LossyModel::difference(found[i].single, wanted.single));
    }
    return most;
  }

  LossyModel model_;
  std::vector<LossyModel> states_;
};

class Lossy : public LossySweep, public testing::WithParamInterface<const char*> {
 protected:
  void prepare(RunHandle& run, const char* schedule, const char* limit) {
    model_.add_to(run);
    run.set("schedule", schedule);
    if (std::string(schedule) == "async") run.set("interval", "3");
    run.set("compress", GetParam());
    if (std::string(GetParam()) != "float32") run.set("tolerance", "1e-4");
    run.set("memory", "7MiB");
    run.set("bandwidth_limit", limit);
  }

  void expect_close(const std::vector<LossyModel>& found, bool changed) {
    const auto most = differences(found);
    if (count() == 0) return;
    const bool float32 = std::string(GetParam()) == "float32";
    constexpr double kGrowth = 2.2;  // of an error, in as many steps
    EXPECT_TRUE(most[0] > 0 || !changed);
    EXPECT_LE(most[0], kGrowth * (float32 ? 1e-6 : 7e-4));
    EXPECT_LE(most[1], kGrowth * (float32 ? 1e-6 : 1e-3));
    EXPECT_LE(most[2], float32 ? 0 : kGrowth * 3e-4);
  }
};

TEST_P(Lossy, StatesAreWithinTheTolerance) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "async", "none");
  expect_close(sweep(run), true);
  const anadrome_stats stats = run.statistics();
  EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
  EXPECT_GT(stats.states_written, 0);
}

// What of the states is in memory when they are wanted depends on the disk's speed. Codecs that
// choose by it have other bits.
TEST_P(Lossy, BitsDoNotDependOnWhatIsStillInMemory) {
  if (std::string(GetParam()) == "lossy") return;
  std::vector<std::vector<LossyModel>> found;
  for (const char* limit : {"none", "20MB/s"}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "async", limit);
    for (int i = 0; i < 2; ++i) found.push_back(sweep(run));
  }
  for (const auto& others : found) EXPECT_TRUE(others == found.front());
}

// Whatever is in memory when a pass begins: what the sweep left, or another pass.
TEST_P(Lossy, PassesInAnyOrderSeeTheSame) {
  if (std::string(GetParam()) == "lossy") return;
  for (const char* interval : {"3", "7"}) {
    SCOPED_TRACE(interval);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "async", "none");
    run.set("interval", interval);
    run.set("passes", "4");
    sweep(run);
    std::vector<LossyModel> first;
    for (const anadrome_direction direction : {ANADROME_PASS_FORWARD, ANADROME_PASS_REVERSE,
                                               ANADROME_PASS_REVERSE, ANADROME_PASS_FORWARD}) {
      std::vector<LossyModel> found = play(run, anadrome_pass(run, direction));
      if (direction == ANADROME_PASS_FORWARD) std::reverse(found.begin(), found.end());
      expect_close(found, true);
      if (first.empty()) first = found;
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(found[i] == first[i]) << "step " << std::size_t(kSteps) - 1 - i;
    }
  }
}

TEST_P(Lossy, NothingIsChangedInMemory) {
  if (std::string(GetParam()) == "float32") return;  // which changes what is kept there, too
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "revolve", "none");
  const std::vector<LossyModel> found = sweep(run);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i] == states_[std::size_t(kSteps) - 1 - i]);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Lossy, testing::Values("float32", "round", "zfp", "lossy"));

TEST(Tolerances, OfFieldsThatCannotHaveThemAreRefused) {
  RunHandle run(MPI_COMM_WORLD);
  LossyModel model(600);
  model.add_to(run);
  const std::int64_t sizes[] = {3, 201};
  EXPECT_EQ(anadrome_set_shape(run, "real", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(anadrome_last_error(), "600 elements, not 603"));
  EXPECT_EQ(anadrome_set_shape(run, "real", 1, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_shape(run, "packed", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_shape(run, "other", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", -1), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", NAN), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT) << "a mistake before begin comes out";

  RunHandle other(MPI_COMM_WORLD);
  model.add_to(other);
  EXPECT_EQ(anadrome_set_tolerance(other, "real", -1), ANADROME_ERR_ARGUMENT);
  const std::int64_t right[] = {3, 200};
  EXPECT_EQ(anadrome_set_shape(other, "real", 2, right), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(anadrome_begin(other, 3), ANADROME_ERR_ARGUMENT) << "a shape does not make it good";
  EXPECT_EQ(anadrome_set_tolerance(other, "real", 1e-3), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(anadrome_begin(other, 3), ANADROME_OK) << anadrome_last_error();
}

// ---- slots of single precision ----

// compress=float32 keeps states in memory in single precision where not every state fits as it is:
// twice as many, and fewer steps are run again.
class SingleSlots : public LossySweep {
 protected:
  void prepare(RunHandle& run, const char* schedule, const char* memory) {
    model_.add_to(run);
    run.set("schedule", schedule);
    run.set("compress", "float32");
    run.set("memory", memory);
  }
  void expect_single(const std::vector<LossyModel>& found) {
    const auto most = differences(found);
    if (count() > 0) {
      EXPECT_GT(most[0], 0);
    }
    EXPECT_LE(std::max(most[0], most[1]), 2.2e-6);
    EXPECT_EQ(most[2], 0);
  }
  void expect_exact(const std::vector<LossyModel>& found) {
    EXPECT_EQ(differences(found), (std::array<double, 3>{}));
  }
};

TEST_F(SingleSlots, RevolveRunsFewerStepsInTheSameMemory) {
  std::int64_t advances[2], slots[2];
  for (const bool single : {false, true}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "revolve", "7MiB");
    if (!single) run.set("compress", "off");
    const std::vector<LossyModel> found = sweep(run);
    single ? expect_single(found) : expect_exact(found);
    const anadrome_stats stats = run.statistics();
    EXPECT_EQ(stats.forward_steps_taken, stats.forward_steps_planned);
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    advances[single] = stats.forward_steps_taken;
    slots[single] = stats.checkpoint_slots;
  }
  EXPECT_GT(slots[true], slots[false]);
  EXPECT_LT(advances[true], advances[false]);
}

TEST_F(SingleSlots, StoreAllFitsWhereStatesInFullDoNotAndStatesStayAsTheyAreWhereAllFit) {
  {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "store_all", "16MiB");
    expect_single(sweep(run));
    EXPECT_EQ(run.statistics().forward_steps_taken, kSteps);
  }
  for (const char* schedule : {"store_all", "revolve"}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, schedule, "40MiB");
    expect_exact(sweep(run));
  }
}

TEST_F(SingleSlots, AsyncHasThemBesideItsAnchors) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "async", "14MiB");
  run.set("bandwidth_limit", "20MB/s");
  for (int i = 0; i < 2; ++i) expect_single(sweep(run));
  const anadrome_stats stats = run.statistics();
  EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
}

TEST_F(SingleSlots, PassesMeetStatesAsTheyAreOrAreRefused) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "revolve", "7MiB");
  expect_single(sweep(run));
  EXPECT_EQ(anadrome_pass(run, ANADROME_PASS_FORWARD), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "set passes"));
  run.set("passes", "1");
  expect_exact(sweep(run));
  EXPECT_EQ(anadrome_pass(run, ANADROME_PASS_FORWARD), ANADROME_OK) << anadrome_last_error();
}

TEST_F(SingleSlots, ANumberThatIsTooLargeIsAnErrorOnAllRanks) {
  RunHandle run(MPI_COMM_WORLD);
  std::vector<double> x(60'000, 1.0);
  add_array(run, "x", x);
  run.set("schedule", "revolve");
  run.set("compress", "float32");
  run.set("memory", "2MiB");
  const auto act = [&](const anadrome_action& action) {
    if (action.kind == ANADROME_ADVANCE && rank() == ranks() - 1) x[5] = 1e39;
  };
  const anadrome_status status = follow(run, anadrome_begin(run, kSteps), act);
  EXPECT_EQ(status, ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(anadrome_last_error(), "'x' has a number that is too large"));
}

}  // namespace
}  // namespace anadrome::test
