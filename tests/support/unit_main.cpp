// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cstdlib>

#include "trial_limit.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* const slow = std::getenv("ANADROME_TEST_SECONDS");  // sanitizers, valgrind
  anadrome::test::limit_tests(slow != nullptr ? static_cast<unsigned>(std::atoi(slow)) : 120);
  return RUN_ALL_TESTS();
}
