// SPDX-License-Identifier: BSD-2-Clause
// One state of more than 4 GiB on one rank: no size, offset or count on its way is cut to 32 bits.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>

#include <cstdint>
#include <string>

#include "mpi_main.h"
#include "own_loop.h"

namespace {

constexpr std::size_t kBytes = (std::size_t{9} << 29) + 4096 + 8;  // 4.5 GiB and a bit
constexpr std::size_t kWords = kBytes / sizeof(std::uint64_t);
constexpr std::int64_t kSteps = 3;

class LargeState : public testing::Test {
 protected:
  void SetUp() override {
    void* mapping =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapping, MAP_FAILED);
    madvise(mapping, kBytes, MADV_HUGEPAGE);
    words_ = static_cast<std::uint64_t*>(mapping);
  }
  void TearDown() override {
    if (words_ != nullptr) munmap(words_, kBytes);
  }

  // x_k has a value of its own at every place.
  static std::uint64_t value(std::int64_t step, std::size_t place) {
    return (static_cast<std::uint64_t>(step) + 1) * 0x9e3779b97f4a7c15U + place;
  }
  void start() {
    for (std::size_t i = 0; i < kWords; ++i) words_[i] = value(0, i);
  }
  void step() {
    for (std::size_t i = 0; i < kWords; ++i) words_[i] += 0x9e3779b97f4a7c15U;
  }
  bool holds(std::int64_t step) const {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kWords; ++i) wrong += words_[i] != value(step, i) ? 1 : 0;
    return wrong == 0;
  }

  std::uint64_t* words_ = nullptr;
};

TEST_F(LargeState, ComesBackFromDisk) {
  anadrome_run* run = nullptr;
  ASSERT_EQ(anadrome_open(MPI_COMM_SELF, &run), ANADROME_OK);
  const std::string memory = std::to_string(2 * (kBytes + 8192)) + "B";
  anadrome_set(run, "directory", anadrome::test::directory().c_str());
  anadrome_set(run, "schedule", "async");
  anadrome_set(run, "interval", "1");
  anadrome_set(run, "memory", memory.c_str());
  ASSERT_EQ(anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_INT64, words_, kWords),
            ANADROME_OK);
  start();
  int adjoints = 0;
  const auto act = [&](const anadrome_action& action) {
    anadrome::test::take_steps(action, [this](std::int64_t) { step(); });
    EXPECT_TRUE(action.kind != ANADROME_TURN || holds(kSteps));
    if (action.kind != ANADROME_ADJOINT) return;
    EXPECT_TRUE(holds(action.first)) << action.first;
    words_[0] = words_[kWords - 1] = 0;
    ++adjoints;
  };
  EXPECT_EQ(anadrome::test::follow(run, anadrome_begin(run, kSteps), act), ANADROME_OK)
      << anadrome_last_error();
  EXPECT_EQ(adjoints, kSteps);
  EXPECT_TRUE(holds(0));
  anadrome_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(anadrome_statistics(run, &stats), ANADROME_OK);
  EXPECT_EQ(stats.slots, 2);
  EXPECT_EQ(stats.state_bytes, static_cast<std::int64_t>(kBytes));
  EXPECT_GE(stats.bytes_written, 2 * static_cast<std::int64_t>(kBytes));
  EXPECT_GE(stats.bytes_read, static_cast<std::int64_t>(kBytes));
  EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
}

}  // namespace
