// SPDX-License-Identifier: BSD-2-Clause
// States that are compressed on their way to disk come back bit for bit, in every schedule that has
// a disk, from fields of every kind.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 16;

struct Disk {
  const char* schedule;
  const char* interval;
};
constexpr Disk kDisks[] = {{"async", "1"}, {"async", "3"}, {"async", "auto"}};

class Compressed : public testing::TestWithParam<const char*> {
 protected:
  // A few pieces of some fields, less than a page of others, and on one rank nothing.
  static Counts counts() {
    const auto r = static_cast<std::size_t>(rank());
    if (ranks() > 2 && rank() == 1) return {};
    return Counts{150'000, 3 + r, 40'000 * (r + 1), 13 + 5 * r, 7 + r};
  }
  Compressed() : model_(MPI_COMM_WORLD, counts()), reference_(model_, kSteps) {}

  void prepare(RunHandle& run, const Disk& disk, std::int64_t states) {
    EXPECT_EQ(model_.add_fields(run), ANADROME_OK) << anadrome_last_error();
    run.set("schedule", disk.schedule);
    run.set("interval", disk.interval);
    run.set("compress", GetParam());
    run.set("memory", std::to_string(states * state_bytes() + (4 << 20)) + "B");
  }
  std::int64_t state_bytes() const {
    auto bytes = static_cast<std::int64_t>(model_.state_bytes());
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return bytes + 5 * 4096;
  }

  CoupledModel model_;
  const Reference reference_;
};

TEST_P(Compressed, ComeBackBitForBitInEverySchedule) {
  for (const Disk& disk : kDisks) {
    SCOPED_TRACE(std::string(disk.schedule) + " " + disk.interval);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, disk, 6);
    SweepDriver driver(run, model_, reference_);
    for (int sweep = 0; sweep < 2; ++sweep) {
      driver.exact_sweep(kSteps);
      const anadrome_stats stats = run.statistics();
      EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
      if (stats.state_bytes > 0 && std::string(GetParam()) != "auto") {
        EXPECT_EQ(stats.states_written > 0, stats.bytes_compressed > 0);
      }
    }
    EXPECT_TRUE(driver.sweep_again().exact);
  }
}

TEST_P(Compressed, ExchangedFieldsAreCompressedWhereTheyAre) {
  RunHandle run(MPI_COMM_WORLD);
  model_.exchanged = kAllFields;
  prepare(run, {"async", "2"}, 8);
  SweepDriver driver(run, model_, reference_);
  driver.exact_sweep(kSteps);
}

// One bit that is wrong on disk, in some read: healed, or an error that says so, and then on all
// ranks.
TEST_P(Compressed, AFlippedBitIsFoundAndHealed) {
  int healed = 0;
  for (const std::int64_t read : {1, 2, 5, 9}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, {"async", "2"}, 6);
    run.set("warnings", "off");
    FaultyFileSystem files;
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      if (action.kind == ANADROME_TURN && rank() == ranks() - 1)
        files.arm(Operation::kRead, read, Fault::kFlippedBit);
    };
    const Outcome outcome = driver.sweep(kSteps);
    EXPECT_TRUE(outcome.done ? outcome.exact : outcome.status != ANADROME_OK) << outcome.message;
    healed += outcome.done ? 1 : 0;
  }
  EXPECT_GT(healed, 0);
}

TEST_P(Compressed, AFullDiskCostsStepsAlone) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, {"async", "1"}, 6);
  run.set("warnings", "off");
  FaultyFileSystem files;
  if (rank() == ranks() - 1) files.arm(Operation::kWrite, 15, Fault::kNoSpace, true);
  SweepDriver driver(run, model_, reference_);
  driver.exact_sweep(kSteps);
  EXPECT_TRUE(files.hit() || rank() != ranks() - 1);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Compressed, testing::Values("lz4"));

TEST(Compress, IsRefusedWhereHdf5MovesElements) {
  CoupledModel model(MPI_COMM_WORLD, Counts{100, 0, 0, 0, 0});
  RunHandle run(model, {{"schedule", "async"}, {"compress", "lz4"}, {"transport", "mpio"}});
  EXPECT_EQ(anadrome_begin(run, 10), ANADROME_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(anadrome_last_error()).find("compress=off"), std::string::npos);
  run.set("schedule", "revolve");
  EXPECT_EQ(anadrome_begin(run, 10), ANADROME_OK) << "nothing goes to disk";
}

}  // namespace
}  // namespace anadrome::test
