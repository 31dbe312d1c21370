// SPDX-License-Identifier: BSD-2-Clause
#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace anadrome {
namespace {

TEST(Processors, AreThoseThatAThreadIsBoundTo) {
  const Processors all = allowed_processors();
  if (platform::kPortable) {
    EXPECT_EQ(count(all), 0) << "nobody can tell";
    return;
  }
  ASSERT_GE(count(all), 1);
  int bound = 0, started_there = 0;
  std::thread([&] {
    std::size_t first = 0;
    while ((all[first / 64] >> (first % 64)) % 2 == 0) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    bound = count(allowed_processors());
    std::thread([&] { started_there = count(allowed_processors()); }).join();
  }).join();
  EXPECT_EQ(bound, 1);
  EXPECT_EQ(started_there, 1) << "as the I/O thread of a rank that is bound";
  EXPECT_EQ(allowed_processors(), all);
}

}  // namespace
}  // namespace anadrome
