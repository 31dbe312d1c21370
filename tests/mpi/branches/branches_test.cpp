// SPDX-License-Identifier: BSD-2-Clause
// Branches that meet in one objective, through the C interface: every action finds the state that
// it names, and what cannot be is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "schedule/branch_sweep.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;
using Steps = std::vector<std::int64_t>;

/// A caller that checks each action against all states of all branches.
class Ensemble {
 public:
  Ensemble(const Counts& counts, Steps steps, bool tape = false)
      : model(MPI_COMM_WORLD, counts, tape), steps_(std::move(steps)) {
    for (std::int64_t branch = 0; branch < count(); ++branch) {
      states_.emplace_back();
      tapes_.emplace_back();
      start(branch);
      states_.back().push_back(model.state());
      for (std::int64_t k = 0; k < steps_[at(branch)]; ++k) {
        step(branch, k, model.has_tape());
        if (model.has_tape()) tapes_.back().push_back(model.tape());
        states_.back().push_back(model.state());
      }
    }
  }

  std::int64_t count() const { return static_cast<std::int64_t>(steps_.size()); }
  std::int64_t sum() const { return std::accumulate(steps_.begin(), steps_.end(), 0L); }
  const Steps& steps() const { return steps_; }

  /// Every action up to DONE, or to an error.
  anadrome_status sweep(anadrome_run* run, bool reducible) {
    run_ = run;
    reducible_ = reducible;
    seen_.clear();
    seeded_.clear();
    started_.clear();
    to_adjoin_ = steps_;
    advances = 0;
    anadrome_status status = anadrome_begin_branches(run, count(), steps_.data());
    if (status != ANADROME_OK) return status;
    EXPECT_TRUE(model.no_then(run));
    anadrome_action action;
    while ((status = anadrome_next(run, &action)) == ANADROME_OK) {
      if (action.kind == ANADROME_DONE) break;
      if (before_action) before_action(action);
      carry_out(action);
    }
    if (status == ANADROME_OK) {
      EXPECT_EQ(to_adjoin_, Steps(steps_.size(), 0));
    }
    return status;
  }

  CoupledModel model;
  std::int64_t advances = 0;
  std::function<void(const anadrome_action&)> before_action;

 private:
  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  void start(std::int64_t branch) {
    model.start();
    model.step(1000000 + branch);
  }
  void step(std::int64_t branch, std::int64_t k, bool record) {
    if (record) {
      model.record(1000 * branch + k);
    } else {
      model.step(1000 * branch + k);
    }
  }

  void expect_state(const anadrome_action& action, std::int64_t branch, std::int64_t step) {
    EXPECT_TRUE(model.take_now(run_));
    EXPECT_TRUE(model.state() == states_[at(branch)][at(step)])
        << "kind " << action.kind << " branch " << branch << " step " << step;
  }

  void carry_out(const anadrome_action& action) {
    const std::int64_t branch = action.branch, end = steps_[at(branch)];
    const bool all_seen = seen_.size() == steps_.size();
    switch (action.kind) {
      case ANADROME_VISIT:
        ADD_FAILURE() << "no pass was begun";
        break;
      case ANADROME_START:
        EXPECT_EQ(action.again != 0, started_.count(branch) > 0);
        started_.insert(branch);
        EXPECT_TRUE(model.spoil_then(run_));
        start(branch);
        EXPECT_TRUE(model.put_then(run_));
        break;
      case ANADROME_ADVANCE:
        expect_state(action, branch, action.first);
        EXPECT_EQ(action.again != 0, all_seen);
        for (std::int64_t k = action.first; k < action.last; ++k) {
          step(branch, k, action.record != 0 && k + 1 == action.last);
        }
        EXPECT_TRUE(model.put_then(run_));
        advances += action.last - action.first;
        break;
      case ANADROME_TURN:
        expect_state(action, branch, end);
        EXPECT_EQ(action.again != 0, all_seen);
        EXPECT_EQ(action.first, end);
        if (action.again != 0) {
          if (!reducible_) show_ends(action);
          EXPECT_TRUE(seeded_.insert(branch).second);
        } else {
          EXPECT_EQ(branch, static_cast<std::int64_t>(seen_.size()));
          seen_.insert(branch);
        }
        model.scramble_state();
        break;
      case ANADROME_ADJOINT:
        EXPECT_TRUE(reducible_ ? seeded_.count(branch) > 0 : seeded_.size() == steps_.size());
        EXPECT_EQ(action.last, to_adjoin_[at(branch)]--);
        if (model.has_tape()) {
          EXPECT_TRUE(model.tape() == tapes_[at(branch)][at(action.first)]);
        } else {
          expect_state(action, branch, action.first);
        }
        model.scramble_state();
        model.scramble_tape();
        break;
      case ANADROME_DONE:
        break;
    }
  }

  void show_ends(const anadrome_action& action) {
    for (std::int64_t b = count(); b-- > 0;) {
      EXPECT_EQ(anadrome_show_end(run_, b), ANADROME_OK) << anadrome_last_error();
      expect_state(action, b, steps_[at(b)]);
    }
    EXPECT_EQ(anadrome_show_end(run_, -1), ANADROME_ERR_ARGUMENT);
    EXPECT_EQ(anadrome_show_end(run_, count()), ANADROME_ERR_ARGUMENT);
  }

  Steps steps_;
  std::vector<std::vector<Bytes>> states_;
  std::vector<std::vector<std::vector<std::int64_t>>> tapes_;
  anadrome_run* run_ = nullptr;
  bool reducible_ = false;
  std::set<std::int64_t> started_, seen_, seeded_;
  Steps to_adjoin_;
};

const Counts kSmall{3, 1, 2, 5, 9};

void set_mode(RunHandle& run, bool reducible, bool charged) {
  run.set("objective", reducible ? "reducible" : "joint");
  run.set("inputs", charged ? "charged" : "free");
}

std::int64_t promised(const Ensemble& ensemble, bool reducible, bool charged,
                      const RunHandle& run) {
  anadrome::schedule::BranchOptions options;
  options.steps = ensemble.steps();
  options.slots = run.statistics().checkpoint_slots;
  options.reducible = reducible;
  options.charged_inputs = charged;
  options.record = ensemble.model.has_tape();
  return anadrome::schedule::BranchSweep(options).advances_remaining();
}

TEST(Branches, HaveEveryStateThatTheirActionsName) {
  for (const unsigned exchanged : {kNoField, kAllFields}) {
    for (const bool tape : {false, true}) {
      Ensemble ensemble(kSmall, {9, 4, 1, 12}, tape);
      ensemble.model.exchanged = exchanged;
      RunHandle run(MPI_COMM_WORLD);
      ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
      for (const bool reducible : {false, true}) {
        for (const bool charged : {false, true}) {
          set_mode(run, reducible, charged);
          for (const char* slots : {"8", "10", "15", "unlimited"}) {
            run.set("checkpoints", slots);
            ASSERT_EQ(ensemble.sweep(run, reducible), ANADROME_OK) << anadrome_last_error();
            const anadrome_stats stats = run.statistics();
            EXPECT_EQ(ensemble.advances, promised(ensemble, reducible, charged, run));
            EXPECT_EQ(stats.forward_steps_taken, ensemble.advances);
            EXPECT_EQ(stats.forward_steps_planned, ensemble.advances);
            EXPECT_EQ(stats.forward_steps_remaining, 0);
            EXPECT_EQ(stats.steps, ensemble.sum());
            EXPECT_EQ(stats.adjoint_steps_taken, ensemble.sum());
            EXPECT_STREQ(stats.schedule, "join");
            EXPECT_GT(stats.seconds_predicted, 0);
            EXPECT_EQ(stats.predicted_at_step, ensemble.sum() / 2);
            EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
          }
        }
      }
    }
  }
}

// Large states have blocks of their own, and exchanged ones are handed over without a copy.
TEST(Branches, OfLargeStatesStayWithinTheMemory) {
  for (const unsigned exchanged : {kNoField, kFloat32s}) {
    Ensemble ensemble({400000, 0, 0, 5, 0}, {5, 3});
    ensemble.model.exchanged = exchanged;
    RunHandle run(MPI_COMM_WORLD);
    ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
    run.set("memory", "10MiB");
    for (const bool reducible : {false, true}) {
      set_mode(run, reducible, false);
      ASSERT_EQ(ensemble.sweep(run, reducible), ANADROME_OK) << anadrome_last_error();
      const anadrome_stats stats = run.statistics();
      EXPECT_LE(stats.checkpoint_slots, 6) << "of 1.6 MB";
      EXPECT_GE(stats.checkpoint_slots, 2);
      EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
      EXPECT_EQ(ensemble.advances, promised(ensemble, reducible, false, run));
    }
  }
}

TEST(Branches, NameTheMemoryThatTheyNeed) {
  Ensemble ensemble(kSmall, {9, 4, 6});
  for (const bool charged : {false, true}) {
    RunHandle run(MPI_COMM_WORLD);
    ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
    set_mode(run, false, charged);
    run.set("memory", "300B");
    ASSERT_EQ(ensemble.sweep(run, false), ANADROME_ERR_MEMORY);
    const std::string text = anadrome_last_error();
    const auto place = text.find("set memory to ");
    ASSERT_NE(place, std::string::npos) << text;
    run.set("memory", text.substr(place + 14, text.find('B', place) + 1 - place - 14));
    EXPECT_EQ(ensemble.sweep(run, false), ANADROME_OK) << anadrome_last_error() << "; " << text;
    run.set("checkpoints", "2");
    EXPECT_EQ(ensemble.sweep(run, false), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("checkpoints=2"), std::string::npos);
  }
}

// Ranks whose states differ in size have one plan.
TEST(Branches, HaveTheSameSlotsOnRanksWithUnevenStates) {
  const Counts uneven{3 + 40 * static_cast<std::size_t>(rank()), 1, 0, 0, 0};
  Ensemble ensemble(uneven, {50, 30, 60});
  RunHandle run(MPI_COMM_WORLD);
  ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
  for (std::int64_t memory = 4 << 10; memory < 1 << 17; memory += memory / 2) {
    SCOPED_TRACE(memory);
    run.set("memory", std::to_string(memory) + "B");
    const anadrome_status status =
        anadrome_begin_branches(run, ensemble.count(), ensemble.steps().data());
    ASSERT_TRUE(status == ANADROME_OK || status == ANADROME_ERR_MEMORY) << anadrome_last_error();
    if (status == ANADROME_ERR_MEMORY) continue;
    ASSERT_TRUE(same_on_all(MPI_COMM_WORLD, run.statistics().checkpoint_slots));
    ASSERT_EQ(ensemble.sweep(run, false), ANADROME_OK) << anadrome_last_error();
    EXPECT_LE(run.statistics().peak_library_bytes, memory);
  }
}

// No elements, and buffers for states that are exchanged.
TEST(Branches, HaveSlotsInAnyMemoryBeyondTheLeast) {
  bool begun = false;
  for (std::int64_t memory = 100; memory < 2000; memory += 29) {
    int field = -1;
    const std::int64_t steps = 22;
    RunHandle run(MPI_COMM_WORLD);
    ASSERT_EQ(anadrome_add_exchanged(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 0, &field),
              ANADROME_OK);
    set_mode(run, true, false);
    run.set("memory", std::to_string(memory) + "B");
    const anadrome_status status = anadrome_begin_branches(run, 1, &steps);
    begun = begun || status == ANADROME_OK;
    ASSERT_EQ(status, begun ? ANADROME_OK : ANADROME_ERR_MEMORY) << anadrome_last_error();
  }
  EXPECT_TRUE(begun);
}

TEST(Branches, ThatCannotBeAreRefused) {
  Ensemble ensemble(kSmall, {3, 2});
  RunHandle run(MPI_COMM_WORLD);
  ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto begin = [&](std::int64_t count, const std::int64_t* steps) {
    return anadrome_begin_branches(run, count, steps);
  };
  const Steps steps = {3, 2};
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, kMost, -kMost}) {
    EXPECT_EQ(begin(count, steps.data()), ANADROME_ERR_ARGUMENT);
  }
  EXPECT_EQ(begin(2, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_begin_branches(nullptr, 2, steps.data()), ANADROME_ERR_ARGUMENT);
  for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-1}, kMost, -kMost}) {
    const Steps some = {3, wrong};
    EXPECT_EQ(begin(2, some.data()), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("branch 1 has"), std::string::npos);
  }
  // One rank alone, or a list of its own.
  const Steps own = rank() == ranks() - 1 ? Steps{3, -7} : steps;
  EXPECT_EQ(begin(2, own.data()), ANADROME_ERR_ARGUMENT);
  if (ranks() > 1) {
    const Steps other = rank() == 0 ? Steps{2, 3} : steps;
    EXPECT_EQ(begin(2, other.data()), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("differs between ranks"), std::string::npos);
    EXPECT_EQ(rank() == 0 ? anadrome_begin(run, 5) : begin(2, steps.data()), ANADROME_ERR_ARGUMENT);
  }
  for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{
           {"schedule", "async"}, {"schedule", "revolve"}, {"resume", "on"}, {"keep", "on"}}) {
    RunHandle other(MPI_COMM_WORLD);
    ASSERT_EQ(ensemble.model.add_fields(other), ANADROME_OK);
    other.set(key, value);
    EXPECT_EQ(ensemble.sweep(other, false), ANADROME_ERR_UNSUPPORTED) << key << value;
  }
  run.set("schedule", "join");
  EXPECT_EQ(anadrome_begin(run, 5), ANADROME_ERR_UNSUPPORTED);
  EXPECT_EQ(ensemble.sweep(run, false), ANADROME_OK) << anadrome_last_error();
}

TEST(Branches, RefuseCallsAtTheWrongMoment) {
  Ensemble ensemble(kSmall, {3, 2});
  RunHandle run(MPI_COMM_WORLD);
  ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
  EXPECT_EQ(anadrome_show_end(nullptr, 0), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_show_end(run, 0), ANADROME_ERR_ORDER);
  ensemble.before_action = [&](const anadrome_action& action) {
    const bool seeds = action.kind == ANADROME_TURN && action.again != 0;
    if (!seeds) {
      EXPECT_EQ(anadrome_show_end(run, 0), ANADROME_ERR_ORDER);
    }
    EXPECT_EQ(anadrome_finish_forward(run, 1), ANADROME_ERR_ORDER);
    EXPECT_EQ(anadrome_set(run, "memory", "1GiB"), ANADROME_ERR_ORDER);
  };
  ASSERT_EQ(ensemble.sweep(run, false), ANADROME_OK);
  EXPECT_EQ(anadrome_rewind(run), ANADROME_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(anadrome_last_error()).find("begin_branches again"), std::string::npos);
  ensemble.before_action = nullptr;
  ASSERT_EQ(ensemble.sweep(run, false), ANADROME_OK);  // a refusal ends nothing
  ASSERT_EQ(anadrome_begin(run, 3), ANADROME_OK);      // one branch, after several
  anadrome_action action;
  ASSERT_EQ(anadrome_next(run, &action), ANADROME_OK);
  EXPECT_EQ(action.kind, ANADROME_ADVANCE);
  EXPECT_EQ(action.branch, 0);
}

TEST(Branches, EndOnAllRanksWhenOneFailsOrStops) {
  for (const bool stops : {false, true}) {
    for (const int kind : {ANADROME_START, ANADROME_ADVANCE, ANADROME_TURN, ANADROME_ADJOINT}) {
      Ensemble ensemble(kSmall, {5, 3, 4});
      RunHandle run(MPI_COMM_WORLD);
      ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
      bool said = false;
      ensemble.before_action = [&](const anadrome_action& action) {
        if (said || rank() != ranks() - 1 || static_cast<int>(action.kind) != kind) return;
        if (action.branch != 1) return;
        said = true;
        EXPECT_EQ(stops ? anadrome_request_stop(run) : anadrome_fail(run, "of its own"),
                  ANADROME_OK);
      };
      EXPECT_EQ(ensemble.sweep(run, false), stops ? ANADROME_STOPPED : ANADROME_ERR_PEER);
      anadrome_action action;
      EXPECT_EQ(anadrome_next(run, &action), ANADROME_ERR_ORDER);
      ensemble.before_action = nullptr;
      EXPECT_EQ(ensemble.sweep(run, false), ANADROME_OK) << anadrome_last_error();
      EXPECT_EQ(run.close(), ANADROME_OK);
    }
  }
}

TEST(Branches, MayBeClosedInTheMiddle) {
  for (const std::int64_t actions : {0, 1, 5, 12, 20}) {
    Ensemble ensemble(kSmall, {5, 3});
    RunHandle run(MPI_COMM_WORLD);
    ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
    ASSERT_EQ(anadrome_begin_branches(run, 2, ensemble.steps().data()), ANADROME_OK);
    anadrome_action action;
    for (std::int64_t i = 0; i < actions; ++i) {
      ASSERT_EQ(anadrome_next(run, &action), ANADROME_OK);
    }
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  }
}

TEST(Branches, AreInTheReportTheTraceAndTheProgressLine) {
  Ensemble ensemble(kSmall, {15, 13});
  RunHandle run(MPI_COMM_WORLD);
  ASSERT_EQ(ensemble.model.add_fields(run), ANADROME_OK);
  run.set("report", directory() + "/branches.txt");
  run.set("trace", directory() + "/branches.json");
  run.set("progress", "on");
  run.set("checkpoints", "4");
  testing::internal::CaptureStderr();
  ASSERT_EQ(ensemble.sweep(run, false), ANADROME_OK) << anadrome_last_error();
  const std::string said = testing::internal::GetCapturedStderr();
  if (rank() != 0) return;
  EXPECT_NE(said.find("of 28"), std::string::npos) << said;
  const auto text_of = [](const std::string& name) {
    std::ifstream file(directory() + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_NE(text_of("branches.txt").find("schedule join; auto: 2 branches"), std::string::npos);
  EXPECT_NE(text_of("branches.txt").find("28 steps on"), std::string::npos);
  EXPECT_NE(text_of("branches.json").find("recompute"), std::string::npos);
}

}  // namespace
