// SPDX-License-Identifier: BSD-2-Clause
// A failure or deed of one rank alone comes out on every rank, at the same call, with its name.
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <functional>
#include <string>

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

const char* const kSchedules[] = {"store_all", "revolve", "async"};

class OneRank : public testing::Test {
 protected:
  OneRank()
      : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 9}),
        reference_(model_, 40),
        memory_(3 * least_memory(model_, "async")) {}

  void prepare(RunHandle& run, const std::string& schedule) {
    EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
    run.set("schedule", schedule);
    run.set("interval", "2");
    run.set("memory", std::to_string(schedule == "store_all" ? 30 * memory_ : memory_) + "B");
  }

  static int odd_rank() { return ranks() - 1; }
  static bool odd() { return rank() == odd_rank(); }

  // Every rank got this status, and a text that names the rank and the reason.
  static void expect_everywhere(anadrome_status status, const std::string& reason,
                                const Outcome& outcome) {
    EXPECT_EQ(outcome.status, status) << outcome.message;
    EXPECT_TRUE(outcome.exact);
    EXPECT_FALSE(outcome.done);
    EXPECT_NE(outcome.message.find(reason), std::string::npos) << outcome.message;
    if (ranks() > 1 && status == ANADROME_ERR_PEER) {
      EXPECT_NE(outcome.message.find("rank " + std::to_string(odd_rank())), std::string::npos)
          << outcome.message;
    }
  }

  void expect_exact_sweep(RunHandle& run) {
    SweepDriver driver(run, model_, reference_);
    driver.exact_sweep(40);
  }

  // `act` is called once, on one rank, at the first action for which `when` holds.
  void expect_at_each_moment(const std::function<void(anadrome_run*)>& act, anadrome_status status,
                             const std::string& reason) {
    struct Moment {
      const char* name;
      bool (*is)(const anadrome_action&);
    };
    const Moment moments[] = {
        {"first action", [](const anadrome_action&) { return true; }},
        {"forward",
         [](const anadrome_action& a) { return a.kind == ANADROME_ADVANCE && a.last > 20; }},
        {"TURN", [](const anadrome_action& a) { return a.kind == ANADROME_TURN; }},
        {"first adjoint", [](const anadrome_action& a) { return a.kind == ANADROME_ADJOINT; }},
        {"reverse",
         [](const anadrome_action& a) { return a.kind == ANADROME_ADJOINT && a.first < 20; }},
        {"last adjoint",
         [](const anadrome_action& a) { return a.kind == ANADROME_ADJOINT && a.first == 0; }}};
    for (const char* schedule : kSchedules) {
      for (const bool unknown : {false, true}) {
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, schedule);
        for (const Moment& moment : moments) {
          SCOPED_TRACE(std::string(schedule) + (unknown ? " unknown, " : ", ") + moment.name);
          SweepDriver driver(run, model_, reference_);
          bool acted = false;
          driver.before_action = [&](const anadrome_action& action) {
            if (acted || !moment.is(action)) return;
            acted = true;
            if (odd()) act(run);
          };
          const Outcome outcome = driver.sweep(40, unknown);
          model_.pack_returns = model_.unpack_returns = 0;
          expect_everywhere(status, reason, outcome);
          anadrome_action action;
          EXPECT_EQ(anadrome_next(run, &action), ANADROME_ERR_ORDER);
          EXPECT_EQ(run.statistics().phase, ANADROME_PHASE_IDLE);
        }
        expect_exact_sweep(run);
      }
    }
  }

  CoupledModel model_;
  const Reference reference_;
  const std::int64_t memory_;
};

TEST_F(OneRank, ThatFailsStopsAllWithItsReason) {
  expect_at_each_moment(
      [](anadrome_run* run) {
        EXPECT_EQ(anadrome_fail(run, "the step did not converge"), ANADROME_OK);
        EXPECT_EQ(anadrome_fail(run, "and once more"), ANADROME_OK);
      },
      ANADROME_ERR_PEER, "the step did not converge");
}

TEST_F(OneRank, ThatFailsWithoutAReasonStopsAll) {
  expect_at_each_moment(
      [](anadrome_run* run) { EXPECT_EQ(anadrome_fail(run, nullptr), ANADROME_OK); },
      ANADROME_ERR_PEER, "the caller failed");
}

TEST_F(OneRank, ThatAsksForAStopStopsAll) {
  expect_at_each_moment(
      [](anadrome_run* run) { EXPECT_EQ(anadrome_request_stop(run), ANADROME_OK); },
      ANADROME_STOPPED, "anadrome_request_stop");
}

TEST_F(OneRank, WhosePackCallbackFailsStopsAll) {
  expect_at_each_moment(
      [this](anadrome_run*) {
        // Both: at some moments nothing is kept any more, at others nothing is restored.
        model_.pack_returns = 17;
        model_.unpack_returns = 17;
      },
      ANADROME_ERR_PEER, "callback of field 'packed' returned 17");
}

TEST_F(OneRank, IsNamedWithItsHostWhereThereAreSeveral) {
  for (const bool several : {true, false}) {
    has_a_host_of_its_own = several;
    RunHandle run(MPI_COMM_WORLD);
    has_a_host_of_its_own = false;
    prepare(run, "revolve");
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
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "async");
  SweepDriver driver(run, model_, reference_);
  bool acted = false;
  driver.before_action = [&](const anadrome_action&) {
    if (!acted && odd()) anadrome_fail(run, (std::string(5000, 'x') + "\nend").c_str());
    acted = true;
  };
  const Outcome outcome = driver.sweep(40);
  EXPECT_EQ(outcome.status, ANADROME_ERR_PEER);
  EXPECT_NE(outcome.message.find(std::string(600, 'x')), std::string::npos);
  EXPECT_EQ(outcome.message.find('\n'), std::string::npos);
}

}  // namespace
