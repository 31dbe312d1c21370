// SPDX-License-Identifier: BSD-2-Clause
// Exchanged fields: what is refused, what has no address, and the memory that they take.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::size_t kMiB = std::size_t{1} << 20;

bool odd() { return rank() == ranks() - 1; }

anadrome_status add(anadrome_run* run, int& field, const char* name = "u", std::size_t count = 3,
                    int role = ANADROME_ROLE_STATE, int type = ANADROME_FLOAT64) {
  return anadrome_add_exchanged(run, name, static_cast<anadrome_role>(role),
                                static_cast<anadrome_type>(type), count, &field);
}

TEST(ExchangedArguments, AreChecked) {
  RunHandle run(MPI_COMM_WORLD);
  int field = 77;
  for (const anadrome_status status :
       {add(nullptr, field), add(run, field, nullptr), add(run, field, "a/b"),
        add(run, field, "u", 3, 3), add(run, field, "u", 3, ANADROME_ROLE_STATE, 7),
        add(run, field, "u", std::numeric_limits<std::size_t>::max() / 8),
        anadrome_add_exchanged(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 3, nullptr)})
    EXPECT_EQ(status, ANADROME_ERR_ARGUMENT);
  for (const int role : {ANADROME_ROLE_TAPE, ANADROME_ROLE_ADJOINT}) {
    EXPECT_EQ(add(run, field, "u", 3, role), ANADROME_ERR_UNSUPPORTED);
    EXPECT_TRUE(has_part(anadrome_last_error(), "'u'"));
  }
  EXPECT_EQ(field, 77);
  EXPECT_EQ(add(run, field), ANADROME_OK);
  EXPECT_EQ(field, 0);
  EXPECT_EQ(add(run, field), ANADROME_ERR_ARGUMENT);  // the name is taken
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT) << "what was refused is missing";
  const RunHandle whole(MPI_COMM_WORLD);
  EXPECT_EQ(add(whole, field), ANADROME_OK);
  EXPECT_EQ(anadrome_begin(whole, 3), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(add(whole, field, "late"), ANADROME_ERR_ORDER);
}

class ExchangedAddresses : public testing::TestWithParam<std::size_t> {};

TEST_P(ExchangedAddresses, ExistOnlyForExchangedFieldsAndAtTheirMoments) {
  RunHandle run(MPI_COMM_WORLD);
  std::vector<double> plain(2), adjoint(1);
  int first = -1, second = -1;
  EXPECT_EQ(add_array(run, "plain", plain), ANADROME_OK);
  EXPECT_EQ(add(run, first, "first", GetParam()), ANADROME_OK);
  EXPECT_EQ(add_array(run, "adjoint", adjoint, ANADROME_ROLE_ADJOINT), ANADROME_OK);
  EXPECT_EQ(add(run, second, "second", 2), ANADROME_OK);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 3);
  const auto expect = [&](bool now, bool then) {
    for (const int field : {first, second}) {
      EXPECT_EQ(anadrome_now(run, field) != nullptr, now);
      EXPECT_EQ(anadrome_then(run, field) != nullptr, then);
    }
    constexpr int kMost = std::numeric_limits<int>::max();
    for (const int field : {0, 2, 4, -1, kMost, -kMost - 1}) {
      EXPECT_EQ(anadrome_now(run, field), nullptr);
      EXPECT_EQ(anadrome_then(run, field), nullptr);
    }
    EXPECT_EQ(anadrome_now(nullptr, first), nullptr);
    EXPECT_EQ(anadrome_then(nullptr, first), nullptr);
  };
  anadrome_action action;
  run.set("memory", "64MiB");
  run.set("schedule", "revolve");
  expect(false, false);
  for (int sweep = 0; sweep < 2; ++sweep) {
    EXPECT_EQ(anadrome_begin(run, 4), ANADROME_OK) << anadrome_last_error();
    expect(false, true);
    do {
      EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK) << anadrome_last_error();
      expect(true, action.kind == ANADROME_ADVANCE);
    } while (action.kind != ANADROME_DONE);
    const void* x0 = anadrome_now(run, first);
    EXPECT_EQ(anadrome_next(run, &action), ANADROME_ERR_ORDER);
    EXPECT_EQ(anadrome_now(run, first), x0);
  }
  EXPECT_EQ(anadrome_rewind(run), ANADROME_OK);
  EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK);
  EXPECT_EQ(anadrome_fail(run, "enough"), ANADROME_OK);
  while (anadrome_next(run, &action) == ANADROME_OK) {
  }
  expect(false, false);
  EXPECT_EQ(anadrome_begin(run, -5), ANADROME_ERR_ARGUMENT);
  expect(false, false);
}

INSTANTIATE_TEST_SUITE_P(Elements, ExchangedAddresses, testing::Values(3, kMiB / 8),
                         testing::PrintToStringParamName());

TEST(ExchangedRanks, NamedMemoryIsExact) {
  struct Case {
    const char* name;
    Counts counts;
    unsigned exchanged;
  };
  const auto r = static_cast<std::size_t>(rank());
  const Case cases[] = {
      {"small", {3 + 2 * r, 1, 2, 5, 0}, kAllFields},
      {"one byte", {0, 0, 0, 1, 0}, kAllFields},
      {"mixed", {3 + 20 * r, 1, 2, 5, 700}, kComplexes + kBytes},
      {"large on one rank", {0, 0, rank() == 0 ? kMiB / 8 : 3, 5 + r, 2}, kInt64s},
      // Whole pages, of which the rank with less in all needs more.
      {"large in one field and many pages",
       rank() == 0 ? Counts{kMiB / 4, 0, 0, 0, 0} : Counts{4, kMiB / 16 - 9, 4, 4, 4}, kAllFields}};
  for (const Case& c : cases) {
    CoupledModel model(MPI_COMM_WORLD, c.counts);
    model.exchanged = c.exchanged;
    const Reference reference(model, 6);
    for (const char* schedule : {"revolve", "async"}) {
      SCOPED_TRACE(std::string(c.name) + ", " + schedule);
      const std::int64_t least = least_memory(model, schedule);
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, least));
      RunHandle run(
          model,
          {{"schedule", schedule}, {"interval", "2"}, {"memory", std::to_string(least - 1) + "B"}});
      EXPECT_EQ(anadrome_begin(run, 6), ANADROME_ERR_MEMORY);
      for (const bool unknown : {false, true}) {
        run.set("memory", std::to_string(least) + "B");
        SweepDriver driver(run, model, reference);
        driver.exact_sweep(6, unknown);
        EXPECT_LE(run.statistics().peak_library_bytes, least);
      }
    }
  }
}

TEST(ExchangedRanks, AreToldTheSameMemoryForStoreAll) {
  const auto r = static_cast<std::size_t>(rank());
  for (const std::size_t most : {std::size_t{40}, std::size_t{3000}, kMiB}) {
    CoupledModel model(MPI_COMM_WORLD, Counts{5, 0, 3 * r, odd() ? most : 7 * r, 9});
    model.exchanged = kFloat32s + kBytes;
    const Reference reference(model, 37);
    const std::string least = std::to_string(least_memory(model, "store_all")) + "B";
    for (const std::int64_t steps : {1, 2, 37}) {
      SCOPED_TRACE(std::to_string(most) + " bytes, " + std::to_string(steps) + " steps");
      RunHandle run(model, {{"schedule", "store_all"}, {"memory", least}});
      const anadrome_status status = anadrome_begin(run, steps);
      EXPECT_EQ(status, steps == 1 ? ANADROME_OK : ANADROME_ERR_MEMORY) << anadrome_last_error();
      if (status != ANADROME_OK) {
        const std::int64_t needed = number_after(anadrome_last_error(), "set memory to ");
        EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, needed));
        run.set("memory", std::to_string(needed) + "B");
      }
      expect_exact(run, SweepDriver(run, model, reference).sweep(steps), steps);
    }
  }
}

}  // namespace
