// SPDX-License-Identifier: BSD-2-Clause
// anadrome/adolc.hpp, or codipack.hpp (with_codipack), against an adjoint that is written by hand,
// on a ring of cells over the ranks.
#include <gtest/gtest.h>

#ifdef ANADROME_TEST_CODIPACK
#include <anadrome/codipack.hpp>
namespace tool = anadrome::codipack;
#else
#include <anadrome/adolc.hpp>
namespace tool = anadrome::adolc;
#endif
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi_main.h"

namespace {

using anadrome::Derivatives;
using anadrome::test::directory;
using anadrome::test::rank;
using anadrome::test::ranks;
using tool::Exchange;
using Values = std::vector<double>;

constexpr int kCells = 40;  // of a rank, between two that are the neighbours'

void send(double first, double last, double& from_left, double& from_right) {
  const int left = (rank() + ranks() - 1) % ranks(), right = (rank() + 1) % ranks();
  MPI_Sendrecv(&first, 1, MPI_DOUBLE, left, 0, &from_right, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&last, 1, MPI_DOUBLE, right, 1, &from_left, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
void fill(double* u, std::size_t) { send(u[1], u[kCells], u[0], u[kCells + 1]); }
void give_back(double* w, std::size_t) {
  double first = 0, last = 0;
  send(w[0], w[kCells + 1], last, first);
  // From the left neighbour comes the weight of its copy of our first cell.
  w[1] += last;
  w[kCells] += first;
  w[0] = w[kCells + 1] = 0;
}

// u_i + d (u_{i-1} - 2 u_i + u_{i+1}) + a sin(u_i + k)
struct Step {
  const Exchange& exchange;
  template <class T>
  void operator()(std::vector<T>& u, const std::vector<T>& p, std::int64_t k) const {
    exchange(u);
    const std::vector<T> old = u;
    for (std::size_t i = 1; i <= kCells; ++i) {
      u[i] = old[i] + p[0] * (old[i - 1] - 2.0 * old[i] + old[i + 1]) +
             p[1] * sin(old[i] + static_cast<double>(k));
    }
  }
};

struct Objective {
  template <class T>
  T operator()(const std::vector<T>& u, const std::vector<T>& p) const {
    T sum = 0;
    for (std::size_t i = 1; i <= kCells; ++i) sum += u[i] * u[i] * u[i];
    return sum + p[1] * p[1];
  }
};

void adjoint_step(Values u, const Values& p, std::int64_t k, Values& lambda, Values& by_p) {
  fill(u.data(), u.size());
  Values before(lambda.size());
  // What the step leaves in the neighbours' places is their old values.
  before[0] = lambda[0];
  before[kCells + 1] = lambda[kCells + 1];
  for (std::size_t i = 1; i <= kCells; ++i) {
    const double angle = u[i] + static_cast<double>(k);
    before[i] += lambda[i] * (1 - 2 * p[0] + p[1] * std::cos(angle));
    before[i - 1] += lambda[i] * p[0];
    before[i + 1] += lambda[i] * p[0];
    by_p[0] += lambda[i] * (u[i - 1] - 2 * u[i] + u[i + 1]);
    by_p[1] += lambda[i] * std::sin(angle);
  }
  give_back(before.data(), before.size());
  lambda = before;
}

struct Problem {
  const Exchange exchange{fill, give_back};
  const Step step{exchange};
  const Values p = {0.2, 0.05};
  Values u_0 = Values(kCells + 2);

  Problem() {
    for (std::size_t i = 1; i <= kCells; ++i)
      u_0[i] = std::sin(0.3 * static_cast<double>(i) + rank());
  }

  Derivatives by_hand(std::int64_t steps) const {
    std::vector<Values> states = {u_0};
    for (std::int64_t k = 0; k < steps; ++k) {
      states.push_back(states.back());
      step(states.back(), p, k);
    }
    Derivatives result;
    result.objective = Objective{}(states.back(), p);
    result.by_state.resize(u_0.size());
    for (std::size_t i = 1; i <= kCells; ++i)
      result.by_state[i] = 3 * states.back()[i] * states.back()[i];
    result.by_parameters = {0, 2 * p[1]};
    for (std::int64_t k = steps; k-- > 0;) {
      adjoint_step(states[static_cast<std::size_t>(k)], p, k, result.by_state,
                   result.by_parameters);
    }
    MPI_Allreduce(MPI_IN_PLACE, &result.objective, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, result.by_parameters.data(), 2, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return result;
  }

  Derivatives by_adolc(std::int64_t steps,
                       const std::vector<std::pair<std::string, std::string>>& options) const {
    anadrome::Run run(MPI_COMM_WORLD);
    run.set("directory", directory());
    for (const auto& [key, value] : options) run.set(key, value);
    return tool::gradient(run, MPI_COMM_WORLD, step, u_0, p, steps, Objective{});
  }
};

void expect_near(const Values& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::fabs(value));
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-12 * largest) << i;
}

bool same_bits(const Derivatives& a, const Derivatives& b) {
  return a.objective == b.objective && a.by_state == b.by_state &&
         a.by_parameters == b.by_parameters;
}

TEST(ForwardOnly, GivesTheGradientOfAnAdjointThatIsWrittenByHand) {
  const Problem problem;
  for (const std::int64_t steps : {1, 60}) {
    const Derivatives found = problem.by_adolc(steps, {{"schedule", "store_all"}});
    const Derivatives expected = problem.by_hand(steps);
    EXPECT_EQ(found.objective, expected.objective);
    expect_near(found.by_state, expected.by_state);
    expect_near(found.by_parameters, expected.by_parameters);
  }
}

TEST(ForwardOnly, GivesTheSameBitsWithEverySchedule) {
  const Problem problem;
  const Derivatives expected = problem.by_adolc(60, {{"schedule", "store_all"}});
  for (const char* schedule : {"auto", "async", "revolve"}) {
    const Derivatives found =
        problem.by_adolc(60, {{"schedule", schedule}, {"memory", "4MiB"}, {"checkpoints", "9"}});
    EXPECT_TRUE(same_bits(found, expected)) << schedule;
  }
}

#ifndef ANADROME_TEST_CODIPACK
TEST(ForwardOnly, HasATapeOfOneStepHoweverManyThereAre) {
  const Problem problem;
  std::array<std::size_t, STAT_SIZE> counts{};
  std::vector<std::size_t> operations;
  for (const std::int64_t steps : {3, 300}) {
    problem.by_adolc(steps, {{"schedule", "revolve"}, {"memory", "8KiB"}});
    tapestats(anadrome::adolc::kTape, counts.data());
    operations.push_back(counts[NUM_OPERATIONS] + counts[NUM_LOCATIONS] + counts[NUM_VALUES] +
                         counts[TAY_STACK_SIZE]);
  }
  EXPECT_EQ(operations[0], operations[1]);
}
#endif

// The places of a vector's elements on ADOL-C's tape need not follow each other.
TEST(ForwardOnly, ReversesAStepOfALoopOfOnesOwnWhoseNumbersLieAnywhere) {
  const Problem problem;
  const auto step = [&](auto& u, const auto& p, std::int64_t k) {
    using T = typename std::decay_t<decltype(u)>::value_type;
    for (int twice = 0; twice < 2; ++twice) {
      std::vector<std::unique_ptr<T>> others;
      for (std::size_t i = 0; i < u.size(); ++i) others.push_back(std::make_unique<T>(u[i]));
      for (std::size_t i = 0; i < u.size(); i += 2) others[i].reset();
      std::vector<T> w;
      for (const T& each : u) w.push_back(each * (1.0 + p[1]));
      problem.step(w, p, k);
      u = w;
    }
  };
  const auto objective = [&](const Values& u) {
    double sum = Objective{}(u, problem.p);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  Values after = problem.u_0, lambda(after.size()), by_parameters = {0, 0};
  step(after, problem.p, 3);
  for (std::size_t i = 1; i <= kCells; ++i) lambda[i] = 3 * after[i] * after[i];
  tool::reverse(step, problem.u_0, problem.p, 3, lambda, by_parameters);
  Values changed = problem.u_0;
  double derivative = 0, difference = 0;
  for (std::size_t i = 1; i <= kCells; ++i) derivative += lambda[i];
  MPI_Allreduce(MPI_IN_PLACE, &derivative, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (const double e : {1e-5, -1e-5}) {
    changed = problem.u_0;
    for (std::size_t i = 1; i <= kCells; ++i) changed[i] += e;
    step(changed, problem.p, 3);
    difference += objective(changed) / (2 * e);
  }
  EXPECT_NEAR(derivative, difference, 1e-7 * std::fabs(difference));
}

TEST(ForwardOnly, GoesOnAfterAStopWithTheSameStartAlone) {
  const Problem problem;
  const Derivatives expected = problem.by_adolc(60, {{"schedule", "store_all"}});
  std::int64_t steps_of_this_life = 0;
  const auto live = [&](const Values& u_0, const Values& p) {
    anadrome::Run run(MPI_COMM_WORLD);
    run.set("directory", directory()).set("schedule", "async").set("interval", "2");
    run.set("memory", "16KiB").set("resume", "on").set("checkpoint_interval", "0");
    steps_of_this_life = 0;
    const auto step = [&](auto& u, const auto& of_step, std::int64_t k) {
      if (++steps_of_this_life == 70 && rank() == 0) run.request_stop();
      problem.step(u, of_step, k);
    };
    return tool::gradient(run, MPI_COMM_WORLD, step, u_0, p, 60, Objective{});
  };
  Values other_u_0 = problem.u_0;
  if (rank() == ranks() - 1) other_u_0[1] += 1e-9;
  EXPECT_THROW(live(problem.u_0, problem.p), anadrome::Error);  // it is stopped
  for (const bool other_p : {false, true}) {
    try {
      live(other_p ? problem.u_0 : other_u_0, {0.2, other_p ? 0.06 : 0.05});
      FAIL() << "goes on with another start";
    } catch (const anadrome::Error& error) {
      EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT) << error.what();
    }
    EXPECT_EQ(steps_of_this_life, 0);
  }
  for (bool ended = false; !ended;) {
    try {
      EXPECT_TRUE(same_bits(live(problem.u_0, problem.p), expected));
      ended = true;
    } catch (const anadrome::Error& error) {
      ASSERT_EQ(error.status(), ANADROME_STOPPED) << error.what();
    }
  }
}

TEST(ForwardOnly, PassesOnWhatAStepThrows) {
  const Problem problem;
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("directory", directory());
  std::int64_t too_many = 0;
  const auto step = [&](auto& u, const auto& p, std::int64_t k) {
    if (++too_many == 70) throw std::runtime_error("too hot");  // in a step that is recorded
    problem.step(u, p, k);
  };
  EXPECT_THROW(tool::gradient(run, MPI_COMM_WORLD, step, problem.u_0, problem.p, 60, Objective{}),
               std::runtime_error);
}

// The last of several ranks has no values. Each of the others gets a tenth of the sum of all, and
// so does each weight.
void add_sum(double* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < count; ++i) values[i] += 0.1 * sum;
}

TEST(Gradient, IsThatOfAllRanksWhereOneHasNoValues) {
  const bool none = ranks() > 1 && rank() == ranks() - 1;
  Values u_0(none ? 0 : 3);
  for (std::size_t i = 0; i < u_0.size(); ++i) u_0[i] = 1 + 0.5 * static_cast<double>(i) + rank();
  const Exchange exchange(add_sum, add_sum);
  const auto step = [&](auto& u, const auto&, std::int64_t) { exchange(u); };
  const auto objective = [](const auto& u, const auto&) {
    typename std::decay_t<decltype(u)>::value_type sum = 0;
    for (const auto& each : u) sum += 0.5 * each * each;
    return sum;
  };
  constexpr std::int64_t kSteps = 4;
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("directory", directory());
  const Derivatives found =
      tool::gradient(run, MPI_COMM_WORLD, step, u_0, Values{}, kSteps, objective);
  Values expected = u_0;  // the exchange is symmetric
  for (std::int64_t k = 0; k < 2 * kSteps; ++k) add_sum(expected.data(), expected.size());
  expect_near(found.by_state, expected);
}

}  // namespace
