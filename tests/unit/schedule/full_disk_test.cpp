// SPDX-License-Identifier: BSD-2-Clause
// The steps that are told of a sweep whose disk becomes full are those that it takes.
#include "schedule/anchored/full_disk.h"

#include <gtest/gtest.h>

#include <random>

#include "schedule/rows.h"
#include "schedule/words/rules.h"

namespace anadrome::schedule {
namespace {

struct Case {
  std::int64_t steps = 0, blocks = 0, anchors = 0;
  StepCosts costs;
};

Measured measured_of(const Case& one) {
  return {.costs = one.costs, .write_times_known = true, .of_earlier_sweep = true};
}

DiskLeft left_of(const Case& one) { return {.slots = one.blocks}; }

SweepPtr sweep_of(const Case& one) {
  Problem problem;
  problem.sizing.steps = one.steps;
  problem.costs = one.costs;
  problem.shared.blocks = one.blocks;
  problem.blocks_on_disk = kNoLimit;
  problem.read_ahead = one.blocks > 1 ? 1 : 0;
  problem.slots = problem.shared.slots(problem.read_ahead);
  return make_async(problem);
}

// As a run does it, to its end and under the rules.
std::int64_t played(const Case& one) {
  const SweepPtr sweep = sweep_of(one);
  Rules rules({.steps = {one.steps}, .units = one.blocks, .anchors_stay = true});
  Measured measured = measured_of(one);
  std::int64_t kept = 0;
  bool full = false, turned = false;
  while (!rules.done()) {
    const Action action = sweep->next();
    if (kept > one.anchors && !full) {
      full = true;
      sweep->disk_is_full(left_of(one));
    }
    rules.play(action);
    if (const auto* const keep = std::get_if<Keep>(&action))
      kept += keep->tier != kRamTier && !turned ? 1 : 0;
    turned = turned || std::holds_alternative<Turn>(action);
    if (!std::holds_alternative<Decide>(action)) continue;
    ++measured.agreement;
    while (sweep->decide(measured) != Next::kGoOn) ++measured.agreement;
  }
  return rules.taken().advances;
}

TEST(FullDisk, TellsTheStepsThatTheSweepTakes) {
  constexpr int kCases = 500;
  std::mt19937_64 random(20261124);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int k = 0; k < kCases; ++k) {
    Case one;
    one.steps = draw(1, 200);
    one.blocks = draw(1, 12);
    one.anchors = draw(1, 30);
    const auto write = static_cast<double>(draw(0, 40)) / 4;
    one.costs = {1, 2, write, write, 0, 0};
    SCOPED_TRACE(::testing::Message() << "steps " << one.steps << ", blocks " << one.blocks
                                      << ", anchors " << one.anchors << ", write " << write);
    const SweepPtr sweep = sweep_of(one);
    ASSERT_EQ(advances_on_full_disk(*sweep, measured_of(one), one.anchors, left_of(one)),
              played(one));
  }
}

}  // namespace
}  // namespace anadrome::schedule
