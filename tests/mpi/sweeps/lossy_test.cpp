// SPDX-License-Identifier: BSD-2-Clause
// States that lossy compression changes on their way to disk: by no more than was asked for, in
// fields of real numbers alone, the same in every run, and never unasked.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 16;

// Steps do not spread an error, and enlarge it by 5 % at most.
struct Model {
  std::vector<double> real, free;  ///< `free` has a tolerance of its own
  std::vector<float> single;
  std::vector<std::int64_t> integers;
  std::vector<char> packed;

  explicit Model(std::size_t count)
      : real(count), free(count / 2), single(count), integers(count / 3), packed(1000) {}
  bool operator==(const Model&) const = default;

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
    std::memcpy(buffer, static_cast<Model*>(context)->packed.data(), bytes);
    return 0;
  }
  static int unpack(void* context, const void* buffer, std::size_t bytes) {
    std::memcpy(static_cast<Model*>(context)->packed.data(), buffer, bytes);
    return 0;
  }
  void add_to(anadrome_run* run) {
    anadrome_add_field(run, "real", ANADROME_ROLE_STATE, ANADROME_FLOAT64, real.data(),
                       real.size());
    anadrome_add_field(run, "free", ANADROME_ROLE_STATE, ANADROME_FLOAT64, free.data(),
                       free.size());
    anadrome_add_field(run, "single", ANADROME_ROLE_STATE, ANADROME_FLOAT32, single.data(),
                       single.size());
    anadrome_add_field(run, "integers", ANADROME_ROLE_STATE, ANADROME_INT64, integers.data(),
                       integers.size());
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

class Lossy : public testing::TestWithParam<const char*> {
 protected:
  // On one rank nothing.
  static std::size_t count() { return ranks() > 2 && rank() == 1 ? 0 : 60'000; }

  Lossy() : model_(count()) {
    model_.start();
    states_.push_back(model_);
    for (std::int64_t k = 0; k < kSteps; ++k) {
      model_.step(k);
      states_.push_back(model_);
    }
  }

  // The states from which steps were adjoined.
  std::vector<Model> sweep(anadrome_run* run) {
    std::vector<Model> found;
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
    model_.start();
    anadrome_action action;
    bool forward_exact = true;
    for (;;) {
      if (anadrome_next(run, &action) != ANADROME_OK) {
        ADD_FAILURE() << anadrome_last_error();
        return found;
      }
      if (action.kind == ANADROME_DONE) break;
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < action.last; ++k) model_.step(k);
        forward_exact =
            forward_exact && (action.again != 0 || model_ == states_[std::size_t(action.last)]);
      }
      if (action.kind == ANADROME_ADJOINT) found.push_back(model_);
    }
    EXPECT_TRUE(forward_exact) << "only what is read is changed";
    EXPECT_TRUE(model_ == states_.front()) << "x_0 is the caller's";
    return found;
  }

  void prepare(RunHandle& run, const char* schedule, const char* limit) {
    model_.add_to(run);
    run.set("schedule", schedule);
    if (std::string(schedule) == "async") run.set("interval", "3");
    run.set("compress", GetParam());
    if (std::string(GetParam()) != "float32") run.set("tolerance", "1e-4");
    run.set("memory", "7MiB");
    run.set("warnings", "off");
    run.set("bandwidth_limit", limit);
  }

  void expect_close(const std::vector<Model>& found, bool changed) {
    ASSERT_EQ(found.size(), std::size_t(kSteps));
    double most[3] = {};
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Model& wanted = states_[std::size_t(kSteps) - 1 - i];
      EXPECT_TRUE(found[i].integers == wanted.integers && found[i].packed == wanted.packed);
      most[0] = std::max(most[0], Model::difference(found[i].real, wanted.real));
      most[1] = std::max(most[1], Model::difference(found[i].free, wanted.free));
      most[2] = std::max(most[2], Model::difference(found[i].single, wanted.single));
    }
    if (count() == 0) return;
    const bool float32 = std::string(GetParam()) == "float32";
    constexpr double kGrowth = 2.2;  // of an error, in as many steps
    EXPECT_TRUE(most[0] > 0 || !changed);
    EXPECT_LE(most[0], kGrowth * (float32 ? 1e-6 : 7e-4));
    EXPECT_LE(most[1], kGrowth * (float32 ? 1e-6 : 1e-3));
    EXPECT_LE(most[2], float32 ? 0 : kGrowth * 3e-4);
  }

  Model model_;
  std::vector<Model> states_;
};

TEST_P(Lossy, StatesAreWithinTheToleranceInEverySchedule) {
  for (const char* schedule : {"async", "double", "overlapped", "disk_revolve", "offload"}) {
    SCOPED_TRACE(schedule);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, schedule, "none");
    // Others may find, by measured times, that few states or none are worth the disk.
    const bool async = std::string(schedule) == "async";
    expect_close(sweep(run), async);
    const anadrome_stats stats = run.statistics();
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    EXPECT_TRUE(stats.states_written > 0 || !async);
  }
}

class LossyBits : public Lossy {};

// What of the states is in memory when they are wanted depends on the disk's speed.
TEST_P(LossyBits, BitsDoNotDependOnWhatIsStillInMemory) {
  std::vector<std::vector<Model>> found;
  for (const char* limit : {"none", "20MB/s", "none"}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, "async", limit);
    found.push_back(sweep(run));
    found.push_back(sweep(run));
  }
  for (const auto& others : found) EXPECT_TRUE(others == found.front());
}

TEST_P(Lossy, NothingIsChangedInMemory) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "revolve", "none");
  const std::vector<Model> found = sweep(run);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i] == states_[std::size_t(kSteps) - 1 - i]);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Lossy, testing::Values("float32", "round", "zfp", "lossy"));
INSTANTIATE_TEST_SUITE_P(Codecs, LossyBits, testing::Values("float32", "round", "zfp"));

TEST(Tolerances, OfFieldsThatCannotHaveThemAreRefused) {
  RunHandle run(MPI_COMM_WORLD);
  Model model(600);
  model.add_to(run);
  const std::int64_t sizes[] = {3, 201};
  EXPECT_EQ(anadrome_set_shape(run, "real", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(anadrome_last_error()).find("600 elements, not 603"), std::string::npos);
  EXPECT_EQ(anadrome_set_shape(run, "real", 1, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_shape(run, "packed", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_shape(run, "other", 2, sizes), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", -1), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_tolerance(run, "real", NAN), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT) << "a mistake before begin comes out";
}

}  // namespace
}  // namespace anadrome::test
