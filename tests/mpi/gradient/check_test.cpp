// SPDX-License-Identifier: BSD-2-Clause
// anadrome_check_gradient on the ranks this program is started with: right adjoints pass, every
// mistake is seen, with the step and what it looks like.
#include <anadrome/gradient.h>
#include <gtest/gtest.h>

#include <string>

#include "has_part.h"
#include "mpi_main.h"
#include "ring_model.h"

namespace {

using anadrome::test::has_part;
using anadrome::test::Mistake;
using anadrome::test::ranks;
using anadrome::test::Ring;
using anadrome::test::RingOptions;

constexpr std::int64_t kSteps = 20;
constexpr double kIsTwo = 0.15;  // of a slope

void expect_right(const anadrome_gradient_check& check, bool linear = false) {
  EXPECT_EQ(check.verdict, ANADROME_VERDICT_RIGHT) << check.message;
  EXPECT_EQ(check.taylor_verdict, ANADROME_VERDICT_RIGHT) << check.message;
  EXPECT_EQ(check.mismatch, ANADROME_MISMATCH_NONE) << check.message;
  EXPECT_EQ(check.failing_step, -1) << check.message;
  for (std::int64_t i = 0; i < check.seeds && !linear; ++i) {
    EXPECT_NEAR(check.slope[i], 2, kIsTwo) << check.message;
    EXPECT_NEAR(check.first_slope[i], 1, 0.1) << check.message;
    EXPECT_NEAR(check.ratio[i], 1, 1e-3) << check.message;
  }
}

RingOptions with(Mistake mistake, std::int64_t step = 7) {
  RingOptions options;
  options.mistake = mistake;
  options.step = step;
  return options;
}

TEST(CheckGradient, PassesARightAdjoint) {
  Ring<double> ring({});
  const anadrome_gradient_check check = ring.check(kSteps);
  expect_right(check);
  EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_EQ(check.products, kSteps);
  EXPECT_LT(check.product_mismatch, 1e-8);
  EXPECT_LT(check.resolution, 1e-4);
}

// As of a program that sums its objective in the reverse sweep: nothing is there at TURN.
TEST(CheckGradient, SaysThatAnObjectiveDoesNotChange) {
  Ring<double> ring({});
  anadrome_gradient gradient = ring.gradient();
  gradient.objective = [](void*, double* objective) { return *objective = 0, 0; };
  const anadrome_gradient_check check = ring.check(kSteps, gradient);
  EXPECT_EQ(check.verdict, ANADROME_VERDICT_UNDECIDED);
  EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_TRUE(has_part(check.message,
                       "does not change with the controls: is it complete when the forward sweep "
                       "ends? (a sum in the reverse sweep is not)"));
}

// As of a program of which the objective at TURN is the last observation alone.
TEST(CheckGradient, SaysThatAnObjectiveChangesInTheReverseSweep) {
  Ring<double> ring({});
  static anadrome_model whole;
  static anadrome_gradient asked;
  static double summed;
  whole = ring.model();
  asked = ring.gradient();
  anadrome_model model = whole;
  anadrome_gradient gradient = asked;
  model.turn = [](void* context, std::int64_t steps) {
    summed = 0;
    return whole.turn(context, steps);
  };
  model.adjoint = [](void* context, std::int64_t step) {
    summed += 1;
    return whole.adjoint(context, step);
  };
  gradient.objective = [](void* context, double* objective) {
    const int code = asked.objective(context, objective);
    *objective = 0.5 * *objective + summed;
    return code;
  };
  anadrome_gradient_check check = {};
  check.size = sizeof check;
  ASSERT_EQ(anadrome_check_gradient(ring.run(), kSteps, &model, &gradient, &check), ANADROME_OK);
  EXPECT_EQ(check.taylor_verdict, ANADROME_VERDICT_UNDECIDED);
  EXPECT_EQ(check.verdict, ANADROME_VERDICT_UNDECIDED);
  EXPECT_TRUE(has_part(check.message, "changes in the reverse sweep"));
}

RingOptions changed(void (*change)(RingOptions&)) {
  RingOptions options;
  change(options);
  return options;
}

// Also fields of every kind, linear models, whose remainders are round-off, and states of very
// different scales.
TEST(CheckGradient, PassesARightAdjointOfAnyModel) {
  struct Case {
    const char* name;
    void (*change)(RingOptions&);
    bool linear = false;
  };
  for (const Case& c : {Case{"no start", [](RingOptions& options) { options.start = false; }},
                        {"a tape", [](RingOptions& options) { options.tape = true; }},
                        {"exchanged", [](RingOptions& options) { options.exchanged = true; }},
                        {"linear", [](RingOptions& options) { options.linear = true; }, true},
                        {"small", [](RingOptions& options) { options.scale = 1e-12; }},
                        {"alike", [](RingOptions& options) { options.scale = 1; }},
                        {"large", [](RingOptions& options) { options.scale = 1e15; }}}) {
    SCOPED_TRACE(c.name);
    Ring<double> ring(changed(c.change));
    expect_right(ring.check(kSteps), c.linear);
  }
  for (const bool linear : {false, true}) {
    RingOptions options;
    options.scale = 1e3;
    options.linear = linear;
    const anadrome_gradient_check check = Ring<float>(options).check(kSteps);
    expect_right(check, true);
    EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT);
  }
}

TEST(CheckGradient, PassesWithManySeedsUnderEverySchedule) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    Ring<double> ring({});
    ASSERT_EQ(anadrome_set(ring.run(), "schedule", schedule), ANADROME_OK);
    ASSERT_EQ(anadrome_set(ring.run(), "checkpoints", "unlimited"), ANADROME_OK);
    anadrome_gradient gradient = ring.gradient();
    gradient.seeds = ANADROME_MOST_SEEDS;
    const anadrome_gradient_check check = ring.check(kSteps, gradient);
    expect_right(check);
    EXPECT_EQ(check.seeds, ANADROME_MOST_SEEDS);
  }
}

TEST(CheckGradient, NamesTheStepWhoseAdjointIsWrong) {
  struct Named {
    Mistake mistake;
    anadrome_mismatch looks_like;
  };
  for (const Named& named : {Named{Mistake::kSign, ANADROME_MISMATCH_SIGN},
                             Named{Mistake::kFactor, ANADROME_MISMATCH_FACTOR},
                             Named{Mistake::kTerm, ANADROME_MISMATCH_TERM},
                             Named{Mistake::kHalo, ANADROME_MISMATCH_TERM},
                             Named{Mistake::kStaleState, ANADROME_MISMATCH_STATE},
                             Named{Mistake::kNextState, ANADROME_MISMATCH_STATE},
                             Named{Mistake::kNan, ANADROME_MISMATCH_NOT_FINITE}}) {
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{7}, kSteps - 2}) {
      SCOPED_TRACE(static_cast<int>(named.mistake));
      Ring<double> ring(with(named.mistake, step));
      const anadrome_gradient_check check = ring.check(kSteps);
      EXPECT_EQ(check.verdict, ANADROME_VERDICT_WRONG);
      EXPECT_EQ(check.failing_step, step) << check.message;
      EXPECT_EQ(check.failing_products, 1);
      EXPECT_EQ(check.mismatch, named.looks_like) << check.message;
      const std::string words = "first at step " + std::to_string(step) + ":";
      EXPECT_TRUE(has_part(check.message, words));
    }
  }
}

TEST(CheckGradient, NamesAnElementThatIsWrong) {
  for (const auto& [mistake, words] : std::initializer_list<std::pair<Mistake, std::string>>{
           {Mistake::kHalo, "in element 0 of lambda_u (the first is 0)"},
           {Mistake::kTerm, " of lambda_v (the first is 0)"},
           {Mistake::kNan, "in element 2 of lambda_u (the first is 0)"}}) {
    const anadrome_gradient_check check = Ring<double>(with(mistake)).check(kSteps);
    const std::string message = check.message;
    EXPECT_TRUE(has_part(message, words)) << message;
    const bool on_last = has_part(message, "on rank " + std::to_string(ranks() - 1));
    EXPECT_TRUE(mistake != Mistake::kNan || on_last == (ranks() > 1)) << message;
    const bool is_alone = mistake == Mistake::kHalo && ranks() == 1;
    EXPECT_TRUE(has_part(message, is_alone ? "and in no other" : "and maybe in others")) << message;
  }
}

TEST(CheckGradient, SeesTheSameMistakesByTheSlope) {
  for (const Mistake mistake : {Mistake::kSign, Mistake::kFactor, Mistake::kTerm, Mistake::kHalo}) {
    RingOptions options = with(mistake);
    options.pairs = false;
    Ring<double> ring(options);
    const anadrome_gradient_check check = ring.check(kSteps);
    EXPECT_EQ(check.verdict, ANADROME_VERDICT_WRONG) << check.message;
    EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_NONE);
    for (std::int64_t i = 0; i < check.seeds; ++i) EXPECT_NEAR(check.slope[i], 1, 0.25);
  }
}

TEST(CheckGradient, SeesMistakesInSinglePrecisionInLinearModelsAndInTheSmallestField) {
  RingOptions options = with(Mistake::kSign);
  options.scale = 1e3;
  const anadrome_gradient_check single = Ring<float>(options).check(kSteps);
  EXPECT_EQ(single.failing_step, 7) << single.message;
  EXPECT_EQ(single.mismatch, ANADROME_MISMATCH_SIGN) << single.message;
  options.mistake = Mistake::kTerm;
  options.linear = true;
  const anadrome_gradient_check linear = Ring<double>(options).check(kSteps);
  EXPECT_EQ(linear.failing_step, 7) << linear.message;
  EXPECT_EQ(linear.taylor_verdict, ANADROME_VERDICT_WRONG) << linear.message;
  for (const double scale : {1e-12, 1e15}) {
    options = with(Mistake::kHalo);
    options.scale = scale;
    const anadrome_gradient_check small = Ring<double>(options).check(kSteps);
    EXPECT_EQ(small.failing_step, 7) << small.message;
  }
}

TEST(CheckGradient, SeesWhatNoDotProductCan) {
  for (const Mistake mistake :
       {Mistake::kAccumulator, Mistake::kTurn, Mistake::kHidden, Mistake::kPerturb}) {
    const anadrome_gradient_check check = Ring<double>(with(mistake)).check(kSteps);
    EXPECT_EQ(check.verdict, ANADROME_VERDICT_WRONG) << check.message;
    if (mistake == Mistake::kHidden || mistake == Mistake::kPerturb) {  // no function of controls
      EXPECT_EQ(check.mismatch, ANADROME_MISMATCH_OBJECTIVE) << check.message;
      continue;
    }
    EXPECT_EQ(check.taylor_verdict, ANADROME_VERDICT_WRONG) << check.message;
    EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT) << check.message;
    EXPECT_EQ(check.failing_step, -1);
    EXPECT_TRUE(has_part(check.message, "adds to the gradient"));
  }
}

TEST(CheckGradient, TestsAFewStepsOfMany) {
  Ring<double> ring(with(Mistake::kSign, kSteps - 1));
  anadrome_gradient gradient = ring.gradient();
  gradient.product_steps = 4;
  const anadrome_gradient_check check = ring.check(kSteps, gradient);
  EXPECT_EQ(check.products, 4);
  EXPECT_EQ(check.failing_step, kSteps - 1) << check.message;
}

TEST(CheckGradient, LeavesTheRunAndTheFieldsAsTheyWere) {
  for (const bool start : {true, false}) {
    RingOptions options;
    options.start = start;
    Ring<double> checked(options), other(options);
    const std::vector<double> before = checked.u();
    expect_right(checked.check(kSteps));
    EXPECT_EQ(checked.u(), before);
    EXPECT_TRUE(checked.controls_are_as_they_were());
    EXPECT_EQ(checked.gradient_of_solve(kSteps), other.gradient_of_solve(kSteps));
  }
}

}  // namespace
