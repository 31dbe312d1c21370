// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

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
  }
}

// On disk a run has anchors, in the order of their steps; in memory a stack.
TEST(Catalogue, ARunPlaysAnchorsAndStacks) {
  std::set<std::string> names;
  for (const Entry& entry : catalogue()) names.insert(entry.name);
  EXPECT_EQ(names, (std::set<std::string>{"store_all", "revolve", "async", "mixed", "undo"}));
}

// An unknown n, files that are kept and a run that goes on all end in the schedule by default.
TEST(Catalogue, DefaultNeedsNeitherTheNumberOfStepsNorTapes) {
  const Needs& needs = schedule_for(InAuto::kByDefault).needs;
  EXPECT_FALSE(needs.steps);
  EXPECT_FALSE(needs.tape);
  EXPECT_EQ(needs.on_disk, OnDisk::kAnchors);
}

}  // namespace
}  // namespace anadrome::schedule
