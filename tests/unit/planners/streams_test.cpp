// SPDX-License-Identifier: BSD-2-Clause
#include "planners/streams.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace anadrome::schedule {
namespace {

TEST(Streams, AreFoundByTheirNamesAndNoOther) {
  std::set<std::string> names;
  for (const StreamEntry& entry : streams()) {
    EXPECT_EQ(find_stream(entry.name), &entry);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " has two rows";
    EXPECT_NE(entry.make, nullptr) << entry.name;
  }
  EXPECT_EQ(find_stream("auto"), nullptr) << "is a question, not a schedule";
}

TEST(Streams, AreThoseOfRunsAndThoseThatARunNames) {
  std::set<std::string> runs, others;
  for (const StreamEntry& entry : streams()) (entry.in_runs ? runs : others).insert(entry.name);
  std::set<std::string> played, named;
  for (const Entry& entry : catalogue()) {
    if (!entry.needs.undo) played.insert(entry.name);  // which a stream has no action for
  }
  for (const char* name : names_of_streams()) named.insert(name);
  EXPECT_EQ(runs, played);
  EXPECT_EQ(others, named);
}

TEST(Streams, NameTheLimitOfEveryScheduleThatHasOne) {
  for (const StreamEntry& entry : streams()) {
    const bool limited = entry.needs.most_steps < kMostSteps;
    EXPECT_EQ(std::string(entry.needs.limit).empty(), !limited) << entry.name;
    EXPECT_TRUE(!limited || entry.needs.steps) << entry.name;
  }
}

}  // namespace
}  // namespace anadrome::schedule
