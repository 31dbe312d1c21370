// SPDX-License-Identifier: BSD-2-Clause
// States that are compressed on their way to disk come back bit for bit, from fields of every kind.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 16;

class Compressed : public testing::Test {
 protected:
  // A few pieces of some fields, less than a page of others, and on one rank nothing.
  static Counts counts() {
    const auto r = static_cast<std::size_t>(rank());
    if (ranks() > 1 && rank() == ranks() - 1) return {};
    return Counts{150'000, 3 + r, 40'000 * (r + 1), 13 + 5 * r, 7 + r};
  }
  Compressed() : model_(MPI_COMM_WORLD, counts()), reference_(model_, kSteps) {}

  RunHandle prepared(const char* interval, std::int64_t states) {
    const std::int64_t memory = states * state_bytes() + (4 << 20);
    return {model_,
            {{"schedule", "async"},
             {"interval", interval},
             {"compress", "lz4"},
             {"memory", std::to_string(memory) + "B"}}};
  }
  std::int64_t state_bytes() const {
    auto bytes = static_cast<std::int64_t>(model_.state_bytes());
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return bytes + 5 * 4096;
  }

  CoupledModel model_;
  const Reference reference_;
};

TEST_F(Compressed, ComeBackBitForBitWhereverTheyAre) {
  struct Case {
    const char* interval;
    unsigned exchanged;
  };
  for (const auto& [interval, exchanged] :
       {Case{"1", kNoField}, {"auto", kNoField}, {"2", kAllFields}}) {
    SCOPED_TRACE(interval);
    model_.exchanged = exchanged;
    RunHandle run = prepared(interval, exchanged == kNoField ? 6 : 8);
    SweepDriver driver(run, model_, reference_);
    for (int sweep = 0; sweep < 2; ++sweep) {
      driver.exact_sweep(kSteps);
      const anadrome_stats stats = run.statistics();
      EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
      if (stats.state_bytes > 0) {
        EXPECT_EQ(stats.states_written > 0, stats.bytes_compressed > 0);
      }
    }
    EXPECT_TRUE(driver.sweep_again().exact);
  }
}

TEST(Compress, IsRefusedWhereHdf5MovesElements) {
  CoupledModel model(MPI_COMM_WORLD, Counts{100, 0, 0, 0, 0});
  RunHandle run(model, {{"schedule", "async"}, {"compress", "lz4"}, {"transport", "mpio"}});
  EXPECT_EQ(anadrome_begin(run, 10), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(has_part(anadrome_last_error(), "compress=off"));
  run.set("schedule", "revolve");
  EXPECT_EQ(anadrome_begin(run, 10), ANADROME_OK) << "nothing goes to disk";
}

}  // namespace
}  // namespace anadrome::test
