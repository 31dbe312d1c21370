#include "engine/why.h"

#include <gtest/gtest.h>

#include <string>

#include "schedule/revolve.h"

namespace anadrome::engine {
namespace {

// 1000 steps of 1 s, 2 s for the adjoint; on disk an anchor every `interval` steps.
SweepCosts on_disk(double transfer, std::int64_t blocks, std::int64_t interval) {
  SweepCosts costs;
  costs.step = {1, 2, transfer, transfer};
  costs.steps = 1000;
  costs.disk = true;
  costs.memory = {blocks, 1, true};
  costs.plan = {interval, 1, costs.memory.slots(1), 0};
  return costs;
}

SweepCosts in_memory(std::int64_t slots) {
  SweepCosts costs;
  costs.step = {1, 2, 0, 0};
  costs.steps = 1000;
  costs.plan.slots = slots;
  return costs;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PredictSeconds, AddsWhatTheSchedulePromises) {
  // 40 s so far; 960 steps and 500 more to be taken again, 1000 adjoint steps of 2 s.
  EXPECT_DOUBLE_EQ(predict_seconds(in_memory(10), {40, 40, 1460}), 40 + 1460 + 2000);
}

TEST(PredictSeconds, AddsCopies) {
  SweepCosts costs = in_memory(1000);
  costs.copy = 0.25;  // a keep and a restore for each step
  EXPECT_DOUBLE_EQ(predict_seconds(costs, {0, 0, 1000}), 1000 + 2000 + 2 * 250);
}

TEST(PredictSeconds, AddsTransfersOnlyWhereTheyAreNotHidden) {
  EXPECT_DOUBLE_EQ(predict_seconds(on_disk(0.5, 10, 1), {0, 0, 1000}), 3000);
  // A write of 4 s under a step of 1 s, a read of 4 s under an adjoint step of 2 s.
  EXPECT_DOUBLE_EQ(predict_seconds(on_disk(4, 10, 1), {0, 0, 1000}), 3000 + 3000 + 2000);
}

TEST(Explain, NamesTheSolverWhereNothingIsLost) {
  const std::string text = explain(on_disk(0.5, 10, 1), {3010, 10, 0, 1});
  EXPECT_TRUE(says(text, "bound by the solver")) << text;
  EXPECT_TRUE(says(text, "twice the memory gains nothing")) << text;
  EXPECT_TRUE(says(text, "a disk twice as fast gains nothing")) << text;
}

TEST(Explain, NamesMemoryWhereRevolveIsAlone) {
  const std::string text = explain(in_memory(5), {8000, 10, 0, 1});
  EXPECT_TRUE(says(text, "bound by memory")) << text;
  EXPECT_FALSE(says(text, "a disk twice as fast")) << text;
  // E(1001, 5) and E(1001, 10) advances, and 2000 s of adjoint steps.
  const double now = static_cast<double>(schedule::extra_advances(1001, 5)) + 2000;
  const double then = static_cast<double>(schedule::extra_advances(1001, 10)) + 2000;
  const int gain = static_cast<int>(100 * (1 - then / now) + 0.5);
  EXPECT_TRUE(says(text, "twice the memory gains about " + std::to_string(gain) + " %")) << text;
}

TEST(Explain, NamesTheDiskWhereItsSpeedDecides) {
  const std::string text = explain(on_disk(50, 3, 50), {9000, 10, 500, 1});
  EXPECT_TRUE(says(text, "a disk twice as fast gains about")) << text;
}

TEST(Explain, NamesTheProcessorsWhereNoCoreIsLeft) {
  SweepCosts costs = on_disk(0.5, 10, 1);
  costs.step.write_taken = costs.step.read_taken = 0.2;
  EXPECT_TRUE(says(explain(costs, {3400, 10, 0, 1}), "bound by the processors"))
      << explain(costs, {3400, 10, 0, 1});
}

TEST(Explain, OffersExchangedFieldsOnlyToLargeStatesThatAreCopiedLong) {
  const std::string knob = "exchanged fields instead of copies";
  SweepCosts costs = on_disk(0.5, 10, 1);
  EXPECT_TRUE(says(explain(costs, {3500, 500, 0, 1}), knob));
  EXPECT_FALSE(says(explain(costs, {3500, 10, 0, 1}), knob));
  costs.memory.states_per_block = 64;
  EXPECT_FALSE(says(explain(costs, {3500, 500, 0, 1}), knob));
}

TEST(Explain, OffersTheOverlappingTransportToTheOther) {
  SweepCosts costs = on_disk(4, 10, 4);
  costs.memory.overlaps = false;
  EXPECT_TRUE(says(explain(costs, {6000, 10, 2000, 1}), "transport=direct gains about"));
}

TEST(Explain, SaysNothingOfNothing) {
  SweepCosts costs = in_memory(5);
  costs.steps = 0;
  EXPECT_EQ(explain(costs, {}), "");
}

}  // namespace
}  // namespace anadrome::engine
