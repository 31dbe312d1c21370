// SPDX-License-Identifier: BSD-2-Clause
// A failure or deed of one rank alone comes out on every rank, at the same call, with its name.
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <functional>
#include <string>
#include <tuple>

#include "has_part.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

bool has_a_host_of_its_own = false;  ///< this rank

}  // namespace

// It is this one that the library asks.
extern "C" int gethostname(char* name, std::size_t length) noexcept {
  utsname real{};
  uname(&real);
  const std::string host = has_a_host_of_its_own ? "n" + std::to_string(rank()) : real.nodename;
  name[host.copy(name, length - 1)] = '\0';
  return 0;
}

namespace {

class OneRank : public testing::Test {
 protected:
  OneRank()
      : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 9}),
        reference_(model_, 40),
        memory_(3 * least_memory(model_, "async")) {}

  RunHandle prepared(const std::string& schedule) {
    const std::string memory = std::to_string(memory_) + "B";
    return {model_, {{"schedule", schedule}, {"interval", "2"}, {"memory", memory}}};
  }

  static int odd_rank() { return ranks() - 1; }
  static bool odd() { return rank() == odd_rank(); }

  CoupledModel model_;
  const Reference reference_;
  const std::int64_t memory_;
};

// At any action, with any schedule and any number of ranks: that is simulated.
TEST_F(OneRank, StopsAllWithItsReason) {
  using Deed = std::function<void(anadrome_run*)>;
  const auto fails = [](const char* why) {
    return [why](anadrome_run* run) {
      EXPECT_EQ(anadrome_fail(run, why), ANADROME_OK);
      EXPECT_EQ(anadrome_fail(run, "and once more"), ANADROME_OK);
    };
  };
  const std::tuple<Deed, anadrome_status, const char*> deeds[] = {
      {fails("the step did not converge"), ANADROME_ERR_PEER, "the step did not converge"},
      {fails(nullptr), ANADROME_ERR_PEER, "the caller failed"},
      {anadrome_request_stop, ANADROME_STOPPED, "anadrome_request_stop"},
      // Both: in the forward sweep nothing is restored.
      {[this](anadrome_run*) { model_.pack_returns = model_.unpack_returns = 17; },
       ANADROME_ERR_PEER, "callback of field 'packed' returned 17"}};
  RunHandle run = prepared("async");
  for (const auto& [act, status, reason] : deeds) {
    for (const auto moment : {ANADROME_ADVANCE, ANADROME_ADJOINT}) {
      SCOPED_TRACE(reason);
      SweepDriver driver(run, model_, reference_);
      bool acted = false;
      driver.before_action = [&, &deed = act](const anadrome_action& action) {
        if (acted || action.kind != moment) return;
        acted = true;
        if (odd()) deed(run);
      };
      const Outcome outcome = driver.sweep(40);
      model_.pack_returns = model_.unpack_returns = 0;
      EXPECT_EQ(outcome.status, status) << outcome.message;
      EXPECT_TRUE(outcome.exact && !outcome.done);
      EXPECT_TRUE(has_part(outcome.message, reason));
      if (ranks() > 1 && status == ANADROME_ERR_PEER) {
        EXPECT_TRUE(has_part(outcome.message, "rank " + std::to_string(odd_rank())));
      }
      anadrome_action action;
      EXPECT_EQ(anadrome_next(run, &action), ANADROME_ERR_ORDER);
      EXPECT_EQ(run.statistics().phase, ANADROME_PHASE_IDLE);
    }
  }
  SweepDriver driver(run, model_, reference_);
  driver.exact_sweep(40);
}

TEST_F(OneRank, IsNamedWithItsHostWhereThereAreSeveral) {
  for (const bool several : {true, false}) {
    has_a_host_of_its_own = several;
    RunHandle run = prepared("revolve");
    has_a_host_of_its_own = false;
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action&) {
      if (odd()) anadrome_fail(run, "the disk is full");
    };
    const std::string number = std::to_string(odd_rank());
    const std::string who = ranks() == 1 ? ""
                            : several    ? "rank " + number + " on n" + number + ": "
                                         : "rank " + number + ": ";
    EXPECT_EQ(driver.sweep(40).message, who + "the disk is full");
  }
}

TEST_F(OneRank, WithALongReasonGetsAsMuchOfItAcrossAsFits) {
  RunHandle run = prepared("async");
  SweepDriver driver(run, model_, reference_);
  bool acted = false;
  driver.before_action = [&](const anadrome_action&) {
    if (!acted && odd()) anadrome_fail(run, (std::string(5000, 'x') + "\nend").c_str());
    acted = true;
  };
  const Outcome outcome = driver.sweep(40);
  EXPECT_EQ(outcome.status, ANADROME_ERR_PEER);
  EXPECT_TRUE(has_part(outcome.message, std::string(600, 'x')));
  EXPECT_FALSE(has_part(outcome.message, "\n"));
}

}  // namespace
