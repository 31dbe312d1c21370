// SPDX-License-Identifier: BSD-2-Clause
// anadrome.hpp: every way to register a field and to drive a sweep gives the states of the steps,
// and failures are exceptions with the right status on every rank.
#include <gtest/gtest.h>
#include <anadrome/anadrome.hpp>

#include <array>
#include <complex>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mpi_main.h"

namespace {

using anadrome::Action;
using anadrome::Error;
using anadrome::Model;
using anadrome::test::directory;
using anadrome::test::rank;
using anadrome::test::ranks;

constexpr std::int64_t kSteps = 27;

anadrome::Run small_run() {
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("directory", directory()).set("memory", "12KiB").set("schedule", "revolve");
  return run;
}

template <class Body>
anadrome_status status_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find(anadrome_status_name(error.status())), 0U)
        << error.what();
    return error.status();
  }
  return ANADROME_OK;
}

// Fields of every type and of every way to say where they are; x_k is filled with values of k.
struct Fields {
  std::vector<double> vector = std::vector<double>(5 + rank());
  std::array<float, 3> array{};
  std::vector<std::int32_t> integers = std::vector<std::int32_t>(4);
  std::int64_t number = 0;
  std::array<std::complex<float>, 2> complex{};
  std::vector<std::complex<double>> complexes = std::vector<std::complex<double>>(2);
  std::array<std::byte, 7> bytes{};

  void add_to(anadrome::Run& run) {
    run.add_field("vector", vector);
    run.add_field("array", array);
    run.add_field("integers", std::span(integers).first(3));
    run.add_field("number", &number, 1);
    run.add_field("complex", std::span<std::complex<float>, 2>(complex));
    run.add_field("complexes", complexes);
    run.add_field("bytes", bytes, ANADROME_ROLE_STATE);
  }

  void set(std::int64_t step) {
    const auto value = static_cast<double>(step);
    std::fill(vector.begin(), vector.end(), value);
    array.fill(static_cast<float>(value) / 3);
    std::fill_n(integers.begin(), 3, static_cast<std::int32_t>(-step));
    number = step << 40;
    complex.fill({static_cast<float>(value), 1});
    std::fill(complexes.begin(), complexes.end(), std::complex<double>(1, value));
    bytes.fill(static_cast<std::byte>(step));
  }

  bool operator==(const Fields&) const = default;
};

TEST(CxxRun, GivesBackFieldsOfEveryType) {
  anadrome::Run run = small_run();
  Fields fields, expected;
  fields.add_to(run);
  fields.set(0);
  std::int64_t adjoints = 0;

  for (const Action& action : run.sweep(kSteps)) {
    if (action.kind == ANADROME_ADVANCE) fields.set(action.last);
    if (action.kind != ANADROME_ADJOINT) continue;
    expected.set(action.first);
    EXPECT_EQ(fields, expected) << "step " << action.first;
    fields.set(-1);
    ++adjoints;
  }

  EXPECT_EQ(adjoints, kSteps);
  expected.set(0);
  EXPECT_EQ(fields, expected);
}

TEST(CxxRun, GivesTheSameActionsOneByOneAndAgainAfterRewind) {
  anadrome::Run run = small_run();
  std::vector<double> x(100);
  run.add_field("x", x);
  run.begin(kSteps);
  std::int64_t adjoints = 0, turns = 0;
  const auto count = [&](const Action& action) {
    adjoints += action.kind == ANADROME_ADJOINT ? 1 : 0;
    turns += action.kind == ANADROME_TURN ? 1 : 0;
  };
  for (Action action = run.next(); action.kind != ANADROME_DONE; action = run.next()) count(action);
  for (const Action& action : run.rewind()) count(action);
  EXPECT_EQ(adjoints, 2 * kSteps);
  EXPECT_EQ(turns, 2);
}

TEST(CxxRun, GoesOverTheTrajectoryInPasses) {
  anadrome::Run run = small_run();
  std::vector<double> x(3, 0.0);
  run.add_field("x", x);
  Model model;
  model.advance = [&](std::int64_t, std::int64_t last, std::int64_t&) {
    std::fill(x.begin(), x.end(), static_cast<double>(last));
  };
  model.adjoint = [](std::int64_t) {};
  run.solve(kSteps, model);
  std::int64_t next = 0, right = 0;

  for (const Action& action : run.pass(ANADROME_PASS_FORWARD)) {
    std::int64_t reached = 0;
    if (action.kind == ANADROME_ADVANCE) model.advance(action.first, action.last, reached);
    if (action.kind != ANADROME_VISIT) continue;
    right += action.first == next && x[2] == static_cast<double>(next);
    ++next;
  }
  model.visit = [&](std::int64_t step) { right += x[0] == static_cast<double>(step); };
  model.adjoint = model.visit;
  run.solve_pass(ANADROME_PASS_REVERSE, model);
  model.adjoint = nullptr;
  run.solve_pass(ANADROME_PASS_FORWARD, model);

  EXPECT_EQ(right, 3 * kSteps);
  EXPECT_EQ(run.statistics().passes, 3);
  model.visit = [](std::int64_t step) {
    if (step == 5) throw std::out_of_range("visit");
  };
  EXPECT_THROW(run.solve_pass(ANADROME_PASS_FORWARD, model), std::out_of_range);
  EXPECT_EQ(status_of([&] { run.solve_pass(ANADROME_PASS_REVERSE, model); }),
            ANADROME_ERR_ARGUMENT);
}

TEST(CxxRun, GivesBackExchangedFields) {
  anadrome::Run run = small_run();
  auto field = run.add_exchanged<double>("x", 6);
  EXPECT_EQ(field.now(), nullptr);

  const auto actions = run.sweep(kSteps);
  std::fill_n(field.then(), field.size(), 0.0);
  for (const Action& action : actions) {
    if (action.kind == ANADROME_ADVANCE)
      for (std::size_t i = 0; i < field.size(); ++i)
        field.then_span()[i] = field.now_span()[i] + 1.0;
    if (action.kind == ANADROME_ADJOINT) {
      EXPECT_EQ(field.now()[5], static_cast<double>(action.first));
    }
  }

  EXPECT_EQ(field.now()[0], 0.0);
}

// Beside each other, of which one changes its size. Callbacks go on working where a run is moved.
TEST(CxxRun, GivesBackPackedFieldsAndThoseOfChangingSize) {
  anadrome::Run run = small_run();
  std::string packed(8, ' '), varying;
  const auto into = [](std::string& text) {
    return [&text](void* to, std::size_t size) { std::memcpy(to, text.data(), size); };
  };
  const auto from = [](std::string& text) {
    return [&text](const void* values, std::size_t size) {
      text.assign(static_cast<const char*>(values), size);
    };
  };
  run.add_packed("packed", 8, into(packed), from(packed));
  run.add_varying(
      "varying", 100, [&] { return varying.size(); }, into(varying), from(varying));
  anadrome::Run moved = std::move(run);
  const auto packed_of = [](std::int64_t k) {
    return "step " + std::to_string(1000 + k).substr(1);
  };
  packed = packed_of(0);

  for (const Action& action : moved.sweep(kSteps)) {
    if (action.kind == ANADROME_ADVANCE) {
      packed = packed_of(action.last);
      varying.assign(static_cast<std::size_t>(action.last), '+');
    }
    if (action.kind != ANADROME_ADJOINT) continue;
    EXPECT_EQ(packed, packed_of(action.first));
    EXPECT_EQ(varying, std::string(static_cast<std::size_t>(action.first), '+'));
  }

  varying.assign(101, '+');
  EXPECT_EQ(status_of([&] {
              for (const Action& action : moved.sweep(kSteps)) (void)action;
            }),
            ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { moved.add_varying("a/b", 1, {}, {}, {}); }), ANADROME_ERR_ARGUMENT);
}

TEST(CxxRun, EndsWithUnknownSteps) {
  anadrome::Run run = small_run();
  std::vector<std::int64_t> x(3);
  run.add_field("x", x);

  std::int64_t turned_at = -1;
  for (const Action& action : run.sweep(ANADROME_STEPS_UNKNOWN)) {
    if (action.kind == ANADROME_ADVANCE) {
      x[0] = std::min(action.last, kSteps);
      if (action.last >= kSteps && action.again == 0) run.finish_forward(kSteps);
    }
    if (action.kind == ANADROME_TURN) turned_at = action.first;
    if (action.kind == ANADROME_ADJOINT) {
      EXPECT_EQ(x[0], action.first);
    }
  }

  EXPECT_EQ(turned_at, kSteps);
}

TEST(CxxRun, ThrowsWhatCReturns) {
  EXPECT_EQ(status_of([] { anadrome::Run run(MPI_COMM_NULL); }), ANADROME_ERR_ARGUMENT);
  anadrome::Run run = small_run(), small = small_run();
  std::vector<double> x(3);
  small.add_field("x", x);
  small.set("memory", "1B");
  const std::pair<std::function<void()>, anadrome_status> calls[] = {
      {[&] { run.set("memroy", "1GiB"); }, ANADROME_ERR_ARGUMENT},
      {[&] { run.add_field("a/b", x); }, ANADROME_ERR_ARGUMENT},
      {[&] { run.next(); }, ANADROME_ERR_ORDER},
      {[&] { run.rewind(); }, ANADROME_ERR_ORDER},
      {[&] { run.finish_forward(1); }, ANADROME_ERR_ORDER},
      {[&] { run.begin(-7); }, ANADROME_ERR_ARGUMENT},
      {[&] { small.sweep(kSteps); }, ANADROME_ERR_MEMORY}};
  for (const auto& [call, status] : calls) EXPECT_EQ(status_of(call), status);
}

TEST(CxxRun, StopsOnEveryRankWhenOneAsks) {
  anadrome::Run run = small_run();
  std::vector<double> x(3);
  run.add_field("x", x);

  const anadrome_status status = status_of([&] {
    const auto actions = run.sweep(1000);
    if (rank() == 0) run.request_stop();
    for (const Action& action : actions) static_cast<void>(action);
  });

  EXPECT_EQ(status, ANADROME_STOPPED);
}

TEST(CxxRun, TellsItsStatisticsAndTakesArraysSpansShapesAndTolerances) {
  anadrome::Run run = small_run();
  double array[3] = {0, 0, 0};
  std::vector<float> vector(6);
  const std::span<float> span(vector);
  run.add_field("array", array);
  run.add_field("span", span);
  run.set_shape("span", {2, 3});
  run.set_tolerance("span", 1e-3);
  run.begin(kSteps);
  const anadrome_stats stats = run.statistics();
  EXPECT_EQ(stats.size, sizeof stats);
  EXPECT_EQ(stats.state_bytes, 3 * 8 + 6 * 4);
  EXPECT_EQ(stats.steps, kSteps);
  EXPECT_STREQ(stats.schedule, "revolve");
  std::int64_t step = -1;
  EXPECT_EQ(run.resumed(step), ANADROME_PHASE_IDLE);
  EXPECT_EQ(step, 0);
  anadrome::Run other = small_run();
  other.add_field("array", array);
  EXPECT_EQ(status_of([&] { other.set_shape("array", {2, 2}); }), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { other.set_tolerance("other", 1); }), ANADROME_ERR_ARGUMENT);
}

TEST(CxxRun, MayBeAssignedClosedAndLeftInAnyOrder) {
  anadrome::Run run = small_run();
  std::vector<double> x(3);
  run.add_field("x", x);
  run.begin(kSteps);
  run = small_run();
  run.add_field("x", x);  // the new run has no field of that name
  anadrome::Run& same = run;
  run = std::move(same);
  EXPECT_NE(run.handle(), nullptr);
  run.close();
  EXPECT_EQ(run.handle(), nullptr);
  run.close();
}

TEST(CxxRun, SaysThatItWasMovedFromOrClosed) {
  anadrome::Run run = small_run();
  std::vector<double> x(3);
  anadrome::Exchanged<double> field = run.add_exchanged<double>("field", 2);
  anadrome::Run moved = std::move(run);
  const auto nothing = [](const void*, std::size_t) {};
  for (int closed : {0, 1}) {
    EXPECT_EQ(run.handle(), nullptr);
    const std::function<void()> calls[] = {[&] { run.set("memory", "1GiB"); },
                                           [&] { run.add_field("x", x); },
                                           [&] { run.add_packed("p", 1, nothing, nothing); },
                                           [&] { run.add_exchanged<float>("e", 1); },
                                           [&] { run.begin(3); },
                                           [&] { run.next(); },
                                           [&] { run.sweep(3); },
                                           [&] { run.rewind(); },
                                           [&] { run.finish_forward(3); },
                                           [&] { run.solve(3, Model()); },
                                           [&] { run.fail("why"); },
                                           [&] { run.statistics(); }};
    for (const auto& call : calls) EXPECT_EQ(status_of(call), ANADROME_ERR_ARGUMENT);
    run.request_stop();
    run.close();
    if (closed == 0) {
      moved.add_field("x", x);
      run = std::move(moved);
      run.begin(2);
      EXPECT_EQ(field.then_span().size(), 2U);
      run.close();
    }
    EXPECT_EQ(field.then(), nullptr);
    EXPECT_TRUE(field.now_span().empty());
  }
}

// An exception leaves the loop on one rank: its run is closed while the others ask for actions.
TEST(CxxRun, AnExceptionOnOneRankIsAFailureOfTheOthers) {
  if (ranks() == 1) return;
  const anadrome_status status = status_of([] {
    anadrome::Run run = small_run();
    std::vector<double> x(3);
    run.add_field("x", x);
    try {
      for (const Action& action : run.sweep(kSteps))
        if (rank() == 1 && action.kind == ANADROME_TURN)
          throw std::domain_error("negative density");
    } catch (const std::domain_error&) {
      EXPECT_EQ(rank(), 1);
    }
  });

  EXPECT_EQ(status, rank() == 1 ? ANADROME_OK : ANADROME_ERR_PEER);
}

}  // namespace
