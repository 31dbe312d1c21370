// SPDX-License-Identifier: BSD-2-Clause
// A run's directory, its files and its transport, for one sweep after the other.
#include "engine/disk/storage.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "desk.h"
#include "faulty_file_system.h"
#include "forwarding_file_system.h"

namespace anadrome::engine {
namespace {

using test::Fault;
using test::Operation;

struct Stored : LoneDesk {
  explicit Stored(std::int64_t bytes = kMiB) : LoneDesk(bytes) { options.memory = 8 * bytes; }
  // As begin does. True: the disk is another one.
  bool prepares() {
    context.play.plan = plan("async", 1000);
    planning.plan_memory(context.play.plan, nullptr);
    std::optional<Recovery> none;
    const bool another = storage.changes();
    storage.prepare(memory, true, none);
    return another;
  }
  Failure make_first_files(std::int64_t steps) {
    context.play.plan.steps = steps;
    return storage.make_first_files(context.play.plan);
  }
  void grow() {
    context.play.plan.steps = schedule::kUnknown;
    storage.grow(context.play.plan, Call::kAnchor);
  }
  std::int64_t capacity() { return storage.space()->capacity(); }
  bool has_copy() { return storage.space()->copy_of_first_block() != nullptr; }
  bool has_files() { return std::filesystem::exists(directory / "anadrome/segment-00000.h5"); }
};

TEST(Storage, LastsUntilOptionsOrFieldsChangeAndLeavesNothing) {
  Stored desk;
  EXPECT_TRUE(desk.prepares());
  EXPECT_FALSE(desk.prepares());
  desk.options.interval = 7;
  EXPECT_TRUE(desk.prepares());
  std::vector<unsigned char> more(8);
  desk.add("v", ANADROME_ROLE_STATE, more);
  EXPECT_TRUE(desk.prepares());
  EXPECT_FALSE(desk.prepares());
  EXPECT_FALSE(desk.make_first_files(1000));
  EXPECT_TRUE(desk.has_files());
  desk.storage.give_up();
  EXPECT_TRUE(desk.directory.empty());
}

TEST(Storage, RemovesHeartbeatsWhereTheNameOfAnOpenFileStays) {
  const test::KeepsWhatIsOpen files;
  for (const bool gives_up : {true, false}) {
    Stored desk;
    desk.options.watchdog = 60;
    desk.prepares();
    if (gives_up) desk.storage.give_up();
    desk.storage.prepare_to_remove();
    EXPECT_FALSE(desk.storage.remove());
    EXPECT_TRUE(desk.directory.empty());
  }
}

TEST(Storage, MakesRoomForTheAnchorsThatAreToCome) {
  Stored desk;
  desk.options.interval = 10;
  desk.prepares();
  EXPECT_FALSE(desk.make_first_files(95));
  EXPECT_EQ(desk.capacity(), 10);
  desk.options.interval = 0;  // measured
  desk.prepares();
  EXPECT_FALSE(desk.make_first_files(95));
  EXPECT_EQ(desk.capacity(), 16);
  desk.grow();
  EXPECT_EQ(desk.capacity(), 32);
}

TEST(Storage, MakesFewSegmentsOfLargeStates) {
  Stored desk;
  desk.options.interval = 1;
  desk.prepares();
  desk.context.play.plan.memory.block_bytes_all_ranks = std::int64_t{1} << 40;
  EXPECT_FALSE(desk.make_first_files(40));
  std::int64_t segments = 1;
  for (; desk.capacity() < 40; ++segments) desk.storage.grow(desk.context.play.plan, Call::kAnchor);
  EXPECT_EQ(segments, 7) << "1 + 1 + 2 + 4 + 8 + 16 + 8";
  EXPECT_EQ(desk.capacity(), 40);
}

// What describes a segment is more than a small block of it, so their number counts.
TEST(Storage, KeepsWithinTheOptionDisk) {
  const struct {
    std::int64_t state, disk, least;  ///< bytes, and blocks that have room
    bool has_copy;                    ///< of x_0, if there is another state beside it
  } rows[] = {{kMiB, 2 * kMiB, 1, false},  {kMiB, 5 * kMiB, 2, true},   {kMiB, 10 * kMiB, 5, true},
              {kMiB, 40 * kMiB, 20, true}, {4096, 400 << 10, 10, true}, {4096, 600 << 10, 15, true},
              {4096, 2000 << 10, 50, true}};
  for (const auto& [state, disk, least, has_copy] : rows) {
    SCOPED_TRACE(std::to_string(state) + " bytes, disk " + std::to_string(disk));
    Stored desk(state);
    desk.options.memory = 16 * std::max<std::int64_t>(state / 2, 4096);
    desk.options.disk = disk;
    desk.prepares();
    EXPECT_FALSE(desk.make_first_files(schedule::kUnknown));
    while (desk.capacity() < desk.storage.most_blocks(desk.memory)) desk.grow();
    EXPECT_GE(desk.capacity(), least);
    EXPECT_EQ(desk.has_copy(), has_copy);
    EXPECT_LE(desk.storage.space()->file_bytes_all_ranks(), disk);
  }
  Stored desk;
  desk.options.disk = kMiB;
  const Failure failure = failure_from([&] { desk.begin("async", 1000); });
  EXPECT_TRUE(failure.message.starts_with("disk=1048576 does not hold 1.00 MiB"));
}

TEST(Storage, LetsASweepGoOnInMemoryWhereTheDiskIsFull) {
  test::FaultyFileSystem files;
  Stored desk;
  desk.prepares();
  const auto refusal = [&](Operation operation, std::int64_t at, Fault fault) {
    files.arm(operation, at, fault, true);
    const Failure returned = desk.make_first_files(1000);
    files.disarm();
    return returned.status;
  };
  EXPECT_EQ(refusal(Operation::kAllocate, 1, Fault::kNoSpace), ANADROME_ERR_NO_SPACE);
  EXPECT_THROW(refusal(Operation::kAllocate, 1, Fault::kIoError), Error);
  EXPECT_THROW(refusal(Operation::kOpen, 2, Fault::kIoError), Error) << "when it is made already";
  EXPECT_FALSE(desk.has_files());
  desk.options.keep = true;
  EXPECT_THROW(refusal(Operation::kAllocate, 1, Fault::kNoSpace), Error) << "somebody wants it";
  EXPECT_EQ(refusal(Operation::kAllocate, 2, Fault::kIoError), ANADROME_OK);
  EXPECT_FALSE(desk.has_copy()) << "there is no room for it";
}

// A host that is gone left a lock with a fresh heartbeat, which is old at the third look.
class AgeingLock final : public test::ForwardingFileSystem {
 public:
  explicit AgeingLock(const std::string& directory) : path_(directory + "/lock") {
    std::filesystem::create_directory(directory);
    write(0);
  }
  void drop_cached(int descriptor) override {
    constexpr int kOld = 3;
    if (++looks == kOld) write(2 * store::kStaleSeconds);
    ForwardingFileSystem::drop_cached(descriptor);
  }
  int looks = 0;

 private:
  void write(std::int64_t age) {
    store::LockRecord record = store::new_lock_record("0123");
    record.holder.machine = "another";
    record.heartbeat -= age;
    write_lock(store::File::open(path_, O_RDWR | O_CREAT), record);
  }
  using ForwardingFileSystem::write;
  const std::string path_;
};

TEST(Storage, WaitsForAHolderOutOfSightAsLongAsIsAsked) {
  for (const double seconds : {1e6, 0.0}) {
    Stored desk;
    const AgeingLock lock(desk.directory / "anadrome");
    desk.options.wait_for_lock = seconds;
    const Failure failure = failure_from([&] { desk.begin("async", 1000); });
    EXPECT_EQ(failure.status, seconds > 0 ? ANADROME_OK : ANADROME_ERR_BUSY) << failure.message;
  }
  Stored desk;
  desk.options.wait_for_lock = 1e6;
  const AgeingLock lock(desk.directory / "anadrome");
  desk.begin("revolve", 1000);
  EXPECT_EQ(lock.looks, 0) << "it needs no directory";
}

}  // namespace
}  // namespace anadrome::engine
