// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/block_keeper.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace anadrome::store {
namespace {

using State = Resident::State;

// A pool of a few blocks that are all in use, and a tier that says what the test wants.
class Keeping final : public BlockKeeper::Backing {
 public:
  explicit Keeping(std::int64_t blocks) : pool(64, blocks), keeper(pool) {
    keeper.back_with(*this);
    keeper.work_on({});
  }

  Resident& add(std::int64_t block, State state, bool dropped = false) {
    Resident& resident = keeper.add(block, pool.take());
    resident.state = state;
    resident.dropped = dropped;
    if (state == State::kClean) safe.insert(block);
    return resident;
  }
  std::vector<std::int64_t> in_memory() const {
    std::vector<std::int64_t> blocks;
    for (const auto& entry : keeper.residents()) blocks.push_back(entry.first);
    return blocks;
  }

  bool is_on_disk(std::int64_t block) const override { return safe.count(block) > 0; }
  bool first_block_stays() const override { return first_stays; }
  Failure why_no_memory() const override { return {ANADROME_ERR_IO, "x_0 was not written"}; }
  void settle_finished() override {}
  void finish(std::int64_t block) override {
    waited_for.push_back(block);
    settle(block);
  }
  bool write_first_block_again() override {
    ++tries;
    if (!try_again) return false;
    first_stays = false;
    safe.insert(0);
    return true;
  }

  Pool pool;
  BlockKeeper keeper;
  std::set<std::int64_t> safe;  ///< on disk
  std::vector<std::int64_t> waited_for;
  bool first_stays = false, try_again = false;
  int tries = 0;

 private:
  void settle(std::int64_t block) {
    const auto resident = keeper.residents().find(block);
    resident->second.state = State::kClean;
    safe.insert(block);
    if (resident->second.dropped) keeper.release(resident);
  }
};

using Blocks = std::vector<std::int64_t>;

TEST(BlockKeeper, HasNothingToGiveWithoutATierOnDisk) {
  Pool pool(64, 1);
  BlockKeeper keeper(pool);
  EXPECT_EQ(keeper.take(), 0);
  EXPECT_THROW(keeper.take(), Error);
  EXPECT_EQ(keeper.take_idle({}), -1);
}

TEST(BlockKeeper, EvictsTheLowestBlockThatIsSafeOnDisk) {
  Keeping s(4);
  for (std::int64_t block : {2, 4, 7}) s.add(block, State::kClean);
  s.add(1, State::kFilling);
  s.keeper.take();
  EXPECT_EQ(s.in_memory(), (Blocks{1, 4, 7}));
  s.keeper.take();
  EXPECT_EQ(s.in_memory(), (Blocks{1, 7}));
}

TEST(BlockKeeper, LeavesTheBlocksBeingWorkedOn) {
  Keeping s(4);
  for (std::int64_t block : {2, 3, 4, 5}) s.add(block, State::kClean);
  s.keeper.work_on({2, 3});
  s.keeper.take();
  s.keeper.take();
  EXPECT_EQ(s.in_memory(), (Blocks{2, 3}));
  EXPECT_GE(s.keeper.take(), 0);
  EXPECT_EQ(s.in_memory(), (Blocks{3})) << "what was read ahead";
  EXPECT_THROW(s.keeper.take(), Error) << "more than the schedule may use";
}

TEST(BlockKeeper, DoesNotEvictABlockThatIsTheLiveStateToo) {
  Keeping s(2);
  s.pool.hold(s.add(1, State::kClean).pool_block);
  s.add(2, State::kClean);
  s.keeper.take();
  EXPECT_EQ(s.in_memory(), (Blocks{1}));
  EXPECT_THROW(s.keeper.take(), Error);
}

TEST(BlockKeeper, WaitsFirstForABlockThatNobodyNeedsAnyMore) {
  Keeping s(3);
  s.add(1, State::kWriting);
  s.add(2, State::kReading);
  s.add(5, State::kWriting, true);
  s.keeper.take();
  EXPECT_EQ(s.waited_for, (Blocks{5}));
}

TEST(BlockKeeper, LosesWhatCannotBeReadAgainLastAndTheHighestFirst) {
  Keeping s(4);
  for (std::int64_t block : {1, 2, 3}) s.add(block, State::kClean);
  s.safe = {2};
  s.add(4, State::kWriting);
  s.keeper.take();
  EXPECT_EQ(s.in_memory(), (Blocks{1, 3, 4}));
  s.keeper.take();
  EXPECT_EQ(s.waited_for, (Blocks{4}));
  s.keeper.take();
  EXPECT_EQ(s.in_memory(), (Blocks{1}));
}

TEST(BlockKeeper, KeepsStepZeroThatIsOnNoDiskAgainstEverybody) {
  Keeping s(2);
  s.add(0, State::kClean);
  s.add(1, State::kClean);
  s.safe = {1};
  s.first_stays = true;
  s.keeper.work_on({1, 1});
  EXPECT_GE(s.keeper.take_to_read(), 0) << "even the block being worked on goes before it";
  EXPECT_EQ(s.in_memory(), (Blocks{0}));
  EXPECT_EQ(s.keeper.take_to_fill(), -1);
  EXPECT_EQ(s.keeper.take_to_read(), -1);
  const Failure failure = failure_from([&] { s.keeper.take(); });
  EXPECT_EQ(failure.status, ANADROME_ERR_IO);
  EXPECT_EQ(failure.message, "x_0 was not written; and there is no memory beside that of step 0");
}

TEST(BlockKeeper, DoesNotTouchStepZeroWhileItIsWorkedOn) {
  Keeping s(2);
  s.add(0, State::kClean);
  s.add(1, State::kClean);
  s.safe = {};
  s.first_stays = s.try_again = true;
  s.keeper.work_on({0, 0});
  s.keeper.take();
  EXPECT_EQ(s.tries, 0);
  EXPECT_EQ(s.in_memory(), (Blocks{0}));
}

TEST(BlockKeeper, NeverWaitsForAnIdleBlock) {
  Keeping s(3);
  s.add(1, State::kWriting);
  s.add(2, State::kClean);
  s.add(3, State::kClean);
  s.safe = {3};
  EXPECT_EQ(s.keeper.take_idle({3, 9}), -1);
  EXPECT_GE(s.keeper.take_idle({4, 9}), 0);
  EXPECT_EQ(s.in_memory(), (Blocks{1, 2}));
  EXPECT_TRUE(s.waited_for.empty());
}

}  // namespace
}  // namespace anadrome::store
