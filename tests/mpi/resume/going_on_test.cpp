// SPDX-License-Identifier: BSD-2-Clause
// What a program that goes on has to know, and how much memory its commits take.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 23;

// Takes long enough for a commit to be made, and for a stop to come before the end.
void step_back(double x, double& adjoint) {
  adjoint *= 1 + 0.02 * x;
  compute_for(1e-3);
}

// Commits as often as it can.
anadrome_run* open_committing(const char* interval, const char* memory) {
  anadrome_run* run = nullptr;
  anadrome_open(MPI_COMM_WORLD, &run);
  for (const auto& [key, value] : {std::pair{"schedule", "async"},
                                   {"interval", interval},
                                   {"resume", "on"},
                                   {"checkpoint_interval", "0"},
                                   {"memory", memory},
                                   {"directory", directory().c_str()}}) {
    EXPECT_EQ(anadrome_set(run, key, value), ANADROME_OK);
  }
  return run;
}

void ask(const anadrome_run* run) {
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t step = 0;
  EXPECT_EQ(anadrome_resumed(run, &phase, &step), ANADROME_OK);
}

// A program that may not know that it goes on.
struct Unaware {
  bool adjoint_fields = true;
  int asks = -1;  ///< this rank
  std::int64_t adjoints = 0;
  double adjoint = 0;
  std::string message = {};

  /// Life of a process, which asks to be stopped at its action `stop_at`.
  anadrome_status live(std::int64_t stop_at) {
    double x = 1;
    anadrome_run* run = open_committing("3", "64KiB");
    add_number(run, "x", x);
    if (adjoint_fields) add_number(run, "adjoint", adjoint, ANADROME_ROLE_ADJOINT);
    adjoint = 0;
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
    if (rank() == asks) ask(run);
    std::int64_t actions = 0;
    const anadrome_status status = follow(run, ANADROME_OK, [&](const anadrome_action& action) {
      if (actions++ == stop_at) anadrome_request_stop(run);
      take_steps(action, [&](std::int64_t) { x += 0.01 * x * x; });
      if (action.kind == ANADROME_TURN) adjoint = 1;
      if (action.kind != ANADROME_ADJOINT) return;
      step_back(x, adjoint);
      ++adjoints;
    });
    if (status != ANADROME_OK) message = anadrome_last_error();
    if (status == ANADROME_ERR_ORDER) {  // and no sweep of this object touches what is there
      EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_ORDER);
      EXPECT_EQ(anadrome_last_error(), message);
    }
    EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
    return status;
  }
  static double right() {
    Unaware program;
    EXPECT_EQ(program.live(-1), ANADROME_OK) << program.message;
    return program.adjoint;
  }
};

TEST(GoingOn, IsAnErrorOnAllRanksWhereNobodyAskedAndTheCommitStays) {
  const double right = Unaware::right();
  int refused = 0;
  for (const std::int64_t at : {12, 19, 33}) {
    SCOPED_TRACE(at);
    Unaware program;
    ASSERT_EQ(program.live(at), ANADROME_STOPPED);
    if (program.message.find("nothing was committed") != std::string::npos) continue;
    ASSERT_EQ(program.live(-1), ANADROME_ERR_ORDER);
    EXPECT_TRUE(has_part(program.message, "anadrome_resumed"));
    ++refused;
    program.asks = ranks() - 1;  // one is enough
    ASSERT_EQ(program.live(-1), ANADROME_OK) << program.message;
    EXPECT_EQ(program.adjoint, right);
  }
  EXPECT_GE(refused, 2);
}

TEST(GoingOn, WithoutAdjointFieldsBeginsTheReverseSweepAgain) {
  const double right = Unaware::right();
  for (const std::int64_t at : {12, 33}) {
    SCOPED_TRACE(at);
    Unaware program;
    program.adjoint_fields = false;
    program.asks = 0;
    ASSERT_EQ(program.live(at), ANADROME_STOPPED);
    program.adjoints = 0;
    ASSERT_EQ(program.live(-1), ANADROME_OK) << program.message;
    EXPECT_EQ(program.adjoint, right);
    EXPECT_EQ(program.adjoints, kSteps);
  }
}

// A program with two reverse sweeps, for one objective after the other.
struct TwoObjectives {
  /// Life of a process, stopped after so many adjoint steps of the second. What each gave.
  static std::array<double, 2> live(std::int64_t stop_after) {
    double x = 1, adjoint = 0;
    anadrome_run* run = open_committing("3", "64KiB");
    add_number(run, "x", x);
    add_number(run, "adjoint", adjoint, ANADROME_ROLE_ADJOINT);
    anadrome_status status = anadrome_begin(run, kSteps);
    ask(run);
    std::array<double, 2> results = {};
    for (std::size_t objective = 0; objective < 2 && status == ANADROME_OK; ++objective) {
      std::int64_t adjoints = 0;
      status = objective > 0 ? anadrome_rewind(run) : status;
      status = follow(run, status, [&](const anadrome_action& action) {
        take_steps(action, [&](std::int64_t) { x += 0.01 * x * x; });
        if (action.kind == ANADROME_TURN) adjoint = static_cast<double>(objective + 1);
        if (action.kind != ANADROME_ADJOINT) return;
        step_back(x, adjoint);
        if (objective > 0 && ++adjoints == stop_after) anadrome_request_stop(run);
      });
      results[objective] = adjoint;
    }
    EXPECT_EQ(status, stop_after < 0 ? ANADROME_OK : ANADROME_STOPPED);
    EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
    return results;
  }
};

TEST(ResumeInASecondReverseSweep, DoesNotMakeItTheFirst) {
  const std::array<double, 2> right = TwoObjectives::live(-1);
  TwoObjectives::live(kSteps / 2);
  EXPECT_EQ(TwoObjectives::live(-1), right);
}

// Its bytes are those of a packed adjoint field, and say how much the heap has when they come back.
struct LargeAdjoint {
  static constexpr std::size_t kBytes = std::size_t{16} << 20;
  static std::size_t heap() {
    const auto all = ::mallinfo2();
    return all.uordblks + all.hblkhd;
  }
  static int pack(void*, void* buffer, std::size_t bytes) {
    std::memset(buffer, 1, bytes);
    return 0;
  }
  static int unpack(void* context, const void*, std::size_t) {
    *static_cast<std::size_t*>(context) = heap();
    return 0;
  }
};

TEST(ResumeMemory, HasOneCopyOfTheAdjointFields) {
  double x = 0;
  std::size_t heap = 0;
  for (const bool resumed : {false, true}) {
    anadrome_run* run = open_committing("1", "17MiB");
    add_number(run, "x", x);
    anadrome_add_packed(run, "gradient", ANADROME_ROLE_ADJOINT, LargeAdjoint::kBytes,
                        LargeAdjoint::pack, LargeAdjoint::unpack, &heap);
    const std::size_t before = LargeAdjoint::heap();
    ASSERT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
    ask(run);
    const std::size_t during = resumed ? heap : 0;
    EXPECT_LT(during, before + LargeAdjoint::kBytes * 3 / 2);
    const anadrome_status status = follow(run, ANADROME_OK, [&](const anadrome_action& action) {
      if (action.kind == ANADROME_TURN && !resumed) anadrome_request_stop(run);
    });
    EXPECT_EQ(status, resumed ? ANADROME_OK : ANADROME_STOPPED);
    anadrome_close(&run);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose heaps are their own
  EXPECT_GT(heap, 0u);
#endif
}

// As after a reallocation, or with `lam = lam + ...` in Python; on the last rank alone it is right.
// A run that goes on has what was committed, and says so, too.
TEST(Sweeps, InWhichNoAdjointFieldChangesSaySo) {
  std::vector<double> u(4, 1), lambda(4), other(4);
  const auto sweep = [&](bool right, bool resumes, std::int64_t last) {
    anadrome_run* run = open_committing("3", "1MiB");
    anadrome_set(run, "resume", resumes ? "on" : "off");
    add_array(run, "u", u);
    add_array(run, "lambda", lambda, ANADROME_ROLE_ADJOINT);
    EXPECT_EQ(anadrome_begin(run, 60), ANADROME_OK) << anadrome_last_error();
    if (resumes) ask(run);
    const anadrome_status status = follow(run, ANADROME_OK, [&](const anadrome_action& action) {
      if (action.kind == ANADROME_ADJOINT && action.first == last) anadrome_request_stop(run);
      take_steps(action, [&](std::int64_t) { u[0] *= 1.1; });
      if (action.kind == ANADROME_TURN) lambda = u;
      double& written = right && rank() == ranks() - 1 ? lambda[0] : other[0];
      if (action.kind == ANADROME_ADJOINT) written = 1.1 * lambda[0];
      if (action.kind == ANADROME_ADJOINT && last >= 0) compute_for(4e-3);  // ranks agree in time
    });
    EXPECT_EQ(status == ANADROME_OK, last < 0) << anadrome_last_error();
    anadrome_close(&run);
  };
  for (const bool resumes : {false, true}) {
    for (const bool right : {false, true}) {
      if (resumes) sweep(right, true, 40);
      testing::internal::CaptureStderr();
      sweep(right, resumes, -1);
      const std::string text = testing::internal::GetCapturedStderr();
      EXPECT_EQ(has_part(text, "no adjoint step changed a registered adjoint field"),
                rank() == 0 && !right)
          << text;
      EXPECT_TRUE(!resumes || has_part(text, "going on at step") || rank() > 0) << text;
    }
  }
}

}  // namespace
