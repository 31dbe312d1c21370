// SPDX-License-Identifier: BSD-2-Clause
// Anchors on two volumes: the rule of schedule/words/two_volumes.h, against every set of places
// that there is.
#include "schedule/words/two_volumes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "schedule/anchored/anchored_sweep.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

struct Disks {
  std::int64_t steps = 0, blocks = 0;  ///< of memory, the one that is home's not among them
  double adjoint = 2;
  VolumeCosts home, fast;  ///< in forward steps
  std::int64_t fast_room = kNoLimit;
};

// As a run would plan it, with all times known.
IntervalProblem problem_of(const Disks& disks) {
  IntervalProblem problem;
  const VolumeCosts both = side_by_side(disks.home, disks.fast);
  problem.costs = {1, disks.adjoint, both.write, both.read, 0, 0};
  problem.memory.blocks = disks.blocks;
  problem.steps = disks.steps;
  const double x_0 = disks.fast.write + disks.home.write;  // goes to both
  problem.anchors_left = room_of_both(kNoLimit, disks.fast_room - 1, disks.home.write,
                                      static_cast<double>(disks.steps) - x_0);
  return problem;
}

// Anchors at some steps, each on one volume, on a clock of its own.
class Anchors {
 public:
  explicit Anchors(const Disks& disks) : disks_(disks), fast_left_(disks.fast_room - 1) {
    free_ = {disks.fast.write + disks.home.write, disks.fast.write};  // x_0 goes to both
  }

  static constexpr int kHome = 0, kFast = 1;
  double now() const { return now_; }
  std::int64_t newest() const { return placed_.back().step; }
  bool fits(int volume) const { return volume == kHome || fast_left_ > 0; }
  std::int64_t under_way(int volume) const {
    const double busy = free_[index(volume)] - now_;
    return busy > write(volume) ? 2 : busy > 0 ? 1 : 0;
  }
  void advance_to(std::int64_t step) { now_ += static_cast<double>(step - newest()); }
  void add(std::int64_t step, int volume) {
    if (volume == kFast) --fast_left_;
    double& free = free_[index(volume)];
    now_ = std::max(now_, free - static_cast<double>(disks_.blocks - 1) * write(volume));
    free = std::max(free, now_) + write(volume);
    placed_.push_back({step, volume});
  }

  /// When the last adjoint is done: intervals with the slots that reading `depth` states ahead
  /// leaves, and the end with all of the memory that no write needs. So many states are in memory
  /// still at TURN.
  double reversed(std::int64_t depth) const {
    const std::int64_t slots = problem_of(disks_).memory.slots(depth);
    const std::int64_t tail = disks_.steps - newest();
    double now = now_ + static_cast<double>(tail);
    std::int64_t writing = 0;
    for (const int volume : {kHome, kFast}) {
      const double busy = std::max(0.0, free_[index(volume)] - now);
      writing += static_cast<std::int64_t>(std::ceil(busy / write(volume)));
    }
    // A block is for reading ahead, where anything is read so.
    const std::int64_t most = placed_.size() > 1 ? slots : disks_.blocks;
    const std::int64_t left = std::clamp<std::int64_t>(disks_.blocks + 1 - writing, 1, most);
    std::array<double, 2> free = free_;
    double home_may_begin = now;
    std::vector<double> begun(static_cast<std::size_t>(depth), now);  // newest last
    now += static_cast<double>(tail_steps(tail, left, false)) +
           static_cast<double>(tail) * disks_.adjoint;
    for (std::size_t i = placed_.size() - 1; i-- > 0;) {
      const bool at_home = placed_[i].volume == kHome;
      const std::size_t above = placed_.size() - 2 - i;
      if (above >= static_cast<std::size_t>(depth)) {
        const double room = at_home ? home_may_begin : depth == 0 ? now : *(begun.end() - depth);
        double& link = free[index(placed_[i].volume)];
        link = std::max(link, room) + (at_home ? disks_.home.read : disks_.fast.read);
        now = std::max(now, link);
      }
      begun.push_back(now);
      if (at_home) home_may_begin = now;
      const std::int64_t steps = placed_[i + 1].step - placed_[i].step;
      now += static_cast<double>(advances_from_anchor(steps, slots, 0)) +
             static_cast<double>(steps) * disks_.adjoint;
    }
    return now;
  }

 private:
  struct Anchor {
    std::int64_t step;
    int volume;
  };
  static std::size_t index(int volume) { return static_cast<std::size_t>(volume); }
  double write(int volume) const { return volume == kHome ? disks_.home.write : disks_.fast.write; }

  const Disks& disks_;
  std::vector<Anchor> placed_ = {{0, kFast}};
  std::array<double, 2> free_;
  double now_ = 0;
  std::int64_t fast_left_;
};

// The best of every set of steps for anchors, and every volume for each.
double search(const Disks& disks, const Anchors& here, std::int64_t depth, double best) {
  best = std::min(best, here.reversed(depth));
  for (std::int64_t step = here.newest() + 1; step < disks.steps; ++step) {
    for (const int volume : {Anchors::kHome, Anchors::kFast}) {
      if (!here.fits(volume)) continue;
      Anchors next = here;
      next.advance_to(step);
      next.add(step, volume);
      if (next.now() < best) best = search(disks, next, depth, best);
    }
  }
  return best;
}

double best_of_all(const Disks& disks) {
  double best = 1e30;
  for (std::int64_t depth = 0; depth < disks.blocks; ++depth)
    best = search(disks, Anchors(disks), depth, best);
  return best;
}

// The plan of a run, with the volumes that a run takes.
double of_plan(const Disks& disks) {
  const IntervalProblem problem = problem_of(disks);
  const AsyncPlan plan = plan_intervals(problem);
  const AnchoredSweep sweep = anchored_sweep(problem, plan);
  Anchors anchors(disks);
  VolumeChoice choice;
  for (std::int64_t i = 1; i <= sweep.written; ++i) {
    const std::int64_t step = i * plan.interval;
    anchors.advance_to(step);
    const double until_turn = static_cast<double>(disks.steps) - anchors.now();
    const bool due = choice.is_for_home(anchors.now(), until_turn, disks.home.write,
                                        anchors.under_way(Anchors::kHome));
    if (due || !anchors.fits(Anchors::kFast)) choice.went_home();
    anchors.add(step, due || !anchors.fits(Anchors::kFast) ? Anchors::kHome : Anchors::kFast);
  }
  return anchors.reversed(plan.prefetch_depth);
}

TEST(TwoVolumes, AreOneThatWritesAsManyStatesAsBoth) {
  const VolumeCosts both = side_by_side({12, 10}, {4, 4});
  EXPECT_DOUBLE_EQ(both.write, 3);
  EXPECT_DOUBLE_EQ(both.read, 3) << "three of four states come from the fast one";
  EXPECT_DOUBLE_EQ(side_by_side({4, 20}, {4, 2}).read, 10) << "every second one from home";
  // Room is for what home has time for and the fast one has places for.
  EXPECT_EQ(room_of_both(1000, 8, 5, 100), 28);
  EXPECT_EQ(room_of_both(10, 8, 5, 100), 18);
  EXPECT_EQ(room_of_both(kNoLimit, kNoLimit, 5, 1e30), kMostSteps);
}

TEST(TwoVolumes, GiveHomeAsMuchAsItCanTake) {
  for (const double interval : {0.5, 0.9, 1.0, 2.7}) {
    constexpr double kWrite = 4;
    VolumeChoice choice;
    double free = 0;
    int went = 0;
    for (int block = 1; block <= 1000; ++block) {
      const double now = block * interval, busy = free - now;
      const std::int64_t under_way = busy > kWrite ? 2 : busy > 0 ? 1 : 0;
      ASSERT_LE(busy, 2 * kWrite);
      if (!choice.is_for_home(now, kForEver, kWrite, under_way)) continue;
      choice.went_home();
      free = std::max(free, now) + kWrite;
      ++went;
    }
    EXPECT_NEAR(went, 1000 * interval / kWrite, 2) << interval;
  }
}

TEST(TwoVolumes, DoNotMakeUpForWhatHomeMissedLongAgo) {
  VolumeChoice choice;
  int in_a_row = 0;
  while (choice.is_for_home(100, kForEver, 4, 0)) {
    choice.went_home();
    ++in_a_row;
  }
  EXPECT_EQ(in_a_row, 2);
  EXPECT_FALSE(VolumeChoice().is_for_home(100, kForEver, 0, 0)) << "nobody knows its time";
  EXPECT_FALSE(VolumeChoice().is_for_home(100, kForEver, 4, 2));
  EXPECT_TRUE(VolumeChoice().is_for_home(100, 8, 4, 1));
  EXPECT_FALSE(VolumeChoice().is_for_home(100, 7, 4, 1)) << "it would be there after TURN";
}

TEST(TwoVolumes, AreUsedNearlyAsWellAsCanBe) {
  double sum = 0, worst = 1;
  int cases = 0;
  for (const std::int64_t steps : {7, 9, 10, 11}) {
    for (const std::int64_t blocks : {3, 4, 5}) {
      for (const double write : {1.0, 2.0, 3.0}) {
        for (const double ratio : {4.0, 16.0}) {
          for (const std::int64_t room : {std::int64_t{2}, std::int64_t{4}, kNoLimit}) {
            const Disks disks = {steps,          blocks, 2, {ratio * write, ratio * write},
                                 {write, write}, room};
            const double best = best_of_all(disks), taken = of_plan(disks);
            EXPECT_GE(taken, best - 1e-9) << steps << " " << blocks << " " << write << " " << ratio;
            sum += taken / best;
            worst = std::max(worst, taken / best);
            ++cases;
          }
        }
      }
    }
  }
  std::printf("%d problems: %.3f of the optimum in the mean, %.3f at worst\n", cases, sum / cases,
              worst);
  EXPECT_LE(sum / cases, 1.05);
}

}  // namespace
}  // namespace anadrome::questions
