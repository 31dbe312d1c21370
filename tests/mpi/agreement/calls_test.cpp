// SPDX-License-Identifier: BSD-2-Clause
// Ranks that do not call the same, or not with the same arguments: an error on every rank, no hang.
#include <gtest/gtest.h>

#include <array>

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;

class Ranks : public ShortSweep {
 protected:
  static bool odd() { return rank() == ranks() - 1; }

  // begin fails on every rank alike, naming `what`.
  void expect_refused_begin(RunHandle& run, anadrome_status status, const std::string& what,
                            std::int64_t steps = 20) {
    EXPECT_EQ(anadrome_begin(run, steps), status) << anadrome_last_error();
    EXPECT_TRUE(has_part(anadrome_last_error(), what));
    EXPECT_EQ(run.statistics().phase, ANADROME_PHASE_IDLE);
  }
};

// At any action: that is simulated, and so is a rank that begins anew there.
TEST_F(Ranks, OfWhichOneClosesGetAnErrorAndCanClose) {
  if (ranks() == 1) return;
  for (const char* transport : {"auto", "mpio"}) {
    SCOPED_TRACE(transport);
    RunHandle run = prepared({{"transport", transport}});
    SweepDriver driver(run, model_, reference_);
    driver.begin_and_stop(
        20, false, [](const anadrome_action& action) { return action.kind == ANADROME_ADJOINT; });
    // No step is done from here on: the others are not waited for in the model.
    const anadrome_status status =
        odd() ? run.close() : follow(run, ANADROME_OK, [](const anadrome_action&) {});
    EXPECT_EQ(status, ANADROME_ERR_PEER);
    const std::string message = anadrome_last_error();
    EXPECT_TRUE(has_part(message, "anadrome_close") && has_part(message, "anadrome_next"));
    if (!odd()) {
      EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_PEER);
      EXPECT_EQ(anadrome_rewind(run), ANADROME_ERR_PEER);
      EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
    }
    expect_no_files();
  }
}

TEST_F(Ranks, OfWhichOneRewindsWhileOthersCloseGetAnError) {
  if (ranks() == 1) return;
  RunHandle run = prepared();
  expect_exact_sweep(run);
  EXPECT_EQ(odd() ? anadrome_rewind(run) : run.close(), ANADROME_ERR_PEER);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  expect_no_files();
}

TEST_F(Ranks, MustSetTheSameOptions) {
  if (ranks() == 1) return;
  struct Case {
    const char *key, *odd, *others;
  };
  const std::string memory = std::to_string(memory_) + "B";
  for (const auto& [key, mine, others] :
       {Case{"memory", "1MiB", memory.c_str()}, Case{"name", "other", "anadrome"},
        Case{"transport", "mpio", "auto"}, Case{"disk", "1GiB", "unlimited"},
        Case{"layout", "rank", "shared"}, Case{"schedule", "revolve", "async"},
        Case{"interval", "2", "1"}, Case{"bandwidth_limit", "1GB/s", "none"},
        Case{"keep", "on", "off"}}) {
    SCOPED_TRACE(key);
    RunHandle run = prepared({{key, odd() ? mine : others}});
    expect_refused_begin(run, ANADROME_ERR_ARGUMENT, std::string("option ") + key);
    run.set(key, others);
    expect_exact_sweep(run);
  }
}

TEST_F(Ranks, MayDifferInTheReportAndFindAtBeginThatItCannotBeWritten) {
  RunHandle differs = prepared({{"report", odd() && ranks() > 1 ? "/nowhere/at/all" : "off"}});
  expect_exact_sweep(differs);
  EXPECT_EQ(differs.close(), ANADROME_OK) << anadrome_last_error();
  for (const char* key : {"report", "trace"}) {
    SCOPED_TRACE(key);
    RunHandle run = prepared({{key, "/nowhere/at/all"}});
    expect_refused_begin(run, ANADROME_ERR_IO, "cannot create /nowhere/at/all: No such file");
    run.set(key, "off");
    expect_exact_sweep(run);
  }
}

TEST_F(Ranks, EndTheirSweepThoughAFileOfDoneCannotBeWritten) {
  for (const char* key : {"report", "trace"}) {
    SCOPED_TRACE(key);
    const std::string folder = directory() + "/gone";
    if (rank() == 0) std::filesystem::create_directory(folder);
    RunHandle run = prepared({{key, folder + "/file"}});
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      if (rank() != 0 || action.kind != ANADROME_TURN) return;
      EXPECT_TRUE(std::filesystem::is_empty(folder)) << "begin left nothing";
      std::filesystem::remove(folder);
    };
    testing::internal::CaptureStderr();
    driver.exact_sweep(20);
    const std::string said = testing::internal::GetCapturedStderr();
    const std::string expected =
        "anadrome: cannot create " + folder + "/file: No such file or directory\n";
    EXPECT_TRUE(said.ends_with(expected) == (rank() == 0)) << said;
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  }
}

TEST_F(Ranks, MustGiveTheSameNumberOfSteps) {
  if (ranks() == 1) return;
  RunHandle run = prepared();
  using Case = std::pair<std::int64_t, const char*>;
  for (const auto& [steps, said] : {Case{19, "the number of steps"},
                                    {ANADROME_STEPS_UNKNOWN, "the number of steps"},
                                    {-5, "-5 steps"},
                                    {std::numeric_limits<std::int64_t>::min(), "steps"},
                                    {std::numeric_limits<std::int64_t>::max(), "2^62"}})
    expect_refused_begin(run, ANADROME_ERR_ARGUMENT, said, odd() ? steps : 20);
  expect_exact_sweep(run);
}

TEST_F(Ranks, MustEndAnOpenSweepAfterTheSameStep) {
  if (ranks() == 1) return;
  RunHandle run(model_, {{"schedule", "revolve"}});
  model_.start();
  anadrome_action action;
  EXPECT_EQ(anadrome_begin(run, ANADROME_STEPS_UNKNOWN), ANADROME_OK);
  EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK);
  EXPECT_EQ(anadrome_finish_forward(run, odd() ? 1 : 0), ANADROME_OK);
  EXPECT_EQ(anadrome_next(run, &action), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(anadrome_last_error(), "finish_forward"));
  expect_exact_sweep(run);
}

TEST_F(Ranks, MustRegisterTheSameFields) {
  if (ranks() == 1) return;
  std::array<double, 2> values{};
  const auto expect_refused = [&](const std::function<void(anadrome_run*)>& add) {
    RunHandle run = prepared();
    add(run);
    expect_refused_begin(run, ANADROME_ERR_ARGUMENT, "the list of fields");
  };
  const auto add = [&](anadrome_run* run, const char* name, anadrome_role role,
                       anadrome_type type) {
    double* const value = &values.at(name[0] == 'a' ? 0 : 1);
    EXPECT_EQ(anadrome_add_field(run, name, role, type, value, 1), ANADROME_OK);
  };
  expect_refused([&](anadrome_run* run) {
    add(run, odd() ? "a" : "b", ANADROME_ROLE_STATE, ANADROME_FLOAT64);
  });
  expect_refused([&](anadrome_run* run) {
    add(run, "a", odd() ? ANADROME_ROLE_STATE : ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64);
  });
  expect_refused([&](anadrome_run* run) {
    add(run, "a", ANADROME_ROLE_STATE, odd() ? ANADROME_FLOAT64 : ANADROME_INT64);
  });
  expect_refused([&](anadrome_run* run) {
    if (odd()) add(run, "a", ANADROME_ROLE_STATE, ANADROME_FLOAT64);
  });
  expect_refused([&](anadrome_run* run) {
    add(run, odd() ? "a" : "b", ANADROME_ROLE_STATE, ANADROME_FLOAT64);
    add(run, odd() ? "b" : "a", ANADROME_ROLE_STATE, ANADROME_FLOAT64);
  });
  expect_refused([&](anadrome_run* run) {
    int field = -1;
    if (odd()) return add(run, "a", ANADROME_ROLE_STATE, ANADROME_FLOAT64);
    EXPECT_EQ(anadrome_add_exchanged(run, "a", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 1, &field),
              ANADROME_OK);
  });
}

int copy_nothing(void*, void*, std::size_t) { return 0; }
int take_nothing(void*, const void*, std::size_t) { return 0; }

TEST_F(Ranks, OfWhichOneHasAStateBeyondAllSizesGetAnError) {
  RunHandle run(MPI_COMM_WORLD);
  const std::size_t half = odd() ? std::size_t{1} << 62 : 1;
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(anadrome_add_packed(run, name, ANADROME_ROLE_STATE, half, copy_nothing, take_nothing,
                                  nullptr),
              ANADROME_OK);
  }
  for (const char* schedule : {"auto", "store_all", "revolve", "async"}) {
    run.set("schedule", schedule);
    expect_refused_begin(run, ANADROME_ERR_ARGUMENT, "2^56 bytes");
  }
}

TEST_F(Ranks, ShareTheJudgementOfABadEnvironment) {
  if (odd()) setenv("ANADROME_OPTIONS", "memory=2MiB memroy=1GiB", 1);
  RunHandle run = prepared();
  unsetenv("ANADROME_OPTIONS");
  expect_refused_begin(run, ANADROME_ERR_ARGUMENT, "ANADROME_OPTIONS");
  expect_refused_begin(run, ANADROME_ERR_ARGUMENT, "'memory'");
}

}  // namespace
