// SPDX-License-Identifier: BSD-2-Clause
// What anadrome_check_gradient refuses, on every rank: arguments, failing callbacks, numbers that
// differ between ranks; and what it prints.
#include <anadrome/gradient.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "has_part.h"
#include "mpi_main.h"
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

  Refused() { check.size = sizeof check; }

  void expect(anadrome_status status, const char* words, std::int64_t steps = kSteps) {
    EXPECT_EQ(anadrome_check_gradient(ring.run(), steps, &model, &gradient, &check), status);
    EXPECT_NE(std::strstr(anadrome_last_error(), words), nullptr) << anadrome_last_error();
  }
  void TearDown() override {  // the run goes on working
    EXPECT_FALSE(ring.gradient_of_solve(kSteps).empty());
  }
};

TEST_F(Refused, MissingCallbacks) {
  gradient.perturb = nullptr;
  expect(ANADROME_ERR_ARGUMENT, "perturb, objective and derivative are required");
  gradient = ring.gradient();
  model.adjoint = nullptr;
  expect(ANADROME_ERR_ARGUMENT, "check_gradient: the model needs advance and adjoint");
}

TEST_F(Refused, SizesThatAreNotSet) {
  gradient.size = 0;
  expect(ANADROME_ERR_ARGUMENT, "set gradient.size");
  gradient = ring.gradient();
  check.size = 0;
  expect(ANADROME_ERR_ARGUMENT, "set check.size");
  EXPECT_EQ(anadrome_check_gradient(ring.run(), kSteps, &model, nullptr, &check),
            ANADROME_ERR_ARGUMENT);
}

TEST_F(Refused, NumbersThatMakeNoSense) {
  expect(ANADROME_ERR_ARGUMENT, "number of steps", ANADROME_STEPS_UNKNOWN);
  expect(ANADROME_ERR_ARGUMENT, "number of steps", 0);
  gradient.seeds = ANADROME_MOST_SEEDS + 1;
  expect(ANADROME_ERR_ARGUMENT, "seeds");
  gradient = ring.gradient();
  gradient.epsilon = -1;
  expect(ANADROME_ERR_ARGUMENT, "epsilon");
  gradient = ring.gradient();
  gradient.product_steps = -1;
  expect(ANADROME_ERR_ARGUMENT, "product_steps");
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

TEST_F(Refused, ASweepUnderWayGoesOn) {
  ASSERT_EQ(anadrome_begin(ring.run(), kSteps), ANADROME_OK);
  expect(ANADROME_ERR_ORDER, "a sweep is under way");
  anadrome_action action = {};
  while (action.kind != ANADROME_DONE) {
    ASSERT_EQ(anadrome_next(ring.run(), &action), ANADROME_OK) << anadrome_last_error();
  }
}

// What was refused is not held against the rewind that follows.
TEST_F(Refused, BetweenASweepAndItsRewind) {
  EXPECT_FALSE(ring.gradient_of_solve(kSteps).empty());
  gradient.seeds = ANADROME_MOST_SEEDS + 1;
  expect(ANADROME_ERR_ARGUMENT, "seeds");
  ASSERT_EQ(anadrome_rewind(ring.run()), ANADROME_OK) << anadrome_last_error();
  anadrome_action action = {};
  while (action.kind != ANADROME_DONE) {
    ASSERT_EQ(anadrome_next(ring.run(), &action), ANADROME_OK) << anadrome_last_error();
  }
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

TEST_F(Refused, Resume) {
  anadrome_set(ring.run(), "resume", "on");
  anadrome_set(ring.run(), "schedule", "async");
  expect(ANADROME_ERR_UNSUPPORTED, "resume=off");
  anadrome_set(ring.run(), "resume", "off");
}

TEST_F(Refused, ArgumentsThatDifferBetweenRanks) {
  if (rank() == ranks() - 1) gradient.seeds = 2;
  if (ranks() == 1) return;
  expect(ANADROME_ERR_ARGUMENT, "differs between ranks");
}

TEST_F(Refused, AnObjectiveThatIsNotTheSumOverAllRanks) {
  if (ranks() == 1) return;
  gradient.objective = [](void*, double* objective) {
    *objective = rank() + 1;
    return 0;
  };
  expect(ANADROME_ERR_ARGUMENT, "the sum over all ranks");
}

TEST_F(Refused, AnObjectiveThatIsNotFinite) {
  gradient.objective = [](void*, double* objective) {
    *objective = NAN;
    return 0;
  };
  expect(ANADROME_ERR_ARGUMENT, "the objective is nan, not a finite number");
}

// Of one rank, in each callback: all hear of it.
TEST_F(Refused, CallbacksThatFail) {
  const auto last = [] { return rank() == ranks() - 1 ? 77 : 0; };
  static int (*fail)() = last;
  gradient.perturb = [](void*, std::int64_t, double) { return fail(); };
  expect(ANADROME_ERR_PEER, "the callback perturb returned 77");
  gradient = ring.gradient();
  gradient.objective = [](void*, double*) { return fail(); };
  expect(ANADROME_ERR_PEER, "the callback objective returned 77");
  gradient = ring.gradient();
  gradient.derivative = [](void*, std::int64_t, double*) { return fail(); };
  expect(ANADROME_ERR_PEER, "the callback derivative returned 77");
  gradient = ring.gradient();
  gradient.mask = [](void*) { return fail(); };
  expect(ANADROME_ERR_PEER, "the callback mask returned 77");
}

TEST_F(Refused, ACallThatIsNotThatOfTheOtherRanks) {
  if (ranks() == 1) return;
  Ring<double> other({});
  const anadrome_status status =
      rank() == 0 ? anadrome_begin(other.run(), kSteps)
                  : anadrome_check_gradient(other.run(), kSteps, &model, &gradient, &check);
  EXPECT_EQ(status, ANADROME_ERR_PEER);
  EXPECT_NE(std::strstr(anadrome_last_error(), "anadrome_check_gradient"), nullptr);
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
