// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "has_part.h"

namespace anadrome::engine {
namespace {

store::Field field(const char* name, anadrome_role role, std::int64_t bytes) {
  return {name, role, ANADROME_BYTE, bytes, false, nullptr, {}};
}

Fields two_states_and_a_tape() {
  Fields fields;
  fields.add(field("u", ANADROME_ROLE_STATE, 8));
  fields.add(field("t", ANADROME_ROLE_TAPE, 16));
  fields.add(field("v", ANADROME_ROLE_STATE, 24));
  return fields;
}

TEST(Fields, HaveArraysOfTheirOwn) {
  std::array<char, 100> memory{};
  const auto overlap = [&](std::size_t first, std::int64_t bytes) {  // with bytes 10 to 29
    store::Field high = field("high", ANADROME_ROLE_ADJOINT, 20);
    store::Field low = field("low", ANADROME_ROLE_STATE, bytes);
    high.values = memory.data() + 10;
    low.values = memory.data() + first;
    Fields fields;
    fields.add(high);
    fields.add(low);
    return fields.overlap().message;
  };
  for (const auto& [first, bytes] : {std::pair{0U, 10}, {30U, 10}, {12U, 0}})
    EXPECT_EQ(overlap(first, bytes), "") << first;
  EXPECT_NE(overlap(10, 1), "");
  EXPECT_TRUE(test::has_part(overlap(0, 13),
                             "'low' and 'high' overlap: 3 bytes belong to both, from byte 10"));
}

TEST(Fields, OfASweepAreThoseThatThereWereWhenItBegan) {
  Fields fields = two_states_and_a_tape();
  EXPECT_TRUE(fields.changed()) << "since files were made";
  fields.files_are_made();
  EXPECT_FALSE(fields.changed());
  fields.begin_sweep();
  EXPECT_EQ(fields.state().size(), 2u);
  EXPECT_EQ(fields.tape().size(), 1u);
  EXPECT_FALSE(fields.grew_since_begin());
  fields.add(field("w", ANADROME_ROLE_STATE, 8));
  EXPECT_EQ(fields.state().size(), 2u);
  EXPECT_TRUE(fields.grew_since_begin());
  EXPECT_TRUE(fields.changed());
}

}  // namespace
}  // namespace anadrome::engine
