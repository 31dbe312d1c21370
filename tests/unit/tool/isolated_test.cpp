// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/isolated.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace anadrome::tool {
namespace {

TEST(InChild, HasLimitsOfTimeAndMemory) {
  const std::string limits = in_child("file", 3, [] {
    rlimit cpu{}, memory{};
    ::getrlimit(RLIMIT_CPU, &cpu);
    ::getrlimit(RLIMIT_AS, &memory);
    return std::to_string(cpu.rlim_max) + " s of work, of " + std::to_string(::alarm(0)) + ", in " +
           std::to_string(memory.rlim_max >> 30) + " GiB";
  });
  EXPECT_EQ(limits, "3 s of work, of 60, in 4 GiB");
}

}  // namespace
}  // namespace anadrome::tool
