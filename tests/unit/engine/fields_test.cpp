// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/fields.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "has_part.h"
#include "store/memory/packing.h"

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
  const auto overlap = [&](std::size_t first, std::int64_t bytes, std::size_t second) {
    Fields fields;
    store::Field high = field("high", ANADROME_ROLE_ADJOINT, 20);
    high.values = memory.data() + second;
    fields.add(high);
    store::Field low = field("low", ANADROME_ROLE_STATE, bytes);
    low.values = memory.data() + first;
    fields.add(low);
    return fields.overlap();
  };
  EXPECT_FALSE(overlap(0, 10, 10));
  EXPECT_FALSE(overlap(30, 10, 10));
  EXPECT_FALSE(overlap(12, 0, 10)) << "there is nothing in it";
  EXPECT_EQ(overlap(0, 10, 10).status, ANADROME_OK);
  const Failure failure = overlap(0, 13, 10);
  EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(test::has_part(failure.message,
                             "'low' and 'high' overlap: 3 bytes belong to both, from byte 10"));
  EXPECT_TRUE(overlap(10, 1, 10));
}

TEST(Fields, OfASweepAreThoseThatThereWereWhenItBegan) {
  Fields fields = two_states_and_a_tape();
  fields.begin_sweep();
  EXPECT_EQ(fields.state().size(), 2u);
  EXPECT_EQ(fields.tape().size(), 1u);
  EXPECT_FALSE(fields.grew_since_begin());
  fields.add(field("w", ANADROME_ROLE_STATE, 8));
  EXPECT_EQ(fields.state().size(), 2u);
  EXPECT_TRUE(fields.grew_since_begin());
}

TEST(Fields, KnowWhetherTheyChangedSinceFilesWereMade) {
  Fields fields = two_states_and_a_tape();
  EXPECT_TRUE(fields.changed());
  fields.files_are_made();
  EXPECT_FALSE(fields.changed());
  fields.add(field("w", ANADROME_ROLE_STATE, 8));
  EXPECT_TRUE(fields.changed());
}

}  // namespace
}  // namespace anadrome::engine
