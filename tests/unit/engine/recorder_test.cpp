// SPDX-License-Identifier: BSD-2-Clause
// The events that a recorder keeps of one rank, and the file that it writes.
#include "engine/sweep/recorder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "desk.h"
#include "has_part.h"

namespace anadrome::engine {
namespace {

TEST(Recorder, KeepsCopiesAndWaitsApartWithoutATrace) {
  Recorder recorder;
  recorder.start(100);
  EXPECT_FALSE(recorder.on());
  recorder.waited(101, 102);
  EXPECT_EQ(recorder.after_waits(101.5), 102) << "a copy that waited for its block";
  EXPECT_EQ(recorder.after_waits(103), 103);
  recorder.start(50);
  EXPECT_EQ(recorder.after_waits(60), 60) << "what the sweep before waited for is past";
}

TEST(Recorder, WritesWhatHappenedSinceTheStartOrWhyItCannot) {
  LoneDesk desk;
  Recorder recorder;
  const auto written = [&](const char* name) {
    recorder.write(desk.context.peers.agreement, desk.directory / name, {});
    std::ifstream file(desk.directory / name);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  recorder.prepare(true);
  recorder.start(100);
  recorder.add(Activity::kAdvance, 100.25, 100.75, 3, 4);
  store::Transfer read;
  read.started = read.ended = 102;
  recorder.moved(read, 5, 6);
  const std::string text = written("trace.json");
  for (const char* part : {R"("advance")", R"("ts":250000)", R"("read")"}) {
    EXPECT_TRUE(test::has_part(text, part)) << part;
  }
  recorder.prepare(true);
  EXPECT_EQ(written("trace.json").find(R"("advance")"), std::string::npos) << "another sweep";
  const Failure failure = failure_from([&] { written("none/trace.json"); });
  EXPECT_TRUE(test::has_part(failure.message, "none/trace.json"));
}

TEST(Recorder, WritesNotMoreThanSomeRanksOfMany) {
  for (const int ranks : {1, 64, 65, 66, 100, 127, 10000, 1 << 30}) {
    const RanksInTrace some{ranks, ranks / 3, ranks / 2 + 1};
    EXPECT_TRUE(some.has(0) && some.has(ranks - 1) && some.has(some.slowest));
    int count = 0;
    for (int rank = 0; rank < std::min(ranks, 20000); ++rank) count += some.has(rank) ? 1 : 0;
    EXPECT_LE(count, 64) << ranks;
    EXPECT_GE(count, ranks <= 20000 ? std::min(ranks, 60) : 1) << ranks;
  }
}

}  // namespace
}  // namespace anadrome::engine
