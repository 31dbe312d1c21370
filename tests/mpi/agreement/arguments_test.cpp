// SPDX-License-Identifier: BSD-2-Clause
// Wrong arguments and wrong moments: a status and a line of text, never a crash, and the run goes
// on.
#include <anadrome/store.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

int copy_nothing(void*, void*, std::size_t) { return 0; }
int take_nothing(void*, const void*, std::size_t) { return 0; }

// The text of the last failure, which must be one line.
std::string last_error() {
  const std::string text = anadrome_last_error();
  EXPECT_FALSE(text.empty());
  EXPECT_FALSE(has_part(text, "\n"));
  return text;
}

#define EXPECT_REFUSED(call, status, part)            \
  do {                                                \
    EXPECT_EQ(call, status) << anadrome_last_error(); \
    EXPECT_TRUE(has_part(last_error(), part));        \
  } while (false)

TEST(Arguments, ThatAreNullAreRefused) {
  anadrome_action action;
  anadrome_stats stats{};
  anadrome_model model{};
  double x = 0;
  const auto add_field = [](anadrome_run* run, const char* name, double* values) {
    return anadrome_add_field(run, name, ANADROME_ROLE_STATE, ANADROME_FLOAT64, values, 1);
  };
  const auto add_packed = [](anadrome_run* run, anadrome_pack_fn pack, anadrome_unpack_fn unpack) {
    return anadrome_add_packed(run, "x", ANADROME_ROLE_STATE, 1, pack, unpack, nullptr);
  };
  anadrome_run* none = nullptr;
  EXPECT_EQ(anadrome_open(MPI_COMM_WORLD, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_begin(none, 1), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(anadrome_last_error(), "no run: open: run is NULL"));
  RunHandle run(MPI_COMM_WORLD);
  const anadrome_status statuses[] = {anadrome_open(MPI_COMM_NULL, &none),
                                      anadrome_set(none, "memory", "1GiB"),
                                      add_field(none, "x", &x),
                                      add_packed(none, copy_nothing, take_nothing),
                                      anadrome_next(none, &action),
                                      anadrome_finish_forward(none, 1),
                                      anadrome_solve(none, 1, &model),
                                      anadrome_rewind(none),
                                      anadrome_fail(none, "why"),
                                      anadrome_request_stop(none),
                                      anadrome_statistics(none, &stats),
                                      anadrome_close(nullptr),
                                      anadrome_set(run, nullptr, "1GiB"),
                                      anadrome_set(run, "memory", nullptr),
                                      add_field(run, nullptr, &x),
                                      add_field(run, "x", nullptr),
                                      add_packed(run, nullptr, take_nothing),
                                      add_packed(run, copy_nothing, nullptr),
                                      anadrome_next(run, nullptr),
                                      anadrome_solve(run, 1, nullptr),
                                      anadrome_statistics(run, nullptr),
                                      anadrome_statistics(run, &stats)};  // size is not set
  for (std::size_t i = 0; i < std::size(statuses); ++i)
    EXPECT_EQ(statuses[i], ANADROME_ERR_ARGUMENT) << "call " << i;
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(anadrome_close(&none), ANADROME_OK);
  EXPECT_NE(anadrome_status_name(static_cast<anadrome_status>(15)), nullptr);
}

TEST(Arguments, StatisticsFillNoMoreThanTheirSize) {
  RunHandle run(MPI_COMM_WORLD);
  struct {
    anadrome_stats stats;
    std::int64_t after;
  } small{};
  small.stats.size = offsetof(anadrome_stats, state_bytes);
  small.stats.state_bytes = small.after = 77;
  EXPECT_EQ(anadrome_statistics(run, &small.stats), ANADROME_OK);
  EXPECT_EQ(small.stats.ranks, ranks());
  EXPECT_EQ(small.stats.state_bytes, 77);
  small.stats.size = sizeof small;  // a newer caller
  EXPECT_EQ(anadrome_statistics(run, &small.stats), ANADROME_OK);
  EXPECT_EQ(small.stats.size, sizeof(anadrome_stats));
  EXPECT_EQ(small.after, 77);
}

TEST(Arguments, OfFieldsAreChecked) {
  RunHandle run(MPI_COMM_WORLD);
  double x[2] = {};
  const auto add = [&](const char* name, int role = ANADROME_ROLE_STATE,
                       int type = ANADROME_FLOAT64, std::size_t count = 2) {
    return anadrome_add_field(run, name, static_cast<anadrome_role>(role),
                              static_cast<anadrome_type>(type), x, count);
  };
  for (const char* name : {"", ".", "..", "a/b", "/", "a b", "a\n", "\xc3\xa4", "a:b"}) {
    EXPECT_REFUSED(add(name), ANADROME_ERR_ARGUMENT, "name");
  }
  EXPECT_REFUSED(add(std::string(64, 'a').c_str()), ANADROME_ERR_ARGUMENT, "63");
  EXPECT_REFUSED(add("x", 3), ANADROME_ERR_ARGUMENT, "role");
  EXPECT_REFUSED(add("x", 0, 7), ANADROME_ERR_ARGUMENT, "type");
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t count : {kMost, kMost / 2, kMost / 2 + 1, kMost / 16 + 1}) {
    EXPECT_EQ(add("x", 0, ANADROME_COMPLEX128, count), ANADROME_ERR_ARGUMENT) << last_error();
  }
  EXPECT_EQ(anadrome_add_packed(run, "x", ANADROME_ROLE_STATE, kMost, copy_nothing, take_nothing,
                                nullptr),
            ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(add(std::string(63, 'a').c_str()), ANADROME_OK);
  EXPECT_EQ(add("x", 0, 0, 0), ANADROME_OK);
  EXPECT_REFUSED(add("x"), ANADROME_ERR_ARGUMENT, "'x' already");
}

TEST(Arguments, AnUnknownOptionNamesTheNearest) {
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_REFUSED(anadrome_set(run, "memroy", "1GiB"), ANADROME_ERR_ARGUMENT, "'memory'");
  EXPECT_REFUSED(anadrome_set(run, "intervall", "3"), ANADROME_ERR_ARGUMENT, "'interval'");
  EXPECT_REFUSED(anadrome_set(run, "Layout", "rank"), ANADROME_ERR_ARGUMENT, "'layout'");
  EXPECT_EQ(anadrome_set(run, "", ""), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set(run, std::string(100000, 'k').c_str(), ""), ANADROME_ERR_ARGUMENT);
}

TEST(Arguments, BadValuesOfOptionsAreRefusedAndNameTheOption) {
  RunHandle run(MPI_COMM_WORLD);
  const std::pair<const char*, const char*> bad[] = {
      {"memory", ""},           {"memory", "-1GiB"},
      {"memory", "lots"},       {"memory", "1e30GiB"},
      {"memory", "nan"},        {"memory", "1XiB"},
      {"disk", "infinite"},     {"interval", "0"},
      {"interval", "-3"},       {"interval", "1.5"},
      {"interval", "3x"},       {"schedule", "revolv"},
      {"layout", ""},           {"transport", "nfs"},
      {"audit", "maybe"},       {"keep", "yes"},
      {"directory", ""},        {"name", ""},
      {"name", "a/b"},          {"name", ".."},
      {"name", ".hidden"},      {"bandwidth_limit", "0B/s"},
      {"bandwidth_limit", "5"}, {"progress", ""},
      {"report", ""},           {"interval", "99999999999999999999"}};
  for (const auto& [key, value] : bad) {
    EXPECT_REFUSED(anadrome_set(run, key, value), ANADROME_ERR_ARGUMENT, key);
  }
  EXPECT_EQ(anadrome_set(run, "name", std::string(200, 'n').c_str()), ANADROME_ERR_ARGUMENT);
}

TEST(Arguments, AbsurdIntervalsAndStepsAreNoHarm) {
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 9});
  anadrome_action action;
  for (const char* schedule : {"auto", "revolve", "async"}) {
    for (const char* interval : {"1000000007", "4000000000000000000", "9223372036854775807"}) {
      RunHandle run(model, {{"schedule", schedule}, {"interval", interval}, {"memory", "64KiB"}});
      for (const std::int64_t steps :
           {std::int64_t{1} << 40, (std::int64_t{1} << 62) - 1, ANADROME_STEPS_UNKNOWN}) {
        SCOPED_TRACE(std::string(schedule) + " " + interval + " " + std::to_string(steps));
        const anadrome_status status = anadrome_begin(run, steps);
        EXPECT_TRUE(status == ANADROME_OK || status == ANADROME_ERR_ARGUMENT)
            << anadrome_status_name(status) << ": " << anadrome_last_error();
        EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, status));
        if (status != ANADROME_OK) continue;
        EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK) << anadrome_last_error();
        EXPECT_EQ(action.kind, ANADROME_ADVANCE);
      }
    }
  }
}

TEST(Arguments, AnIntercommunicatorIsRefused) {
  MPI_Comm inter = MPI_COMM_NULL, half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank() % 2, rank(), &half);
#ifndef ANADROME_ONE_PROCESS  // which has none
  if (ranks() > 1) MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank() % 2, 0, &inter);
#endif
  const char* const word = ranks() > 1 ? "MPI_Intercomm_merge" : "MPI_COMM_NULL";
  anadrome_run* run = nullptr;
  EXPECT_EQ(anadrome_open(inter, &run), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(anadrome_last_error(), word));
  anadrome_store* store = nullptr;
  EXPECT_EQ(anadrome_store_open(inter, "memory=1MiB", &store), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(anadrome_last_error(), word));
  EXPECT_TRUE(run == nullptr && store == nullptr);
  if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

TEST(Calls, AtTheWrongMomentAreRefusedAndDoNoHarm) {
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 9});
  const Reference reference(model, 20);
  for (const char* schedule : {"revolve", "async"}) {
    for (const bool unknown : {false, true}) {
      SCOPED_TRACE(std::string(schedule) + (unknown ? " unknown" : ""));
      RunHandle run(MPI_COMM_WORLD);
      anadrome_action action;
      run.set("schedule", schedule);
      run.set("interval", "3");
      EXPECT_REFUSED(anadrome_next(run, &action), ANADROME_ERR_ORDER, "begin");
      EXPECT_REFUSED(anadrome_begin(run, 3), ANADROME_ERR_ORDER, "register its fields first");
      EXPECT_REFUSED(anadrome_rewind(run), ANADROME_ERR_ORDER, "DONE");
      EXPECT_REFUSED(anadrome_fail(run, "why"), ANADROME_ERR_ORDER, "sweep");
      EXPECT_REFUSED(anadrome_finish_forward(run, 0), ANADROME_ERR_ORDER, "advance");
      EXPECT_EQ(model.add_fields(run), ANADROME_OK);
      EXPECT_REFUSED(anadrome_begin(run, -2), ANADROME_ERR_ARGUMENT, "-2");
      EXPECT_REFUSED(anadrome_next(run, &action), ANADROME_ERR_ORDER, "begin");

      SweepDriver driver(run, model, reference);
      // At DONE the run may be set up anew: the calls below do.
      driver.before_action = [&](const anadrome_action& now) {
        if (now.kind == ANADROME_DONE) return;
        double x = 0;
        EXPECT_REFUSED(anadrome_set(run, "memory", "1GiB"), ANADROME_ERR_ORDER, "sweep");
        EXPECT_REFUSED(
            anadrome_add_field(run, "late", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &x, 1),
            ANADROME_ERR_ORDER, "sweep");
        if (now.first % 7 == 3) EXPECT_REFUSED(anadrome_rewind(run), ANADROME_ERR_ORDER, "DONE");
        const bool open = unknown && now.kind == ANADROME_ADVANCE && now.again == 0;
        if (open) {
          for (const std::int64_t step : {now.first - 1, now.last + 1, std::int64_t{-1}})
            EXPECT_REFUSED(anadrome_finish_forward(run, step), ANADROME_ERR_ARGUMENT, "outside");
        } else {
          EXPECT_REFUSED(anadrome_finish_forward(run, now.last), ANADROME_ERR_ORDER,
                         "finish_forward");
        }
      };
      driver.exact_sweep(20, unknown);
      EXPECT_REFUSED(anadrome_next(run, &action), ANADROME_ERR_ORDER, "done");
      EXPECT_REFUSED(anadrome_fail(run, "why"), ANADROME_ERR_ORDER, "sweep");
      EXPECT_REFUSED(anadrome_finish_forward(run, 20), ANADROME_ERR_ORDER, "advance");
      EXPECT_REFUSED(anadrome_begin(run, -2), ANADROME_ERR_ARGUMENT, "-2");
      EXPECT_REFUSED(anadrome_rewind(run), ANADROME_ERR_ORDER, "DONE");
    }
  }
}

TEST(Calls, FinishForwardTwiceIsRefusedAsSuch) {
  double x = 0;
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(add_number(run, "x", x), ANADROME_OK);
  EXPECT_EQ(anadrome_begin(run, ANADROME_STEPS_UNKNOWN), ANADROME_OK);
  anadrome_action action;
  EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK);
  EXPECT_EQ(anadrome_finish_forward(run, 0), ANADROME_OK);
  EXPECT_REFUSED(anadrome_finish_forward(run, 0), ANADROME_ERR_ORDER, "already");
  EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK);
  EXPECT_EQ(action.kind, ANADROME_TURN);
}

TEST(Options, OfTheCallerComeBeforeTheEnvironmentAndThatBeforeTheDefault) {
  double x = 0;
  setenv("ANADROME_OPTIONS", " memory=3MiB\tinterval=5  schedule=async ", 1);
  RunHandle run(MPI_COMM_WORLD);
  unsetenv("ANADROME_OPTIONS");
  EXPECT_EQ(add_number(run, "x", x), ANADROME_OK);
  run.set("interval", "7");
  EXPECT_EQ(anadrome_begin(run, 100), ANADROME_OK) << anadrome_last_error();
  const anadrome_stats stats = run.statistics();
  EXPECT_EQ(stats.memory_bytes, 3 << 20);
  EXPECT_EQ(stats.interval, 7);
  EXPECT_STREQ(stats.schedule, "async");
  EXPECT_STREQ(stats.layout, "shared");
}

}  // namespace
