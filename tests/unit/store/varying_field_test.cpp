// Fields whose size changes, in a LiveState.
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "live_in_pool.h"

namespace anadrome::store {
namespace {

// A field of changing size: some bytes, each the last digit of their number.
struct Varying {
  std::size_t bytes = 0, unpacked = 0;
  bool right = true;

  Field field(const char* name, std::int64_t most) {
    Field field;
    field.name = name;
    field.count = most + kLengthBytes;
    field.context = this;
    field.size = [](void* self) { return static_cast<Varying*>(self)->bytes; };
    field.pack = [](void* self, void* buffer, std::size_t size) {
      std::memset(buffer, digit(size), size);
      return size == static_cast<Varying*>(self)->bytes ? 0 : 1;
    };
    field.unpack = [](void* self, const void* buffer, std::size_t size) {
      auto& varying = *static_cast<Varying*>(self);
      varying.unpacked = size;
      for (std::size_t i = 0; i < size; ++i)
        varying.right &= static_cast<const unsigned char*>(buffer)[i] == digit(size);
      return 0;
    };
    return field;
  }
  static unsigned char digit(std::size_t size) { return static_cast<unsigned char>(size % 10); }
};

TEST(LiveState, GivesAFieldBackInTheSizeItHad) {
  Varying varying;
  for (const std::int64_t states : {1, 3}) {
    LiveInPool s({varying.field("mesh", 40)}, states, 3);
    const std::int64_t block = s.pool.take();
    for (const std::size_t bytes : {0, 1, 17, 40}) {
      varying.bytes = bytes;
      s.live.keep(block, states - 1);
      varying.bytes = 5;
      s.live.restore(block, states - 1);
      EXPECT_EQ(varying.unpacked, bytes);
      EXPECT_TRUE(varying.right);
    }
  }
}

TEST(LiveState, RefusesAFieldThatIsLargerThanItWasRegistered) {
  Varying varying;
  Packed packed;
  LiveInPool s({varying.field("mesh", 40), packed.field("p")}, 1, 2);
  const std::int64_t block = s.pool.take();
  varying.bytes = 41;
  try {
    s.live.keep(block, 0);
    ADD_FAILURE() << "kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT);
    EXPECT_STREQ(error.what(), "field 'mesh' takes 41 bytes, and was registered with 40 at most");
  }
  EXPECT_EQ(packed.calls, 1) << "others are packed all the same";
}

}  // namespace
}  // namespace anadrome::store
