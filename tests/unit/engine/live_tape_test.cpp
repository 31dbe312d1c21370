// Tapes in slots that are laid out for states.
#include "engine/live_tape.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "packed_fields.h"

namespace anadrome::engine {
namespace {

using store::Field;

Field bytes(const char* name, std::vector<unsigned char>& values) {
  Field field;
  field.name = name;
  field.count = static_cast<std::int64_t>(values.size());
  field.values = values.data();
  return field;
}

// Blocks of two states with fields of 5 and 3 bytes.
struct Slots {
  explicit Slots(std::int64_t count) {
    std::vector<unsigned char> u(5), v(3);
    layout = store::BlockLayout({2, false}, std::vector<Field>{bytes("u", u), bytes("v", v)});
    memory.resize(static_cast<std::size_t>((count + 1) / 2 * layout.block_bytes()));
    for (std::int64_t slot = 0; slot < count; ++slot) {
      places.push_back({memory.data() + slot / 2 * layout.block_bytes(), slot % 2});
    }
  }
  std::byte at(std::size_t slot, std::size_t field) const {
    return *layout.address(places[slot].block, places[slot].index, field);
  }
  store::BlockLayout layout;
  std::vector<std::byte> memory;
  std::vector<LiveTape::Place> places;
};

TEST(LiveTape, FillsSlotsOneAfterTheOther) {
  Slots slots(3);
  std::vector<unsigned char> a(11), b(12), kept_a(11), kept_b(12);
  std::iota(a.begin(), a.end(), 1);
  std::iota(b.begin(), b.end(), 101);
  kept_a = a;
  kept_b = b;
  LiveTape tape(slots.layout, {bytes("a", a), bytes("b", b)});
  tape.keep(slots.places);
  EXPECT_EQ(slots.at(0, 0), std::byte{1});
  EXPECT_EQ(slots.at(0, 1), std::byte{6});
  EXPECT_EQ(slots.at(1, 0), std::byte{9});
  EXPECT_EQ(slots.at(1, 1), std::byte{103}) << "the second field follows at once";
  a.assign(a.size(), 0);
  b.assign(b.size(), 0);
  tape.restore(slots.places);
  EXPECT_EQ(a, kept_a);
  EXPECT_EQ(b, kept_b);
}

TEST(LiveTape, MovesPackedFieldsThroughTheirCallbacks) {
  Slots slots(1);
  store::Packed p;
  std::vector<unsigned char> a = {5};
  LiveTape tape(slots.layout, {p.field("p"), bytes("a", a)});
  p.value = 7;
  tape.keep(slots.places);
  EXPECT_EQ(slots.at(0, 0), ~std::byte{7});
  p.value = a[0] = 0;
  tape.restore(slots.places);
  EXPECT_EQ(p.value, 7);
  EXPECT_EQ(a[0], 5);
}

TEST(LiveTape, CallsEveryCallbackThoughOneFails) {
  Slots slots(1);
  store::Packed bad, good;
  bad.returns = 3;
  LiveTape tape(slots.layout, {bad.field("bad"), good.field("good")});
  EXPECT_EQ(failure_from([&] { tape.keep(slots.places); }).status, ANADROME_ERR_PEER);
  EXPECT_EQ(good.calls, 1);
  const Failure failure = failure_from([&] { tape.restore(slots.places); });
  EXPECT_NE(failure.message.find("'bad'"), std::string::npos) << failure.message;
  EXPECT_EQ(good.calls, 2);
}

TEST(LiveTape, WritesNowhereBeyondItsSlots) {
  Slots slots(1);
  std::vector<unsigned char> a(9);
  LiveTape tape(slots.layout, {bytes("a", a)});
  EXPECT_EQ(failure_from([&] { tape.keep(slots.places); }).status, ANADROME_ERR_INTERNAL);
}

TEST(LiveTape, NeedsABufferForItsLargestPackedFieldOnly) {
  std::vector<unsigned char> a(1000);
  store::Packed p;
  store::Varying v;
  EXPECT_EQ(LiveTape::buffer_bytes(std::vector<Field>{bytes("a", a)}), 0);
  const std::vector<Field> fields = {p.field("p"), v.field("v", 40), bytes("a", a)};
  EXPECT_EQ(LiveTape::buffer_bytes(fields), 40 + store::kLengthBytes);
}

}  // namespace
}  // namespace anadrome::engine
