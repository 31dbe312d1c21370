// SPDX-License-Identifier: BSD-2-Clause
// A second tier in memory that holds a few states only, and a list of tiers that a schedule's
// actions name by number: what another kind of memory would be.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "copied_live.h"
#include "store/tiers/ram_tier.h"

namespace anadrome::store {
namespace {

class LimitedRam final : public Tier {
 public:
  LimitedRam(std::unique_ptr<Tier> tier, std::int64_t states)
      : tier_(std::move(tier)), states_(states) {}

  void keep(const KeptState& state) override {
    if (state.number >= states_) throw Error(ANADROME_ERR_INTERNAL, "this memory is full");
    tier_->keep(state);
  }
  Failure load(std::int64_t number) override { return tier_->load(number); }
  bool lose(std::int64_t number) override { return tier_->lose(number); }
  void restore(const KeptState& state) override { tier_->restore(state); }
  void drop(std::int64_t number) override { tier_->drop(number); }
  Cost cost() const override { return tier_->cost(); }
  Agreed agreed_before_use() const override { return tier_->agreed_before_use(); }

 private:
  std::unique_ptr<Tier> tier_;
  std::int64_t states_;
};

struct LimitedBench {
  explicit LimitedBench(std::int64_t pool_blocks) : pool(layout.block_bytes(), pool_blocks) {
    auto limited = std::make_unique<RamTier>(layout, blocks, live);
    tiers.push_back(std::make_unique<RamTier>(layout, blocks, live));
    tiers.push_back(std::make_unique<LimitedRam>(std::move(limited), 2));
  }
  void keep(std::size_t tier, std::int64_t number, std::int64_t value) {
    values.set(value);
    tiers[tier]->keep({number, 0});
  }
  bool brings_back(std::size_t tier, std::int64_t number, std::int64_t value) {
    values.set(-1);
    tiers[tier]->restore({number, 0});
    return values.are(value);
  }
  Values values{4};
  BlockLayout layout{{1, false}, std::vector<Field>{CopiedLive::field(values.all)}};
  Pool pool;
  BlockKeeper blocks{pool};
  CopiedLive live{layout, pool, values.all};
  std::vector<std::unique_ptr<Tier>> tiers;
};

TEST(Tiers, KeepTheirOwnStatesUnderTheSameNumbers) {
  LimitedBench s(4);
  for (const std::size_t tier : {0u, 1u}) {
    for (std::int64_t number = 0; number < 2; ++number) {
      s.keep(tier, number, 10 * static_cast<std::int64_t>(tier) + number);
    }
  }
  for (const std::size_t tier : {0u, 1u}) {
    for (std::int64_t number = 0; number < 2; ++number) {
      EXPECT_TRUE(s.brings_back(tier, number, 10 * static_cast<std::int64_t>(tier) + number));
    }
  }
}

TEST(Tiers, HaveTheirOwnRoomInOnePool) {
  LimitedBench s(3);
  s.keep(1, 0, 1);
  s.keep(1, 1, 2);
  EXPECT_THROW(s.keep(1, 2, 3), Error) << "its limit";
  s.keep(0, 0, 4);
  EXPECT_THROW(s.keep(0, 1, 5), Error) << "the pool's";
  s.tiers[1]->drop(1);
  s.keep(0, 1, 5);
  EXPECT_TRUE(s.brings_back(0, 1, 5));
  EXPECT_TRUE(s.brings_back(1, 0, 1));
}

}  // namespace
}  // namespace anadrome::store
