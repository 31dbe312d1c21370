// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/silence.h"

#include <gtest/gtest.h>

namespace anadrome::engine {
namespace {

TEST(Silence, IsTooLongAfterItsLimit) {
  Silence silence(3, 1);
  silence.look(1, 7);
  for (int i = 0; i < 2; ++i) {
    silence.look(1, 7);
    EXPECT_FALSE(silence.too_long());
  }
  silence.look(1, 7);
  EXPECT_TRUE(silence.too_long());
}

TEST(Silence, EndsWithAnyOtherHeartbeat) {
  Silence silence(3, 1);
  for (int i = 0; i < 5; ++i) silence.look(1, 7);
  silence.look(1, 6);
  EXPECT_EQ(silence.seconds(), 0);
  EXPECT_FALSE(silence.too_long());
}

TEST(Silence, IsThatOfARankWhichNeverSpoke) {
  Silence silence(3, 1);
  for (int i = 0; i < 3; ++i) silence.look(1, 0);
  EXPECT_TRUE(silence.too_long());
}

TEST(Silence, IsNotHeardByOneWhoWasStoppedHimself) {
  Silence silence(3, 1);
  silence.look(1, 7);
  silence.look(3600, 7);
  EXPECT_FALSE(silence.too_long());
  EXPECT_EQ(silence.seconds(), 2);
}

}  // namespace
}  // namespace anadrome::engine
