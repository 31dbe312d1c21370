// SPDX-License-Identifier: BSD-2-Clause
#include "objects/expected_gets.h"

#include <gtest/gtest.h>

#include <array>

namespace anadrome::store {
namespace {

TEST(ExpectedGets, RankKeysInTheOrderOfTheList) {
  constexpr std::array<ExpectedGets::Key, 5> keys = {7, 3, 7, -1, 3};
  ExpectedGets list(keys);
  const auto seven = list.next(7), three = list.next(3), minus_one = list.next(-1);
  ASSERT_TRUE(seven && three && minus_one);
  EXPECT_LT(*seven, *three);
  EXPECT_LT(*three, *minus_one);
  EXPECT_TRUE(ExpectedGets::has(*minus_one));
  EXPECT_FALSE(ExpectedGets::has(0) || ExpectedGets::has(-1000000000));
  EXPECT_FALSE(list.next(8));
}

TEST(ExpectedGets, GoOnToTheNextEntryOfAKeyBehindWhatIsOver) {
  constexpr std::array<ExpectedGets::Key, 5> keys = {7, 3, 7, -1, 3};
  ExpectedGets list(keys);
  const auto first_of_three = list.next(3), minus_one = list.next(-1);
  list.pass(*first_of_three);
  EXPECT_LT(*list.next(7), *minus_one) << "the second one";
  EXPECT_GT(*list.next(3), *minus_one) << "the last one";
  list.pass(*minus_one);
  EXPECT_FALSE(list.next(7)) << "passed over, and for good";
  EXPECT_FALSE(list.next(-1));
  EXPECT_TRUE(list.next(3));
}

}  // namespace
}  // namespace anadrome::store
