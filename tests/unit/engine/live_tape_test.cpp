// SPDX-License-Identifier: BSD-2-Clause
// Tapes in slots that are laid out for states.
#include "engine/keep/live_tape.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "has_part.h"
#include "packed_fields.h"

namespace anadrome::engine {
namespace {

using store::Field;
using Bytes = std::vector<unsigned char>;

Field bytes(const char* name, Bytes& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {name, ANADROME_ROLE_TAPE, ANADROME_BYTE, count, false, values.data(), {}};
}

// Three slots of states with fields of 5 and 3 bytes, two to a block.
struct Slots {
  Bytes u = Bytes(5), v = Bytes(3);
  store::BlockLayout layout{{2, false}, std::vector<Field>{bytes("u", u), bytes("v", v)}};
  std::vector<std::byte> first{static_cast<std::size_t>(layout.block_bytes())}, second = first;
  std::vector<LiveTape::Place> places = {{first.data(), 0}, {first.data(), 1}, {second.data(), 0}};
};

TEST(LiveTape, CallsEveryCallbackThoughOneFails) {
  Slots slots;
  store::Packed bad, good;
  Bytes a = {5};
  bad.returns = 3;
  good.value = 7;
  LiveTape tape(slots.layout, {bad.field("bad"), good.field("good"), bytes("a", a)});
  Bytes b(30);
  LiveTape larger(slots.layout, {bytes("b", b)});
  EXPECT_THROW(larger.keep(slots.places), Error) << "these slots have 24 bytes";
  EXPECT_EQ(failure_from([&] { tape.keep(slots.places); }).status, ANADROME_ERR_PEER);
  good.value = a[0] = 0;
  const Failure failure = failure_from([&] { tape.restore(slots.places); });
  EXPECT_TRUE(test::has_part(failure.message, "'bad'"));
  EXPECT_EQ(good.value, 7);
  EXPECT_EQ(a[0], 5);
}

}  // namespace
}  // namespace anadrome::engine
