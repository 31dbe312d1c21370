// SPDX-License-Identifier: BSD-2-Clause
#include "objects/objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "base/error.h"
#include "file_systems.h"
#include "object_bench.h"

namespace anadrome::store {
namespace {

using Key = Objects::Key;

constexpr std::int64_t kMemory = std::int64_t{512} << 10;  // 32 blocks of 16 KiB

anadrome_status status_from(const std::function<void()>& body) { return failure_from(body).status; }
std::string message_of(const std::function<void()>& body) { return failure_from(body).message; }

// ---- a dictionary ----

class RandomProgram {
 public:
  RandomProgram(ObjectBench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}

  void run(std::int64_t operations) {
    for (std::int64_t i = 0; i < operations; ++i) {
      one();
      if (::testing::Test::HasFatalFailure()) return;
    }
    for (auto& view : views_) bench_.objects.release(view.bytes.data());
    views_.clear();
    ASSERT_TRUE(bench_.all_are_right()) << "at the end";
  }

 private:
  struct View {
    Key key;
    std::span<const std::byte> bytes;
    ObjectBench::Bytes expected;
  };

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  // Mostly small, some of several blocks.
  std::size_t size() {
    const auto block = static_cast<std::size_t>(bench_.block_bytes());
    const std::size_t ends[] = {65, 3 * block, block, block / 4, block / 4};
    const std::uint64_t kind = below(6);
    return kind == 5 ? below(4) * block : below(ends[kind]);
  }

  bool is_viewed(Key key) const {
    return std::any_of(views_.begin(), views_.end(), [&](const View& v) { return v.key == key; });
  }
  Key some_key() {
    auto entry = bench_.expected.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(below(bench_.expected.size())));
    return entry->first;
  }

  void one() {
    const std::uint64_t what = below(100);
    if (bench_.expected.empty() || what < 35) {
      put(static_cast<Key>(below(400)) - 200);
    } else if (what < 65) {
      const Key key = some_key();
      ASSERT_TRUE(bench_.is_right(key)) << "object " << key;
    } else if (what < 85) {
      drop(some_key());
    } else if (what < 92) {
      look(some_key());
    } else if (what < 97) {
      look_away();
    } else if (what < 99) {
      expect();
    } else {
      ASSERT_FALSE(bench_.objects.sync());
    }
    ASSERT_EQ(bench_.objects.count(), std::ssize(bench_.expected));
  }

  void put(Key key) {
    if (!is_viewed(key)) return bench_.put(key, size());
    ObjectBench::Bytes none;
    const std::vector<Objects::Array> arrays = {ObjectBench::array("a", none)};
    ASSERT_EQ(status_from([&] { bench_.objects.put(key, arrays); }), ANADROME_ERR_ORDER);
  }

  void drop(Key key) {
    if (!is_viewed(key)) return bench_.drop(key);
    ASSERT_EQ(status_from([&] { bench_.objects.drop(key); }), ANADROME_ERR_ORDER);
  }

  void look(Key key) {
    constexpr std::size_t kMost = 6;
    if (views_.size() >= kMost) return look_away();
    const auto [a, b] = ObjectBench::split(bench_.expected.at(key));
    if (b.empty()) return;
    const std::size_t offset = below(b.size());
    const auto seen = bench_.objects.view(key, "b", static_cast<std::int64_t>(offset));
    ASSERT_FALSE(seen.empty());
    ASSERT_LE(offset + seen.size(), b.size());
    const auto from = b.begin() + static_cast<std::ptrdiff_t>(offset);
    views_.push_back({key, seen, {from, from + std::ssize(seen)}});
  }

  void look_away() {
    if (views_.empty()) return;
    const auto view = views_.begin() + static_cast<std::ptrdiff_t>(below(views_.size()));
    ASSERT_TRUE(std::equal(view->bytes.begin(), view->bytes.end(), view->expected.begin()))
        << "view of object " << view->key;
    bench_.objects.release(view->bytes.data());
    views_.erase(view);
  }

  void expect() {
    std::vector<Key> keys;
    for (std::uint64_t i = below(60); i > 0; --i) {
      keys.push_back(below(4) == 0 || bench_.expected.empty() ? static_cast<Key>(below(400)) - 200
                                                              : some_key());
    }
    bench_.objects.expect(keys);
  }

  ObjectBench& bench_;
  std::mt19937_64 random_;
  std::vector<View> views_;
};

TEST(Objects, AreADictionaryWhateverIsDoneWithThem) {
  const char* const full = std::getenv("ANADROME_TEST_FULL");
  const std::int64_t operations = full != nullptr && std::string(full) == "1" ? 100000 : 8000;
  for (const std::uint64_t seed : {1U, 2U}) {
    ObjectBench bench(kMemory);
    RandomProgram(bench, seed).run(operations);
    if (HasFatalFailure()) return;
    EXPECT_LE(bench.pool.touched_blocks() * bench.block_bytes(), kMemory);
    EXPECT_GT(bench.transport->totals().bytes_read, 0) << "nothing went to disk";
    for (const Key key : bench.objects.keys()) bench.drop(key);
    EXPECT_EQ(bench.objects.bytes(), 0);
    bench.objects.sync();
    EXPECT_LE(bench.blocks.blocks_in_memory(), 1) << "the open one";
  }
}

// put copies: however late a write is, it is not of the caller's array.
TEST(Objects, AreWhatTheyWereWhenTheyWerePutHoweverLateTheyAreWritten) {
  const test::LateFileSystem late;
  ObjectBench bench(kMemory);
  constexpr Key kObjects = 200;
  for (const Key every : {1, 7}) {  // all of them, and then some that are replaced
    for (Key key = 0; key < kObjects; key += every) {
      const auto size = static_cast<std::size_t>(key % 3 == 0 ? 900 : 20'000);
      const ObjectBench::Bytes& all = bench.expected[key] =
          ObjectBench::bytes_of(key, static_cast<std::uint64_t>(every), size);
      auto [a, b] = ObjectBench::split(all);
      const std::vector<Objects::Array> arrays = {ObjectBench::array("a", a),
                                                  ObjectBench::array("b", b)};
      bench.objects.put(key, arrays);
      std::fill(a.begin(), a.end(), std::byte{});
      std::fill(b.begin(), b.end(), std::byte{});
    }
    for (Key key = kObjects; key-- > 0;) ASSERT_TRUE(bench.is_right(key)) << key;
  }
  EXPECT_GT(bench.transport->totals().bytes_written, 4 * kMemory);
}

// ---- where they are ----

TEST(Objects, GoToNoDiskWhileThreeQuartersOfTheMemoryAreFree) {
  ObjectBench bench(kMemory);
  bench.put_blocks(6);
  EXPECT_TRUE(bench.directory.empty());
  bench.put_blocks(6);
  EXPECT_TRUE(bench.directory.empty()) << "those that are replaced make room";
  bench.put_blocks(12, 7);
  EXPECT_FALSE(bench.directory.empty());
}

TEST(Objects, ThatComeBackInReverseAreReadOnceAndAhead) {
  ObjectBench bench(kMemory);
  constexpr Key kObjects = 200;
  bench.put_blocks(kObjects);
  ASSERT_FALSE(bench.objects.sync());
  for (Key key = kObjects; key-- > 0;) {
    ASSERT_TRUE(bench.is_right(key));
    bench.drop(key);
  }
  const std::int64_t read = bench.transport->totals().bytes_read;
  EXPECT_LE(read, (kObjects - 24) * (std::int64_t{16} << 10)) << "the newest were in memory";
}

// Whole blocks moved, for 60 objects in a memory for 32.
std::int64_t read_in_second_sweep(bool expect) {
  ObjectBench bench(kMemory);
  constexpr Key kObjects = 60;
  std::vector<Key> order;
  for (Key key = 0; key < kObjects; ++key) order.push_back(key * 7 % kObjects);
  const auto sweep = [&] {
    for (const Key key : order) EXPECT_TRUE(bench.is_right(key));
  };
  bench.put_blocks(kObjects);
  EXPECT_FALSE(bench.objects.sync());
  sweep();
  if (expect) bench.objects.expect(order);
  const std::int64_t before = bench.transport->totals().bytes_read;
  sweep();
  return (bench.transport->totals().bytes_read - before) / bench.block_bytes();
}

// What is read ahead too early is read again, where this process is held up: the best of some.
TEST(Objects, LearnTheOrderInWhichTheyAreGot) {
  std::int64_t learnt = read_in_second_sweep(false);
  for (int again = 0; again < 3; ++again) learnt = std::min(learnt, read_in_second_sweep(false));
  EXPECT_LE(learnt, read_in_second_sweep(true) + 32);
}

TEST(Objects, ThatMadeRoomAreReadAheadOnceThereIsRoomAgain) {
  ObjectBench bench(kMemory);
  bench.put_blocks(28);
  ASSERT_FALSE(bench.objects.sync());
  bench.put(100, 16 * (16 << 10));
  bench.drop(100);
  ASSERT_FALSE(bench.objects.sync());  // waits for reads, too
  EXPECT_GT(bench.transport->totals().bytes_read, 0);
}

TEST(Objects, StaySoonNeededUntilTheirLastViewIsReleased) {
  ObjectBench bench(kMemory);
  bench.put_blocks(60, 1);
  bench.put(0, 32 << 10);
  ASSERT_FALSE(bench.objects.sync());
  const std::byte* const a = bench.objects.view(0, "a", 0).data();
  const std::byte* const b = bench.objects.view(0, "b", 0).data();
  bench.objects.release(a);
  for (Key key = 1; key < 5; ++key) ASSERT_TRUE(bench.is_right(key));
  const double waited = bench.blocks.seconds_waited_for_reads();
  bench.objects.release(bench.objects.view(0, "a", 0).data());
  EXPECT_EQ(bench.blocks.seconds_waited_for_reads(), waited) << "its block stayed in memory";
  bench.objects.release(b);
}

TEST(Objects, StayInMemoryAsTheyAreExpected) {
  ObjectBench bench(kMemory);
  bench.put_blocks(60);
  ASSERT_FALSE(bench.objects.sync());
  std::vector<Key> order = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 100};
  bench.objects.expect(order);
  for (const Key key : {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}) ASSERT_TRUE(bench.is_right(key));
  const std::int64_t read = bench.transport->totals().bytes_read;
  EXPECT_LE(read, 40 * bench.block_bytes()) << "each of the seven once, and what is read ahead";
  bench.put(100, 100);
  ASSERT_TRUE(bench.is_right(100));
}

TEST(Objects, OfFewBytesShareBlocks) {
  ObjectBench bench(std::int64_t{64} << 20);
  constexpr Key kObjects = 100000;
  for (Key key = 0; key < kObjects; ++key) bench.put(key, 24);
  EXPECT_LE(bench.blocks.blocks_in_memory() * bench.block_bytes(), kObjects * 48 + (4 << 20));
  for (Key key = 0; key < kObjects; key += 3) ASSERT_TRUE(bench.is_right(key));
}

TEST(Objects, LeaveNoHolesThatTakeMoreThanWhatIsAlive) {
  ObjectBench bench(kMemory);
  for (Key key = 0; key < 300; ++key) bench.put(key, 1000);
  ASSERT_FALSE(bench.objects.sync());
  for (Key key = 0; key < 300; ++key) {
    if (key % 10 != 0) bench.drop(key);
  }
  ASSERT_FALSE(bench.objects.sync());  // what is being written cannot move
  bench.put(300, 16000);
  EXPECT_LE(bench.blocks.blocks_in_memory() * bench.block_bytes(), 3 * 30 * 1008 + 3 * (16 << 10));
  for (Key key = 0; key < 300; key += 10) ASSERT_TRUE(bench.is_right(key));
}

// No block is free while they are dropped, and none becomes empty.
TEST(Objects, LeaveTheirRoomToOthersInAMemoryThatIsFull) {
  for (const bool viewed : {false, true}) {
    ObjectBench bench(kMemory, 0, false);
    const auto [status, many] = bench.fill(0, 100);
    EXPECT_EQ(status, ANADROME_ERR_NO_SPACE);
    std::vector<const std::byte*> views;
    for (Key there = 0; viewed && there < many; there += 100) {
      views.push_back(bench.objects.view(there, "a", 0).data());
    }
    for (Key there = 0; there < many; ++there) {
      if (there % 100 != 0) bench.drop(there);
    }
    for (const std::byte* view : views) bench.objects.release(view);
    EXPECT_EQ(bench.fill(many, 200).first, ANADROME_ERR_NO_SPACE);
    EXPECT_GE(bench.objects.bytes(), kMemory * 7 / 8);
    ASSERT_TRUE(bench.all_are_right());
  }
}

TEST(Objects, AreMovedOutOfABlockInWhichOneWasReplacedOften) {
  ObjectBench bench(kMemory);
  for (int again = 0; again < 250; ++again) bench.put(0, 16);
  bench.put(0, 7000);  // less than half of the block
  bench.put(1, 12000);
  bench.put(2, 6000);
  EXPECT_EQ(bench.blocks.blocks_in_memory(), 2);
  EXPECT_TRUE(bench.all_are_right());
}

TEST(Objects, CountTheirListInTheMemory) {
  ObjectBench bench(std::int64_t{4} << 20);
  EXPECT_EQ(bench.fill(0, 1).first, ANADROME_ERR_MEMORY);
  EXPECT_LE(bench.objects.table_bytes(), std::int64_t{5} << 20);
  ASSERT_TRUE(bench.all_are_right());
}

// ---- mistakes ----

TEST(Objects, SayWhatIsWrong) {
  ObjectBench bench(kMemory);
  bench.put(7, 3000);
  ObjectBench::Bytes some(1000);
  const auto get = [&](Key key, const char* part) {
    const std::vector<Objects::Array> arrays = {ObjectBench::array(part, some)};
    return message_of([&] { bench.objects.get(key, arrays); });
  };
  EXPECT_EQ(get(8, "a"), "there is no object 8");
  EXPECT_EQ(get(7, "c"), "object 7 has no part 'c'");
  EXPECT_EQ(get(7, "b"),
            "part 'b' of object 7 has 1500 elements of type byte, not 1000 of type byte");
  EXPECT_EQ(status_from([&] { bench.objects.drop(8); }), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status_from([&] { bench.objects.release(&bench); }), ANADROME_ERR_ARGUMENT);
  const auto put = [&](std::vector<Objects::Array> arrays) {
    return message_of([&] { bench.objects.put(7, arrays); });
  };
  EXPECT_EQ(put({ObjectBench::array("a b", some)}),
            "'a b' is not the name of a part: use 1 to 63 letters, digits, '_', '-' and '.'");
  EXPECT_EQ(put({ObjectBench::array("a", some), ObjectBench::array("a", some)}),
            "two parts have the name 'a'");
  EXPECT_EQ(put({{"a", ANADROME_BYTE, 5, nullptr}}), "the array of part 'a' is NULL");
  EXPECT_TRUE(bench.is_right(7));
}

TEST(Objects, LargerThanTheMemoryAreRefusedAndChangeNothing) {
  ObjectBench bench(kMemory);
  for (Key key = 0; key < 50; ++key) bench.put(key, 20000);
  const std::int64_t table = bench.objects.table_bytes();
  EXPECT_EQ(status_from([&] { bench.put(3, kMemory + 1); }), ANADROME_ERR_MEMORY);
  EXPECT_EQ(bench.objects.table_bytes(), table) << "nothing is left of it in the list";
  bench.put(100, size(kMemory - 2 * bench.block_bytes()));
  ASSERT_TRUE(bench.all_are_right());
}

TEST(Objects, AreRefusedWhileViewsHoldAllOfTheMemory) {
  ObjectBench bench(kMemory);
  bench.put_blocks(40);
  std::vector<const std::byte*> views;
  const auto look = [&] {
    for (Key key = 0; key < 40; ++key) views.push_back(bench.objects.view(key, "b", 6000).data());
  };
  EXPECT_EQ(status_from(look), ANADROME_ERR_MEMORY);
  EXPECT_EQ(status_from([&] { bench.put(100, 1000); }), ANADROME_ERR_MEMORY);
  for (const std::byte* view : views) bench.objects.release(view);
  bench.put(100, 1000);
  ASSERT_TRUE(bench.all_are_right());
}

TEST(Objects, WithoutADiskFillTheMemoryAndNoMore) {
  ObjectBench bench(kMemory, 0, false);
  EXPECT_EQ(bench.fill(), std::pair(ANADROME_ERR_NO_SPACE, Key{32}));
  ASSERT_TRUE(bench.all_are_right());
}

TEST(Objects, OnADiskThatIsFullAreRefusedUntilOneIsDropped) {
  ObjectBench bench(kMemory, 20);
  EXPECT_EQ(bench.fill(), std::pair(ANADROME_ERR_NO_SPACE, Key{51}))
      << "one block of the memory is for what comes back";
  ASSERT_TRUE(bench.all_are_right());
  bench.drop(10);
  EXPECT_EQ(bench.fill(1000), std::pair(ANADROME_ERR_NO_SPACE, Key{1001}));
  EXPECT_EQ(bench.objects.sync().status, ANADROME_ERR_NO_SPACE);
  ASSERT_TRUE(bench.all_are_right());
}

TEST(Objects, AreWrittenAgainOnceOneThatIsDroppedMadeRoomOnAFullDisk) {
  ObjectBench bench(kMemory, 20);
  const auto [status, key] = bench.fill();
  EXPECT_EQ(status, ANADROME_ERR_NO_SPACE);
  bench.drop(key - 1);  // which is in memory
  bench.drop(10);       // and one that is not
  const std::int64_t before = bench.transport->started();
  bench.put(key, 16 << 10);
  EXPECT_GT(bench.transport->started(), before);
}

}  // namespace
}  // namespace anadrome::store
