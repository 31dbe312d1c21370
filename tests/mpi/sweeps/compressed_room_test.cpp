// SPDX-License-Identifier: BSD-2-Clause
// The option disk counts what compressed states take: more of them fit, and what lies on disk never
// exceeds it, however well some rank's states compress, and whether they do so ever better or
// worse.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 80;
constexpr std::size_t kNumbers = 40'000;
constexpr std::int64_t kBlockBytes = 320 << 10;  // a state, in pages, is a little less

// Part of the numbers are noise, which nothing compresses; the others are all the same.
class Noise {
 public:
  using Share = std::function<double(std::int64_t step)>;
  explicit Noise(Share share) : share_(std::move(share)), numbers_(kNumbers) {}

  std::vector<std::uint64_t>& numbers() { return numbers_; }
  void start() { become(0); }
  // As a step would: x_k+1 follows from x_k alone.
  void step() { become(static_cast<std::int64_t>(numbers_.back()) + 1); }
  bool is(std::int64_t step) const { return numbers_ == at(step); }

 private:
  void become(std::int64_t step) {
    const std::vector<std::uint64_t> numbers = at(step);
    std::copy(numbers.begin(), numbers.end(), numbers_.begin());  // which stay where they are
  }
  std::vector<std::uint64_t> at(std::int64_t step) const {
    const auto number = static_cast<std::uint64_t>(step);
    std::vector<std::uint64_t> numbers(kNumbers, number);
    const auto noisy = static_cast<std::size_t>(share_(step) * double(kNumbers - 1));
    for (std::size_t i = 0; i < noisy; ++i) {
      std::uint64_t x = (number * kNumbers + i) * 0x9e3779b97f4a7c15U;
      x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9U;
      numbers[i] = x ^ (x >> 32);
    }
    return numbers;
  }
  Share share_;
  std::vector<std::uint64_t> numbers_;
};

std::int64_t bytes_on_disk() {
  std::int64_t bytes = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory(), gone)) {
    struct stat status {};
    if (::stat(entry.path().c_str(), &status) == 0) bytes += 512 * status.st_blocks;
  }
  return bytes;
}

struct Found {
  anadrome_stats stats;
  std::int64_t most_on_disk = 0;
};

// Every state is right, and the limit kept.
Found sweep(const RunHandle& run, Noise& noise, std::int64_t steps, std::int64_t disk) {
  Found found{};
  EXPECT_EQ(anadrome_begin(run, steps), ANADROME_OK) << anadrome_last_error();
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t taken = 0;
  EXPECT_EQ(anadrome_resumed(run, &phase, &taken), ANADROME_OK) << anadrome_last_error();
  if (phase == ANADROME_PHASE_IDLE) noise.start();
  bool right = true;
  const anadrome_status status = follow(run, ANADROME_OK, [&](const anadrome_action& action) {
    bool ends = false;
    take_steps(action, [&](std::int64_t) {
      if (ends) return;
      noise.step();
      ends = steps < 0 && ++taken == kSteps && anadrome_finish_forward(run, taken) == ANADROME_OK;
    });
    const bool forward = action.kind == ANADROME_ADVANCE && action.again == 0;
    if (forward) found.most_on_disk = std::max(found.most_on_disk, bytes_on_disk());
    if (action.kind == ANADROME_ADJOINT) right = right && noise.is(action.first);
  });
  EXPECT_EQ(status, ANADROME_OK) << anadrome_last_error();
  EXPECT_TRUE(right);
  EXPECT_LE(found.most_on_disk, disk);
  found.stats = run.statistics();
  EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, found.stats.anchors));
  return found;
}

void prepare(RunHandle& run, Noise& noise, std::int64_t disk, const RunOptions& more) {
  ASSERT_EQ(add_array(run, "x", noise.numbers()), ANADROME_OK);
  run.set("schedule", "async");
  run.set("memory", "4MiB");
  run.set("audit", "off");
  run.set("compress", "lz4");
  run.set("disk", std::to_string(disk) + "B");
  for (const auto& [key, value] : more) run.set(key, value);
}

std::int64_t room_for(std::int64_t states) {
  return (std::int64_t{1} << 20) + states * kBlockBytes * ranks();
}

// The rank whose states compress worst decides. Once a sweep is known to commit, as without.
TEST(CompressedRoom, HoldsMoreStatesWhereverTheyAreTaken) {
  Noise noise([](std::int64_t) { return rank() == 0 ? 0.25 : 0.1; });
  const std::int64_t disk = room_for(8);
  for (const RunOptions& more :
       {RunOptions{{"interval", "auto"}},
        {{"interval", "1"}},
        {{"interval", "1"}, {"resume", "on"}, {"checkpoint_interval", "0"}}}) {
    SCOPED_TRACE(more.size());
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, noise, disk, more);
    const Found first = sweep(run, noise, kSteps, disk), second = sweep(run, noise, kSteps, disk);
    if (more.size() == 1) {
      EXPECT_EQ(first.stats.writes_failed, 0);
      EXPECT_EQ(second.stats.anchors_lost, 0);
    }
    if (more.front().second == "1") {
      const std::int64_t many = more.size() == 1 ? 24 : 20;
      EXPECT_GE(first.stats.anchors, many);
      EXPECT_GE(second.stats.anchors, many);
    }
    if (more.size() == 1) sweep(run, noise, ANADROME_STEPS_UNKNOWN, disk);
  }
}

TEST(CompressedRoom, IsKeptToWhereStatesCompressEverWorseOrBetter) {
  for (const bool worse : {true, false}) {
    SCOPED_TRACE(worse ? "worse" : "better");
    Noise noise([worse](std::int64_t step) {
      const double done = double(step) / double(kSteps);
      return worse ? done : 1 - done;
    });
    const std::int64_t disk = room_for(10);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, noise, disk, {{"interval", "1"}});
    EXPECT_GE(sweep(run, noise, kSteps, disk).stats.anchors, worse ? 13 : 9);
    sweep(run, noise, kSteps, disk);
  }
}

TEST(CompressedRoom, OfTheSweepBeforeIsGivenBack) {
  bool fills = true;
  Noise noise([&fills](std::int64_t) { return fills ? 1.0 : 0.1; });
  const std::int64_t disk = room_for(8);
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, noise, disk, {{"interval", "1"}});
  sweep(run, noise, kSteps, disk);
  fills = false;
  sweep(run, noise, kSteps, disk);  // knows no better than that they do not compress
  EXPECT_GE(sweep(run, noise, kSteps, disk).stats.anchors, 24);
}

TEST(CompressedRoom, IsKnownToARunThatGoesOn) {
  Noise noise([](std::int64_t) { return 0.25; });
  const std::int64_t disk = room_for(8);
  const RunOptions commits = {{"interval", "1"}, {"resume", "on"}, {"checkpoint_interval", "0"}};
  {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, noise, disk, commits);
    ASSERT_EQ(anadrome_begin(run, kSteps), ANADROME_OK);
    noise.start();
    follow(run, ANADROME_OK, [&](const anadrome_action& action) {
      take_steps(action, [&](std::int64_t) { noise.step(); });
      if (action.last >= 14) anadrome_request_stop(run);
    });
  }
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, noise, disk, commits);
  const Found found = sweep(run, noise, kSteps, disk);
  EXPECT_GE(found.stats.anchors, 20) << "more than fit uncompressed were there already";
  EXPECT_LT(found.stats.forward_steps_taken, 5 * kSteps);
}

}  // namespace
}  // namespace anadrome::test
