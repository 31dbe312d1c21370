// SPDX-License-Identifier: BSD-2-Clause
// What options understand beside the plainest spelling.
#include "engine/asked/options.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace anadrome::engine {
namespace {

std::string refusal(const char* key, const char* value) {
  Options options;
  return failure_from([&] { options.set(key, value); }).message;
}

TEST(Options, UnderstandWordsInAnyCase) {
  Options options;
  options.set("schedule", "Revolve");
  options.set("keep", "ON");
  options.set("layout", "Rank");
  options.set("interval", "Auto");
  EXPECT_STREQ(to_string(options.schedule), "revolve");
  EXPECT_TRUE(options.keep);
  EXPECT_EQ(options.layout, Layout::kRank);
  EXPECT_EQ(options.interval, 0);
  options.set("schedule", "AUTO");
  EXPECT_EQ(options.schedule, nullptr);
}

TEST(Options, NameTwoDirectoriesTheFastOneFirst) {
  Options options;
  options.set("directory", "/local/a\\,b,/shared/c");
  EXPECT_EQ(options.fast.directory, "/local/a,b");
  EXPECT_EQ(options.directory, "/shared/c");
  options.set("disk", "2GiB,unlimited");
  options.set("bandwidth_limit", "1GB/s,100MB/s");
  options.set("layout", "rank,shared");
  options.require_fit();
  const Options fast = options.of_fast();
  EXPECT_EQ(fast.directory, "/local/a,b");
  EXPECT_EQ(fast.disk, std::int64_t{2} << 30);
  EXPECT_EQ(fast.bandwidth_limit, 1'000'000'000);
  EXPECT_EQ(fast.layout, Layout::kRank);
  EXPECT_FALSE(fast.has_fast());
  EXPECT_EQ(options.disk, -1);
  EXPECT_EQ(options.layout, Layout::kShared);
  options.set("directory", "/shared/c");
  EXPECT_FALSE(options.has_fast());
  EXPECT_NE(failure_from([&] { options.require_fit(); }).message, "") << "the others have two";
}

TEST(Options, OfTheFastDirectoryAreHomesWhereOneValueIsGiven) {
  Options options;
  options.set("directory", "fast,home");
  options.set("bandwidth_limit", "80MB/s");
  options.set("transport", "buffered");
  options.set("layout", "shared");
  const Options fast = options.of_fast();
  EXPECT_EQ(fast.bandwidth_limit, options.bandwidth_limit);
  EXPECT_EQ(fast.transport, store::TransportName::kBuffered);
  EXPECT_EQ(fast.layout, Layout::kNode) << "a node's own, unless it is said";
  options.require_fit();
  options.set("transport", "mpio,auto");
  EXPECT_NE(failure_from([&] { options.require_fit(); }).message.find("transport=mpio"),
            std::string::npos);
  options.set("transport", "buffered,auto");
  EXPECT_EQ(options.of_fast().transport, store::TransportName::kBuffered);
  options.require_fit();
  options.set("disk", "1GiB");
  EXPECT_NE(failure_from([&] { options.require_fit(); }).message.find("disk=FAST,HOME"),
            std::string::npos);
}

TEST(Options, UnderstandUnits) {
  Options options;
  options.set("memory", "8G");
  EXPECT_EQ(options.memory, std::int64_t{8} << 30);
  options.set("watchdog", "500ms");
  EXPECT_EQ(options.watchdog, 0.5);
  EXPECT_FALSE(options.watchdog_aborts);
  options.set("watchdog", "10min,abort");
  EXPECT_EQ(options.watchdog, 600);
  EXPECT_TRUE(options.watchdog_aborts);
  options.set("checkpoint_interval", "2min");
  EXPECT_EQ(options.checkpoint_interval, 120);
}

TEST(Options, SayWhatElseTheyUnderstand) {
  EXPECT_EQ(refusal("interval", "every"),
            "option interval: 'every' is not a positive number or auto");
  EXPECT_EQ(refusal("checkpoints", "none"),
            "option checkpoints: 'none' is not a positive number or unlimited");
  EXPECT_EQ(refusal("watchdog", "soon"),
            "option watchdog: expected a number of seconds, e.g. 0.08, 80ms or 25min, not 'soon'");
  EXPECT_EQ(refusal("watchdog", "10min,kill"),
            "option watchdog: 'kill' is not abort, which is all that may follow the time");
}

TEST(Options, RefuseACommaBetweenThem) {
  Options options;
  const auto refused = failure_from([&] { options.set_environment("report=a,memory=1GiB"); });
  EXPECT_EQ(refused.message,
            "option report: 'a,memory=1GiB' has a comma before another option; a space is what "
            "separates options");
  options.set_environment("directory=/a,/b report=a,b=c");
  EXPECT_EQ(options.report, "a,b=c");
}

TEST(Options, SayWhichOfTheEnvironmentTheProgramBeats) {
  Options options;
  options.set_environment("memory=100MiB passes=7 keep=on directory=/scratch");
  EXPECT_EQ(options.overruled(), "");
  options.set("memory", "1MiB");
  options.set("directory", "/tmp");
  options.set("keep", "ON");
  options.set("probe", "on");
  EXPECT_EQ(options.overruled(),
            "directory=/tmp of the program counts, not /scratch of ANADROME_OPTIONS; "
            "memory=1MiB of the program counts, not 100MiB of ANADROME_OPTIONS");
  options.set("memory", "102400KiB");
  options.set("directory", "/scratch");
  EXPECT_EQ(options.overruled(), "") << "the same in another spelling";
  failure_from([&] { options.set("memory", "much"); });
  EXPECT_EQ(options.overruled(), "") << "what is not understood is not set";
}

std::string without_effect(const char* schedule, const char* settings) {
  Options options;
  options.set_environment(settings);
  return options.without_effect(*schedule::find_schedule(schedule));
}

TEST(Options, SayWhatHasNoEffectWithASchedule) {
  const char* const many = "keep=on disk=1GiB interval=7 checkpoints=5 memory=2GiB";
  EXPECT_EQ(without_effect("revolve", many),
            "disk, keep: no state goes to disk; "
            "interval: this schedule has no intervals");
  EXPECT_EQ(without_effect("async", many), "");
  EXPECT_EQ(without_effect("store_all", "checkpoints=5"),
            "checkpoints: the number of states in memory is the schedule's");
  EXPECT_EQ(without_effect("undo", "compress=lz4 tolerance=0.1"),
            "tolerance: compress is neither round, zfp nor lossy");
  EXPECT_EQ(without_effect("undo", "tolerance=0.1"), "") << "of states, which have no codec";
}

TEST(Options, SayWhereAScheduleIsThatNoRunPlays) {
  for (const schedule::Entry& entry : schedule::catalogue()) {
    Options options;
    EXPECT_FALSE(failure_from([&] { options.set("schedule", entry.name); })) << entry.name;
  }
  for (const char* const name : schedule::names_of_streams()) {
    Options options;
    const Failure failure = failure_from([&] { options.set("schedule", name); });
    EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT) << name;
    EXPECT_EQ(failure.message,
              "option schedule: a run plays auto, store_all, revolve, async, mixed, undo; " +
                  std::string(name) +
                  " is a stream: anadrome_schedule_open gives its actions (anadrome/schedule.h), "
                  "and anadrome plan compares it");
  }
}

TEST(Options, SayWhatHasNoEffectWithoutAnotherOption) {
  const std::string settings = "problem=a sweep=2";
  EXPECT_EQ(without_effect("async", settings.c_str()), "problem, sweep: resume is off");
  EXPECT_EQ(without_effect("async", (settings + " resume=on").c_str()), "");
  EXPECT_EQ(without_effect("revolve", "keep=off transport=auto interval=auto"), "")
      << "the defaults";
}

}  // namespace
}  // namespace anadrome::engine
