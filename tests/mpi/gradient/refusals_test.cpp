// SPDX-License-Identifier: BSD-2-Clause
// What anadrome_check_gradient refuses, on every rank: arguments, failing callbacks, numbers that
// differ between ranks; and what it prints.
#include <anadrome/gradient.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "ring_model.h"

namespace {

using anadrome::test::directory;
using anadrome::test::has_part;
using anadrome::test::rank;
using anadrome::test::ranks;
using anadrome::test::Ring;

constexpr std::int64_t kSteps = 6;

struct Refused : testing::Test {
  Ring<double> ring{{}};
  anadrome_model model = ring.model();
  anadrome_gradient gradient = ring.gradient();
  anadrome_gradient_check check = {};
  std::int64_t steps = kSteps;

  Refused() { check.size = sizeof check; }

  void expect(anadrome_status status, const char* words) {
    EXPECT_EQ(anadrome_check_gradient(ring.run(), steps, &model, &gradient, &check), status);
    EXPECT_TRUE(has_part(anadrome_last_error(), words));
  }
  static void go_on(anadrome_run* run, anadrome_status begun) {
    EXPECT_EQ(anadrome::test::follow(run, begun, [](const anadrome_action&) {}), ANADROME_OK)
        << anadrome_last_error();
  }
  void TearDown() override {  // the run goes on working
    EXPECT_FALSE(ring.gradient_of_solve(kSteps).empty());
  }
};

TEST_F(Refused, ArgumentsThatMakeNoSense) {
  using Spoil = void (*)(Refused&);
  for (const auto& [spoil, words] : std::initializer_list<std::pair<Spoil, const char*>>{
           {[](Refused& r) { r.gradient.perturb = nullptr; },
            "perturb, objective and derivative are required"},
           {[](Refused& r) { r.model.adjoint = nullptr; }, "the model needs advance and adjoint"},
           {[](Refused& r) { r.gradient.size = 0; }, "set gradient.size"},
           {[](Refused& r) { r.check.size = 0; }, "set check.size"},
           {[](Refused& r) { r.steps = ANADROME_STEPS_UNKNOWN; }, "number of steps"},
           {[](Refused& r) { r.steps = 0; }, "number of steps"},
           {[](Refused& r) { r.gradient.seeds = ANADROME_MOST_SEEDS + 1; }, "seeds"},
           {[](Refused& r) { r.gradient.epsilon = -1; }, "epsilon"},
           {[](Refused& r) { r.gradient.product_steps = -1; }, "product_steps"}}) {
    spoil(*this);
    expect(ANADROME_ERR_ARGUMENT, words);
    gradient = ring.gradient();
    model = ring.model();
    check.size = sizeof check;
    steps = kSteps;
  }
  EXPECT_EQ(anadrome_check_gradient(ring.run(), kSteps, &model, nullptr, &check),
            ANADROME_ERR_ARGUMENT);
}

TEST_F(Refused, PairsThatAreNone) {
  for (const auto& [pairs, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"u", "'u' is no pair"},
           {"u=lambda", "no field 'lambda' of role ADJOINT"},
           {"lambda_u=u", "no field 'lambda_u' of role STATE"},
           {"cost=lambda_u", "not both arrays"},
           {"u=lambda_u v=lambda_u", "in a pair already"}}) {
    gradient.pairs = pairs;
    expect(ANADROME_ERR_ARGUMENT, words);
  }
}

TEST_F(Refused, AReportThatCannotBeWritten) {
  const std::string path = directory() + "/no/such/directory";
  gradient.report = path.c_str();
  gradient.perturb = [](void*, std::int64_t, double) {
    ADD_FAILURE() << "a sweep was spent before";
    return 0;
  };
  expect(ANADROME_ERR_IO, "no/such/directory");
}

// And is not held against the rewind that follows.
TEST_F(Refused, WhileASweepIsUnderWayWhichGoesOnOrIsDone) {
  ASSERT_EQ(anadrome_begin(ring.run(), kSteps), ANADROME_OK);
  expect(ANADROME_ERR_ORDER, "a sweep is under way");
  go_on(ring.run(), ANADROME_OK);
  gradient.seeds = ANADROME_MOST_SEEDS + 1;
  expect(ANADROME_ERR_ARGUMENT, "seeds");
  go_on(ring.run(), anadrome_rewind(ring.run()));
}

// The others do not wait in a pack callback for the rank whose argument is wrong.
TEST_F(Refused, OnOneRankWhileOthersCommunicateInTheirPacking) {
  static double value = 0;
  const auto meet = [] {
    return MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  };
  static int (*together)() = meet;
  ASSERT_EQ(anadrome_add_packed(
                ring.run(), "together", ANADROME_ROLE_STATE, sizeof value,
                [](void*, void* bytes, std::size_t size) {
                  std::memset(bytes, 0, size);
                  return together();
                },
                [](void*, const void*, std::size_t) { return together(); }, nullptr),
            ANADROME_OK);
  if (rank() == ranks() - 1) gradient.seeds = -1;
  expect(ANADROME_ERR_ARGUMENT, "seeds");
}

TEST_F(Refused, ResumeAndArgumentsThatDifferBetweenRanks) {
  anadrome_set(ring.run(), "resume", "on");
  anadrome_set(ring.run(), "schedule", "async");
  expect(ANADROME_ERR_UNSUPPORTED, "resume=off");
  anadrome_set(ring.run(), "resume", "off");
  if (rank() == ranks() - 1) gradient.seeds = 2;
  if (ranks() == 1) return;
  expect(ANADROME_ERR_ARGUMENT, "differs between ranks");
}

TEST_F(Refused, AnObjectiveThatIsNotFiniteOrNotTheSumOverAllRanks) {
  gradient.objective = [](void*, double* objective) { return *objective = NAN, 0; };
  expect(ANADROME_ERR_ARGUMENT, "the objective is nan, not a finite number");
  if (ranks() == 1) return;
  gradient.objective = [](void*, double* objective) { return *objective = rank() + 1, 0; };
  expect(ANADROME_ERR_ARGUMENT, "the sum over all ranks");
}

// Of one rank, in each callback: all hear of it.
TEST_F(Refused, CallbacksThatFail) {
  const auto last = [] { return rank() == ranks() - 1 ? 77 : 0; };
  static int (*fail)() = last;
  const auto expect_failure = [this](const char* words) {
    expect(ANADROME_ERR_PEER, words);
    gradient = ring.gradient();
  };
  gradient.perturb = [](void*, std::int64_t, double) { return fail(); };
  expect_failure("the callback perturb returned 77");
  gradient.objective = [](void*, double*) { return fail(); };
  expect_failure("the callback objective returned 77");
  gradient.derivative = [](void*, std::int64_t, double*) { return fail(); };
  expect_failure("the callback derivative returned 77");
  gradient.mask = [](void*) { return fail(); };
  expect_failure("the callback mask returned 77");
}

TEST_F(Refused, ACallThatIsNotThatOfTheOtherRanks) {
  if (ranks() == 1) return;
  Ring<double> other({});
  const anadrome_status status =
      rank() == 0 ? anadrome_begin(other.run(), kSteps)
                  : anadrome_check_gradient(other.run(), kSteps, &model, &gradient, &check);
  EXPECT_EQ(status, ANADROME_ERR_PEER);
  EXPECT_TRUE(has_part(anadrome_last_error(), "anadrome_check_gradient"));
}

TEST(GradientReport, HasTheTableAndTheVerdict) {
  anadrome::test::RingOptions options;
  options.mistake = anadrome::test::Mistake::kSign;
  options.step = 3;
  Ring<double> ring(options);
  anadrome_gradient gradient = ring.gradient();
  const std::string path = directory() + "/report.txt";
  gradient.report = path.c_str();
  ring.check(kSteps, gradient);
  MPI_Barrier(MPI_COMM_WORLD);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  for (const char* words :
       {"check of a gradient over 6 steps", "seed    epsilon", "Taylor tests: WRONG",
        "dot products: WRONG, of 6 steps, u with lambda_u, v with lambda_v",
        "in no pair: ADJOINT gradient; STATE cost (not varied)", "step 3: <w, F' v>",
        "a wrong sign (ratio -1)"}) {
    EXPECT_TRUE(has_part(text.str(), words)) << words;
  }
}

// A program that was compiled when the structures were shorter.
TEST(GradientReport, FillsAsMuchAsTheCallerKnows) {
  Ring<double> ring({});
  const anadrome_model model = ring.model();
  const anadrome_gradient gradient = ring.gradient();
  anadrome_gradient_check check;
  std::memset(&check, 0x55, sizeof check);
  check.size = offsetof(anadrome_gradient_check, message);
  ASSERT_EQ(anadrome_check_gradient(ring.run(), kSteps, &model, &gradient, &check), ANADROME_OK);
  EXPECT_EQ(check.verdict, ANADROME_VERDICT_RIGHT);
  EXPECT_EQ(check.message[0], 0x55);
}

}  // namespace
