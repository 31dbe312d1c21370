// A run's directory, its files and its transport, for one sweep after the other.
#include "engine/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "desk.h"
#include "faulty_file_system.h"

namespace anadrome::engine {
namespace {

using test::Fault;
using test::FaultyFileSystem;
using test::Operation;

constexpr std::int64_t kState = std::int64_t{64} << 10, kMiB = std::int64_t{1} << 20;

MemoryPlan memory_of(Desk& desk) {
  SweepPlan plan = desk.plan("async", 1000);
  desk.planning.plan_memory(plan, nullptr);
  return plan.memory;
}

// As begin does. True: the disk is another one.
bool prepares(Desk& desk, bool transports = true) {
  std::optional<Recovery> none;
  desk.storage.changes();
  return desk.storage.prepare(memory_of(desk), transports, none);
}

std::int64_t segments_in(const Desk& desk) {
  const std::filesystem::recursive_directory_iterator files(desk.directory.path());
  return std::count_if(begin(files), end(files), [](const auto& file) {
    return file.path().filename().string().starts_with("segment");
  });
}

TEST(Storage, LastsUntilOptionsOrFieldsChange) {
  alone(kState, 0, [](Desk& desk) {
    EXPECT_TRUE(prepares(desk));
    const store::Transport* const first = desk.storage.transport();
    EXPECT_FALSE(prepares(desk));
    EXPECT_EQ(desk.storage.transport(), first);
    desk.options.interval = 7;
    EXPECT_TRUE(prepares(desk));
    EXPECT_FALSE(desk.storage.changes());
    std::vector<unsigned char> more(8);
    desk.add("v", ANADROME_ROLE_STATE, more);
    EXPECT_TRUE(prepares(desk));
    EXPECT_FALSE(prepares(desk));
  });
}

TEST(Storage, LeavesNothingWhenItIsGivenUp) {
  alone(kState, 0, [](Desk& desk) {
    EXPECT_TRUE(prepares(desk));
    EXPECT_FALSE(desk.storage.make_first_files(memory_of(desk), 1000));
    EXPECT_GT(segments_in(desk), 0);
    desk.storage.give_up();
    EXPECT_TRUE(desk.directory.empty());
    EXPECT_FALSE(desk.storage.has_directory());
    EXPECT_EQ(desk.storage.transport(), nullptr);
  });
}

TEST(Storage, IsADirectoryWithoutATransportWhereRanksAreOnlyWatched) {
  alone(kState, 0, [](Desk& desk) {
    desk.options.watchdog = 60;
    EXPECT_FALSE(prepares(desk, false));
    EXPECT_NE(desk.storage.watch(), nullptr);
    EXPECT_EQ(desk.storage.transport(), nullptr);
    EXPECT_TRUE(prepares(desk)) << "the next sweep has states on disk";
  });
}

TEST(Storage, MakesRoomForTheAnchorsThatAreToCome) {
  alone(kState, 0, [](Desk& desk) {
    desk.options.memory = 8 * kState;
    desk.options.interval = 10;
    prepares(desk);
    const MemoryPlan memory = memory_of(desk);
    ASSERT_EQ(memory.layout.states(), 1);
    EXPECT_FALSE(desk.storage.make_first_files(memory, 95));
    EXPECT_EQ(desk.storage.space()->capacity(), 10);
    EXPECT_NE(desk.storage.space()->copy_of_first_block(), nullptr);
    desk.options.interval = 0;
    prepares(desk);
    EXPECT_FALSE(desk.storage.make_first_files(memory, 95));
    EXPECT_EQ(desk.storage.space()->capacity(), 16);
    for (const std::int64_t blocks : {32, 64}) {
      desk.storage.grow(memory, schedule::kUnknown, Call::kAnchor);
      EXPECT_EQ(desk.storage.space()->capacity(), blocks);
    }
  });
}

TEST(Storage, KeepsWithinTheOptionDisk) {
  for (const std::int64_t states : {2, 5, 10, 40}) {
    alone(kMiB, 0, [&](Desk& desk) {
      desk.options.memory = 8 * kMiB;
      desk.options.disk = states * kMiB;
      prepares(desk);
      const MemoryPlan memory = memory_of(desk);
      EXPECT_FALSE(desk.storage.make_first_files(memory, schedule::kUnknown));
      const DiskSpace& space = *desk.storage.space();
      while (space.capacity() < desk.storage.most_blocks(memory)) {
        desk.storage.grow(memory, schedule::kUnknown, Call::kAnchor);
      }
      EXPECT_GE(space.capacity(), states / 2) << states;
      EXPECT_EQ(space.copy_of_first_block() != nullptr, states > 2) << "or there would be no other";
      EXPECT_LE(space.file_bytes_all_ranks(), desk.options.disk) << states;
    });
  }
}

TEST(Storage, SaysThatADiskIsTooSmall) {
  alone(kState, 0, [](Desk& desk) {
    desk.options.memory = 8 * kState;
    desk.options.disk = kState;
    const Failure failure = failure_from([&] { desk.begin("async", 1000); });
    EXPECT_EQ(failure.status, ANADROME_ERR_NO_SPACE);
    EXPECT_NE(failure.message.find("disk=65536 does not hold 64.0 KiB"), std::string::npos)
        << failure.message;
  });
}

TEST(Storage, LetsASweepGoOnInMemoryWhereTheDiskIsFull) {
  alone(kState, 0, [](Desk& desk) {
    FaultyFileSystem files;
    prepares(desk);
    const MemoryPlan memory = memory_of(desk);
    const auto refusal = [&](Operation operation, std::int64_t at, Fault fault) {
      files.arm(operation, at, fault, true);
      const Failure returned = desk.storage.make_first_files(memory, 1000);
      files.disarm();
      return returned.status;
    };
    EXPECT_EQ(refusal(Operation::kAllocate, 1, Fault::kNoSpace), ANADROME_ERR_NO_SPACE);
    EXPECT_THROW(refusal(Operation::kAllocate, 1, Fault::kIoError), Error);
    EXPECT_THROW(refusal(Operation::kOpen, 3, Fault::kIoError), Error) << "when it is made already";
    EXPECT_EQ(segments_in(desk), 0);
    desk.options.keep = true;
    EXPECT_THROW(refusal(Operation::kAllocate, 1, Fault::kNoSpace), Error) << "somebody wants it";
    EXPECT_EQ(refusal(Operation::kAllocate, 2, Fault::kIoError), ANADROME_OK);
    EXPECT_EQ(segments_in(desk), 1) << "without a copy of the first state";
    EXPECT_EQ(desk.storage.space()->copy_of_first_block(), nullptr);
  });
}

TEST(Storage, LeavesOtherRunsThatMayBeWhole) {
  const Failure failure = failure_from([] { throw_untouched(Error(ANADROME_ERR_IO, "no disk")); });
  EXPECT_EQ(failure.status, ANADROME_ERR_IO);
  EXPECT_TRUE(failure.message.starts_with("no disk; the run that was left is untouched"));
}

}  // namespace
}  // namespace anadrome::engine
