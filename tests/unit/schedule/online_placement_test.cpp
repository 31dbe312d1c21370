// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/online_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "counted_allocations.h"

namespace anadrome::schedule {
namespace {

/// The kept states of a sweep that goes on and on, and what a reversal from x_n would take.
class ForwardSweep {
 public:
  ForwardSweep(std::int64_t slots, OnlinePlacement placement)
      : slots_(slots), placement_(std::move(placement)), kept_{0} {
    placement_.begin(0, slots);
  }

  /// All advances if the end is here, the forward sweep's included.
  std::int64_t advances() {
    std::int64_t total = live_, end = live_;
    auto slots = slots_ - static_cast<std::int64_t>(kept_.size()) + 1;
    for (auto step = kept_.rbegin(); step != kept_.rend(); ++step, ++slots) {
      total += static_cast<std::int64_t>(splitter_.advances(end - *step, slots));
      end = *step;
    }
    return total;
  }

  void advance() {
    if (live_ > 0) place();
    ++live_;
  }
  std::int64_t live() const { return live_; }
  const std::vector<std::int64_t>& kept() const { return kept_; }

 private:
  void place() {
    if (static_cast<std::int64_t>(kept_.size()) < slots_) {
      places_.push_back(live_);
      kept_.push_back(live_);
      placement_.add(live_);
      return;
    }
    const std::int64_t place = placement_.replace(live_);
    if (place < 0) return;
    std::int64_t& step = places_.at(static_cast<std::size_t>(place));
    kept_.erase(std::find(kept_.begin() + 1, kept_.end(), step));
    kept_.push_back(live_);
    step = live_;
  }

  std::int64_t slots_, live_ = 0;
  OnlinePlacement placement_;
  std::vector<std::int64_t> kept_, places_;  ///< by step; by place, without x_0
  Splitter splitter_;
};

TEST(OnlinePlacement, IsOptimalForEveryEndUpToTwoRepetitions) {
  for (const std::int64_t s : {1, 2, 3, 5, 10, 50, 200}) {
    for (const std::int64_t few : {0, 512}) {
      ForwardSweep sweep(s, OnlinePlacement(few));
      for (; sweep.live() <= (s + 1) * (s + 2) / 2; sweep.advance()) {
        ASSERT_EQ(sweep.advances(), extra_advances_clamped(sweep.live() + 1, s))
            << "n " << sweep.live() << ", s " << s;
      }
    }
  }
}

/// All forward evaluations over those of Revolve, which knows n: the largest and the mean, for ends
/// from x_10 to x_20000.
struct Ratios {
  double largest = 0, mean = 0;
};

Ratios ratios(std::int64_t slots, std::int64_t few_slots) {
  ForwardSweep sweep(slots, OnlinePlacement(few_slots));
  Ratios ratios;
  constexpr std::int64_t kFirst = 10, kLast = 20000;
  for (; sweep.live() <= kLast; sweep.advance()) {
    const std::int64_t n = sweep.live();
    if (n < kFirst) continue;
    const double ratio = static_cast<double>(n + sweep.advances()) /
                         static_cast<double>(n + extra_advances_clamped(n, slots));
    ratios.largest = std::max(ratios.largest, ratio);
    ratios.mean += ratio / (kLast - kFirst + 1);
  }
  return ratios;
}

// With all kept states looked at, and with levels.
TEST(OnlinePlacement, IsNearRevolveWhichKnowsTheEnd) {
  for (const std::int64_t s : {2, 3, 5, 10, 20, 50}) {
    const Ratios all = ratios(s, 512), levels = ratios(s, 0);
    EXPECT_LE(all.largest, s == 2 ? 1.21 : (s == 3 ? 1.14 : 1.1)) << "s " << s;
    EXPECT_LE(all.mean, 1.02) << "s " << s;
    EXPECT_LE(levels.largest, 1.30) << "s " << s;
    EXPECT_LE(levels.mean, 1.07) << "s " << s;
  }
}

TEST(OnlinePlacement, BeginsAnywhereWhateverItDidBefore) {
  OnlinePlacement fresh, used;
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  used.begin(0, 3);
  used.add(1);
  used.add(2);
  for (std::int64_t step = 3; step < 100; ++step) used.replace(step);
  fresh.begin(0, 5);
  used.begin(kFar, 5);
  for (std::int64_t step = 1; step < 2000; ++step) {
    if (step < 5) {
      fresh.add(step);
      used.add(kFar + step);
    } else {
      ASSERT_EQ(fresh.replace(step), used.replace(kFar + step)) << step;
    }
  }
  OnlinePlacement of_one_slot;
  of_one_slot.begin(0, 1);
  for (std::int64_t step = 1; step < 100; ++step) EXPECT_EQ(of_one_slot.replace(step), -1);
}

// A rank without memory goes on as the others do.
TEST(OnlinePlacement, TakesNoMemoryButWhatIsReserved) {
  struct Given {
    std::int64_t reserved, slots;
  };
  for (const auto& [reserved, slots] : {Given{512, 513}, {511, 512}, {2000, 100}, {2000, 600}}) {
    OnlinePlacement placement;
    placement.reserve(reserved);
    const std::int64_t before = test::allocations();
    placement.begin(0, slots);
    for (std::int64_t step = 1; step < slots; ++step) placement.add(step);
    const std::int64_t two_repetitions = (slots + 1) * (slots + 2) / 2;
    for (std::int64_t step = slots; step < two_repetitions + slots; ++step) placement.replace(step);
    EXPECT_EQ(test::allocations(), before) << slots << " of " << reserved;
  }
}

}  // namespace
}  // namespace anadrome::schedule
