// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/field_copy.h"

#include <gtest/gtest.h>

#include "packed_fields.h"

namespace anadrome::store {
namespace {

Field plain(const char* name, std::vector<unsigned char>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {name, ANADROME_ROLE_STATE, ANADROME_BYTE, count, false, values.data(), {}};
}

// Three fields: an array, one that changes its size, and a packed byte.
struct Fields {
  std::vector<unsigned char> array = {1, 2, 3};
  Varying varying;
  Packed packed;
  std::vector<Field> all = {varying.field("mesh", 40), plain("t", array), packed.field("p")};
  std::vector<std::byte> memory = std::vector<std::byte>(4 * kPage);
};

TEST(FieldCopy, BringsAnArrayBack) {
  Fields s;
  EXPECT_FALSE(copy_out(s.all[1], s.memory.data(), 3));
  s.array = {9, 9, 9};
  EXPECT_FALSE(copy_in(s.all[1], s.memory.data(), 3));
  EXPECT_EQ(s.array, (std::vector<unsigned char>{1, 2, 3}));
}

TEST(FieldCopy, CallsTheMoverOfAField) {
  Fields s;
  s.packed.value = 5;
  EXPECT_FALSE(copy_out(s.all[2], s.memory.data(), 1));
  EXPECT_EQ(s.memory[0], std::byte{0xfa});
  s.packed.value = 0;
  EXPECT_FALSE(copy_in(s.all[2], s.memory.data(), 1));
  EXPECT_EQ(s.packed.value, 5);
  s.packed.returns = 4;
  const Failure failure = copy_in(s.all[2], s.memory.data(), 1);
  EXPECT_EQ(failure.status, ANADROME_ERR_PEER);
  EXPECT_EQ(failure.message, "the unpack callback of field 'p' returned 4");
}

TEST(FieldCopy, CallsForOthersWhatMayBeCollective) {
  Fields s;
  s.varying.bytes = 7;
  s.packed.value = 5;
  const std::int64_t moves = moves_of(s.all);
  EXPECT_FALSE(move_for_others(s.all, Way::kOut));
  EXPECT_EQ(s.packed.calls, 1);
  EXPECT_EQ(moves_of(s.all), moves + 1);  // a field of changing size must not communicate
  s.packed.returns = 4;
  EXPECT_EQ(move_for_others(s.all, Way::kIn).status, ANADROME_ERR_PEER);
  EXPECT_EQ(s.packed.calls, 2);
  EXPECT_EQ(s.array, (std::vector<unsigned char>{1, 2, 3}));
}

TEST(FieldCopy, CopiesAllFieldsWhateverACallbackReturns) {
  Packed first, last;
  std::vector<unsigned char> between = {1, 2};
  const std::vector<Field> fields = {first.field("first"), plain("between", between),
                                     last.field("last")};
  std::vector<std::byte> memory(4);
  first.value = 5;
  last.value = 6;
  EXPECT_FALSE(copy_all_out(fields, memory.data()));
  first.value = last.value = 0;
  between = {0, 0};
  first.returns = 4;
  EXPECT_EQ(copy_all_in(fields, memory.data()).message,
            "the unpack callback of field 'first' returned 4");
  EXPECT_EQ(last.value, 6) << "on another rank the first has not failed";
  EXPECT_EQ(between, (std::vector<unsigned char>{1, 2}));
  last.value = 7;
  EXPECT_EQ(copy_all_out(fields, memory.data()).status, ANADROME_ERR_PEER);
  EXPECT_EQ(memory[3], std::byte{0xff - 7});
}

TEST(FieldCopy, PutsTheLengthOfAFieldBeforeItsBytes) {
  Fields s;
  EXPECT_TRUE(varies(s.all[0]));
  EXPECT_FALSE(varies(s.all[2]));
  s.varying.bytes = 17;
  EXPECT_FALSE(copy_out(s.all[0], s.memory.data(), 48));
  std::uint64_t length = 0;
  std::memcpy(&length, s.memory.data(), sizeof length);
  EXPECT_EQ(length, 17u);
  EXPECT_FALSE(copy_in(s.all[0], s.memory.data(), 48));
  EXPECT_EQ(s.varying.unpacked, 17u);
  EXPECT_TRUE(s.varying.right);
}

TEST(FieldCopy, RefusesLengthsThatAFieldCannotHave) {
  Fields s;
  s.varying.bytes = 41;
  EXPECT_EQ(copy_out(s.all[0], s.memory.data(), 48).status, ANADROME_ERR_ARGUMENT);
  const std::uint64_t length = 41;
  std::memcpy(s.memory.data(), &length, sizeof length);
  EXPECT_EQ(copy_in(s.all[0], s.memory.data(), 48).status, ANADROME_ERR_CORRUPT);
}

TEST(Piece, TakesWhatItsFieldsTakeNow) {
  Fields s;
  s.varying.bytes = 17;
  s.packed.value = 8;
  const std::int64_t taken = keep_piece(s.all, s.memory.data(), 100);
  EXPECT_EQ(taken, 8 + 8 + 32) << "fields of fixed size first, each on 8 bytes";
  EXPECT_EQ(s.memory[0], std::byte{1});
  s.array = {0, 0, 0};
  s.packed.value = 0;
  restore_piece(s.all, s.memory.data());
  EXPECT_EQ(s.array, (std::vector<unsigned char>{1, 2, 3}));
  EXPECT_EQ(s.packed.value, 8);
  EXPECT_EQ(s.varying.unpacked, 17u);
  EXPECT_EQ(most_piece_bytes(s.all), 48 + 8 + 8);
}

TEST(Piece, KeepsTheFieldsOfFixedSizeIfTheOthersHaveNoRoom) {
  Fields s;
  s.varying.bytes = 40;
  EXPECT_EQ(keep_piece(s.all, s.memory.data(), 16), 8 + 8 + 48);
  EXPECT_EQ(s.packed.calls, 1);
  EXPECT_EQ(s.memory[16], std::byte{0}) << "nothing is written behind the room";
}

TEST(Piece, CopiesEveryFieldWhateverBecameOfAnother) {
  Fields s;
  s.varying.bytes = 41;
  EXPECT_THROW(keep_piece(s.all, s.memory.data(), 100), Error);
  EXPECT_EQ(s.packed.calls, 1);
}

}  // namespace
}  // namespace anadrome::store
