// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "schedule/problem.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {
namespace {

TEST(Catalogue, FindsEveryScheduleByItsNameAndNoOther) {
  std::set<std::string> names;
  for (const Entry& entry : catalogue()) {
    EXPECT_EQ(find_schedule(entry.name), &entry);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " has two rows";
  }
  EXPECT_EQ(find_schedule("auto"), nullptr) << "is a question, not a schedule";
  EXPECT_EQ(find_schedule("revolv"), nullptr);
}

TEST(Catalogue, HasOneScheduleForEachCaseOfAuto) {
  for (const InAuto in_auto : {InAuto::kEveryStateFits, InAuto::kNoDisk, InAuto::kByDefault}) {
    int rows = 0;
    for (const Entry& entry : catalogue()) rows += entry.in_auto == in_auto ? 1 : 0;
    EXPECT_EQ(rows, 1);
    EXPECT_TRUE(schedule_for(in_auto).in_runs);
  }
}

// On disk a run has anchors, in the order of their steps; in memory a stack.
TEST(Catalogue, ARunPlaysAnchorsAndStacks) {
  std::set<std::string> names;
  for (const Entry& entry : catalogue()) {
    if (!entry.in_runs) continue;
    names.insert(entry.name);
    EXPECT_NE(entry.needs.on_disk, OnDisk::kReplaced) << entry.name;
    EXPECT_FALSE(entry.needs.branches) << entry.name;
    EXPECT_EQ(entry.divide, nullptr) << entry.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"store_all", "revolve", "async", "mixed"}));
}

TEST(Catalogue, MakesTheSweepOfEveryRow) {
  for (const Entry& entry : catalogue()) EXPECT_NE(entry.make, nullptr) << entry.name;
}

// An unknown n, files that are kept and a run that goes on all end in the schedule by default.
TEST(Catalogue, DefaultNeedsNeitherTheNumberOfStepsNorTapes) {
  const Needs& needs = schedule_for(InAuto::kByDefault).needs;
  EXPECT_FALSE(needs.steps);
  EXPECT_FALSE(needs.tape);
  EXPECT_EQ(needs.on_disk, OnDisk::kAnchors);
}

TEST(Catalogue, CountsTablesThatGrowWithTheNumberOfSteps) {
  for (const Entry& entry : catalogue()) {
    if (entry.table_bytes == nullptr) continue;
    Sizing few, many;
    few.memory = many.memory = std::int64_t{1} << 30;
    few.steps = 10;
    many.steps = 1000;
    EXPECT_GT(entry.table_bytes(few), 0) << entry.name;
    EXPECT_GT(entry.table_bytes(many), entry.table_bytes(few)) << entry.name;
  }
}

TEST(Catalogue, CountsATableEntryForEachSlotOnALimitedDisk) {
  const Entry& hrevolve = *find_schedule("hrevolve");
  Sizing sizing;
  sizing.steps = 98;
  sizing.state_bytes_all_ranks = 10;
  EXPECT_EQ(hrevolve.table_bytes(sizing), 100 * 64);
  sizing.disk = 55;
  EXPECT_EQ(hrevolve.table_bytes(sizing), 100 * (64 + 16 * 5));
  sizing.disk = 1'000'000;
  EXPECT_EQ(hrevolve.table_bytes(sizing), 100 * (64 + 16 * 99)) << "no more slots than states";
}

TEST(Catalogue, NamesTheLimitOfEveryScheduleThatHasOne) {
  for (const Entry& entry : catalogue()) {
    const bool limited = entry.needs.most_steps < kMostSteps;
    EXPECT_EQ(std::string(entry.needs.limit).empty(), !limited) << entry.name;
    EXPECT_TRUE(!limited || entry.needs.steps) << entry.name;
  }
}

}  // namespace
}  // namespace anadrome::schedule
