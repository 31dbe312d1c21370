// SPDX-License-Identifier: BSD-2-Clause
// Mistakes in a program end in an error that names them, under every schedule, and a program
// without mistakes is never accused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "schedule/catalogue.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

// ---- a program with the mistakes that people make when they bring a model to the library ----

enum class Mistake {
  kNone,
  kForgottenField,  ///< the second time level is not registered
  kOverlap,         ///< the second field begins an element too early
  kStaticVariable,
  kRandomNumber,
  kBoundaryValue,  ///< of the last rank: the count of the first field is one too small
  kFirstStepOnly,  ///< of an ADVANCE
  kSkipsAgain,     ///< an ADVANCE with `again` is not run
  kLateField,      ///< a coefficient that is renewed at every tenth step, after the first ones
  kLateCounter,    ///< a static variable that counts from there on
  kSwappedLevels,  ///< the arrays of the two time levels change places at every step
  kSwappedArray,   ///< that of the newest one does with another one, which is not registered
  kRounding,       ///< none: sums in varying order
};

struct Settings {
  std::string schedule = "revolve";
  std::vector<std::pair<std::string, std::string>> options = {};
  std::int64_t steps = 60;
  bool unknown_steps = false;
  std::int64_t at_rest_for = 0;  ///< steps, from the start
  std::size_t packed_bytes = 0;  ///< the mistaken field is packed, padded to so many bytes
};

struct PortOutcome {
  anadrome_status begin = ANADROME_OK, sweep = ANADROME_OK;
  std::string message;
  std::int64_t forward_steps = 0;  ///< that the program was asked for until it ended
  bool in_reverse = false;         ///< when it ended
  anadrome_stats stats{};
  double gradient = 0;
};

constexpr std::size_t kCells = 8192;

// A wave equation with two time levels.
class Port {
 public:
  Port(Mistake mistake, const Settings& settings) : mistake_(mistake), settings_(settings) {
    for (std::size_t i = 0; settings.at_rest_for == 0 && i < kCells; ++i) {
      u()[i] = std::sin(0.01 * static_cast<double>(i) + rank());
      before()[i] = 0.99 * u()[i];
    }
  }

  void add_fields(anadrome_run* run) {
    const bool last = rank() == ranks() - 1;
    const std::size_t count = mistake_ == Mistake::kBoundaryValue && last ? kCells - 1 : kCells;
    if (settings_.packed_bytes > 0) {
      const auto pack = [](void* self, void* to, std::size_t) {
        std::memcpy(to, static_cast<Port*>(self)->u(), sizeof(double) * kCells);
        return 0;
      };
      const auto unpack = [](void* self, const void* from, std::size_t) {
        std::memcpy(static_cast<Port*>(self)->u(), from, sizeof(double) * kCells);
        return 0;
      };
      anadrome_add_packed(run, "u", ANADROME_ROLE_STATE, settings_.packed_bytes, pack, unpack,
                          this);
    } else {
      anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, u(), count);
    }
    double* second = before() - (mistake_ == Mistake::kOverlap ? 1 : 0);
    if (mistake_ != Mistake::kForgottenField) {
      anadrome_add_field(run, "before", ANADROME_ROLE_STATE, ANADROME_FLOAT64, second, kCells);
    }
    add_number(run, "time", time_);
    if (settings_.schedule == "mixed") add_array(run, "tape", tape_, ANADROME_ROLE_TAPE);
  }

  void advance(const anadrome_action& action) {
    const bool all = mistake_ != Mistake::kFirstStepOnly;
    if (mistake_ == Mistake::kSkipsAgain && action.again != 0) return;
    for (std::int64_t k = action.first; k < (all ? action.last : action.first + 1); ++k) step();
    std::copy(u(), u() + kCells, tape_.begin());
  }
  double adjoint(bool from_tape) const { return from_tape ? tape_[7] : u()[7] * before()[8]; }

 private:
  double* u() { return values_.data() + u_; }
  double* before() { return values_.data() + before_; }
  const double* u() const { return values_.data() + u_; }
  const double* before() const { return values_.data() + before_; }

  void step() {
    if (settings_.at_rest_for == 0) ++time_;
    const bool at_rest = steps_taken_++ < settings_.at_rest_for;
    if (at_rest) return;
    if (mistake_ == Mistake::kLateField && time_ % 10 == 0) coefficient_ = 1e-3 * (1 + u()[7]);
    std::vector<double> next(kCells);
    for (std::size_t i = 0; i < kCells; ++i) {
      const double left = u()[(i + kCells - 1) % kCells], right = u()[(i + 1) % kCells];
      next[i] = 2 * u()[i] - before()[i] + 0.1 * (left - 2 * u()[i] + right) -
                coefficient_ * u()[i] * u()[i] * u()[i] + 1e-3;
    }
    if (rank() == ranks() - 1) disturb(next);
    if (mistake_ == Mistake::kSwappedLevels) {  // the newest takes the place of the oldest
      std::copy(next.begin(), next.end(), before());
      std::swap(u_, before_);
      return;
    }
    std::copy(u(), u() + kCells, before());
    if (mistake_ == Mistake::kSwappedArray) std::swap(u_, next_);
    std::copy(next.begin(), next.end(), u());
  }

  void disturb(std::vector<double>& next) {
    static std::int64_t calls = 0;
    if (mistake_ == Mistake::kStaticVariable) next[100] += 1e-6 * static_cast<double>(++calls);
    if (mistake_ == Mistake::kLateCounter && time_ > 20)
      next[100] += 1e-6 * static_cast<double>(++calls);
    std::uniform_real_distribution<double> between(-1, 1);
    if (mistake_ == Mistake::kRandomNumber) next[100] += 1e-6 * between(random_);
    if (mistake_ == Mistake::kRounding) {
      for (double& value : next) value *= 1 + 4e-16 * between(random_);
    }
  }

  const Mistake mistake_;
  const Settings settings_;
  std::vector<double> values_ = std::vector<double>(3 * kCells);
  std::size_t u_ = 0, before_ = kCells, next_ = 2 * kCells;  // in values_
  std::vector<double> tape_ = std::vector<double>(kCells);
  std::int64_t time_ = 0, steps_taken_ = 0;
  double coefficient_ = 1e-3;
  std::mt19937_64 random_{12345};
};

// The program, on all ranks.
PortOutcome run_port(Mistake mistake, const Settings& settings) {
  RunHandle run(MPI_COMM_WORLD);
  Port port(mistake, settings);
  run.set("schedule", settings.schedule);
  run.set("memory", settings.schedule == "store_all" ? "32MiB" : "2MiB");
  for (const auto& [key, value] : settings.options) run.set(key, value);
  port.add_fields(run);
  PortOutcome outcome;
  outcome.begin =
      anadrome_begin(run, settings.unknown_steps ? ANADROME_STEPS_UNKNOWN : settings.steps);
  outcome.sweep = follow(run, outcome.begin, [&](anadrome_action action) {
    if (action.kind == ANADROME_TURN) outcome.in_reverse = true;
    if (action.kind == ANADROME_ADJOINT)
      outcome.gradient += port.adjoint(settings.schedule == "mixed");
    if (action.kind != ANADROME_ADVANCE) return;
    const bool ends = settings.unknown_steps && action.again == 0 && action.last >= settings.steps;
    if (ends) action.last = settings.steps;
    port.advance(action);
    outcome.forward_steps += action.last - action.first;
    if (ends) {
      EXPECT_EQ(anadrome_finish_forward(run, settings.steps), ANADROME_OK);
    }
  });
  if (outcome.sweep != ANADROME_OK) outcome.message = anadrome_last_error();
  outcome.stats = run.statistics();
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  return outcome;
}

// ---- what the library says of it ----

// That a run plays.
std::vector<std::string> schedules() {
  std::vector<std::string> names;
  for (const schedule::Entry& entry : schedule::catalogue()) {
    if (!entry.needs.undo) names.emplace_back(entry.name);  // which compares by itself: see below
  }
  return names;
}

const Mistake kRepeatMistakes[] = {Mistake::kForgottenField, Mistake::kStaticVariable,
                                   Mistake::kRandomNumber, Mistake::kBoundaryValue,
                                   Mistake::kFirstStepOnly};

// Steps that were run again to be compared alone.
std::int64_t extra(const PortOutcome& outcome) {
  return outcome.forward_steps - outcome.stats.forward_steps_taken;
}

void expect_same_on_all_ranks(const PortOutcome& outcome) {
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(outcome.message));
  EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, hash >> 1)) << outcome.message;
}

// The same error on every rank.
void expect_found(const PortOutcome& outcome, const char* begins) {
  EXPECT_EQ(outcome.sweep, ANADROME_ERR_NONDETERMINISTIC);
  EXPECT_TRUE(outcome.message.starts_with(begins)) << outcome.message;
  expect_same_on_all_ranks(outcome);
}

TEST(Preflight, FindsEveryMistakeInTheFirstStepsUnderEverySchedule) {
  for (const std::string& schedule : schedules()) {
    for (const Mistake mistake : kRepeatMistakes) {
      SCOPED_TRACE(schedule + " " + std::to_string(static_cast<int>(mistake)));
      const PortOutcome outcome = run_port(mistake, {schedule});
      const bool two = mistake == Mistake::kFirstStepOnly;  // the other ones show in step 0 alone
      expect_found(outcome, two ? "preflight: steps 0 to 1 give another state"
                                : "preflight: step 0 gives another state");
      EXPECT_EQ(outcome.forward_steps, two ? 5 : 2);
    }
  }
}

// It runs each of the first steps again, from the state that it began with; an ADVANCE has one.
TEST(Preflight, OfStepsThatAreUndoneFindsEveryMistake) {
  for (const Mistake mistake :
       {Mistake::kForgottenField, Mistake::kStaticVariable, Mistake::kRandomNumber,
        Mistake::kBoundaryValue, Mistake::kSkipsAgain, Mistake::kSwappedLevels,
        Mistake::kSwappedArray}) {
    SCOPED_TRACE(static_cast<int>(mistake));
    const PortOutcome outcome = run_port(mistake, {"undo", {}});
    expect_found(outcome, "");
    EXPECT_TRUE(has_part(outcome.message, "gives another state when it is run again"));
    EXPECT_LE(outcome.forward_steps, 4);
  }
}

TEST(Preflight, NamesWhatItSees) {
  const std::string whose = ranks() > 1 ? " on rank " + std::to_string(ranks() - 1) : "";
  for (const auto& [mistake, what] : std::initializer_list<std::pair<Mistake, std::string>>{
           {Mistake::kFirstStepOnly, "one step was run the second time"},
           {Mistake::kSkipsAgain, "no step was run the second time"},
           {Mistake::kForgottenField, "field 'u' differs by "},
           {Mistake::kForgottenField, "a time level that was not registered"},
           {Mistake::kStaticVariable,
            "its first element that differs is number 100, counted from 0"},
           {Mistake::kStaticVariable, "a counter"},
           {Mistake::kStaticVariable, whose}}) {
    EXPECT_TRUE(has_part(run_port(mistake, {}).message, what));
  }
}

TEST(Preflight, IsNoPartOfTheSweep) {
  for (const std::string& schedule : schedules()) {
    Settings settings = {schedule, {{"audit", "off"}, {"interval", "5"}}};
    const PortOutcome without = run_port(Mistake::kNone, settings);
    settings.options[0].second = "error";
    const PortOutcome with = run_port(Mistake::kNone, settings);
    SCOPED_TRACE(schedule);
    EXPECT_EQ(with.sweep, ANADROME_OK) << with.message;
    EXPECT_EQ(with.gradient, without.gradient);
    EXPECT_EQ(extra(without), 0);
    // And of 60 states after about 1, 4 and 16 adjoint steps, where they are kept.
    EXPECT_TRUE(extra(with) >= 3 && extra(with) <= 6) << extra(with);
    if (schedule != "revolve") continue;  // others plan from measured times
    EXPECT_EQ(with.stats.states_restored, without.stats.states_restored);
  }
}

TEST(Preflight, WaitsUntilAModelAtRestMoves) {
  for (const std::int64_t rest : {1, 2, 3, 9, 30}) {
    Settings settings;
    settings.at_rest_for = rest;
    EXPECT_EQ(run_port(Mistake::kNone, settings).sweep, ANADROME_ERR_NONDETERMINISTIC)
        << "the model counts its steps: " << rest;
  }
}

// The default: memory for all states, as first trials are.
TEST(EveryMistake, ShowsInTheFirstTrialUnderAuto) {
  for (const char* memory : {"32MiB", "2MiB"}) {
    for (const std::int64_t steps : {1, 2, 10}) {
      for (const Mistake mistake : kRepeatMistakes) {
        SCOPED_TRACE(memory + (" " + std::to_string(steps)) + " steps, mistake " +
                     std::to_string(static_cast<int>(mistake)));
        const PortOutcome outcome = run_port(mistake, {"auto", {{"memory", memory}}, steps});
        // The first step does not see the second time level; and it is the only one.
        if (mistake == Mistake::kFirstStepOnly && steps == 1) {
          EXPECT_EQ(outcome.sweep, ANADROME_OK);
        } else {
          expect_found(outcome, "");
        }
      }
    }
  }
}

TEST(EveryMistake, OfArraysThatChangePlacesShowsInAnyNumberOfSteps) {
  for (const std::string& schedule : schedules()) {
    for (const std::int64_t steps : {1, 2, 3, 60}) {
      for (const Mistake mistake : {Mistake::kSwappedLevels, Mistake::kSwappedArray}) {
        for (const std::int64_t rest : {0, 1, 2}) {
          if (rest >= steps) continue;
          const Settings settings = {schedule, {}, steps, false, rest};
          const PortOutcome outcome = run_port(mistake, settings);
          SCOPED_TRACE(schedule + " " + std::to_string(steps) + outcome.message);
          if (outcome.sweep == ANADROME_OK) {  // where nothing is restored it is no mistake
            EXPECT_EQ(outcome.gradient, run_port(Mistake::kNone, settings).gradient)
                << rest << " at rest";
          } else {
            EXPECT_EQ(outcome.sweep, ANADROME_ERR_NONDETERMINISTIC);
          }
          expect_same_on_all_ranks(outcome);
        }
      }
    }
  }
}

// ... also what begins after the first steps.
TEST(SpotChecks, FindWhatBeginsLater) {
  for (const char* schedule : {"auto", "store_all"}) {
    for (const Mistake mistake : {Mistake::kLateField, Mistake::kLateCounter}) {
      SCOPED_TRACE(schedule);
      const PortOutcome outcome = run_port(mistake, {schedule, {{"memory", "32MiB"}}});
      EXPECT_TRUE(outcome.in_reverse);
      expect_found(outcome, "the state of step 59 is not the same");
    }
  }
}

TEST(SpotChecks, BelongToTheFirstSweepAndAreNoPartOfIt) {
  const PortOutcome outcome = run_port(Mistake::kNone, {"store_all"});
  EXPECT_EQ(outcome.sweep, ANADROME_OK) << outcome.message;
  EXPECT_EQ(outcome.stats.forward_steps_taken, 60);
  EXPECT_EQ(extra(outcome), 3 + 3) << "at the start, and after 1, 5 and 21 adjoint steps";
  const PortOutcome off = run_port(Mistake::kNone, {"store_all", {{"audit", "off"}}});
  EXPECT_EQ(off.forward_steps, 60);
  EXPECT_EQ(off.gradient, outcome.gradient);
  EXPECT_LE(extra(run_port(Mistake::kNone, {"revolve", {}, 60, true})), 1 + 2 + 3);
  EXPECT_LE(extra(run_port(Mistake::kNone, {"revolve", {}, 2})), 1 + 2 + 1);
}

TEST(Sweeps, InWhichNothingIsComparedSaySo) {
  const auto said = [](const Settings& settings) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_port(Mistake::kNone, settings).sweep, ANADROME_OK);
    const std::string text = testing::internal::GetCapturedStderr();
    return text.find("no step was run twice") != std::string::npos;
  };
  // With an end that comes in the first step nothing can be compared.
  Settings settings = {"store_all", {}, 1, true};
  EXPECT_EQ(said(settings), rank() == 0);
  settings.steps = 2;
  EXPECT_FALSE(said(settings));
  settings = {"store_all", {}, 1};
  EXPECT_FALSE(said(settings));
}

TEST(Sweeps, InWhichNoStateChangesSaySo) {
  for (const std::int64_t steps : {1, 20}) {
    for (const std::int64_t rest : {steps - 1, 10 * steps}) {  // spot checks are steps, too
      testing::internal::CaptureStderr();
      run_port(Mistake::kNone, {"auto", {{"memory", "32MiB"}}, steps, false, rest});
      const std::string text = testing::internal::GetCapturedStderr();
      EXPECT_EQ(text.find("no step changed a registered state") != std::string::npos,
                rank() == 0 && rest > steps)
          << steps << " " << rest << text;
    }
  }
}

TEST(Preflight, PacksFieldsAndComparesTheirBytes) {
  for (const std::size_t bytes : {std::size_t{1} << 16, std::size_t{3} << 20}) {
    Settings settings;
    settings.packed_bytes = bytes;
    settings.options = {{"memory", "64MiB"}, {"checkpoints", "5"}};
    EXPECT_EQ(run_port(Mistake::kNone, settings).sweep, ANADROME_OK);
    for (const Mistake mistake : {Mistake::kForgottenField, Mistake::kRandomNumber}) {
      const PortOutcome outcome = run_port(mistake, settings);
      EXPECT_EQ(outcome.sweep, ANADROME_ERR_NONDETERMINISTIC);
      EXPECT_EQ(outcome.forward_steps, 2) << outcome.message;
    }
  }
}

TEST(Audit, FindsWhatBeginsLaterUnderEveryScheduleThatRunsStepsAgain) {
  for (const std::string& schedule : schedules()) {
    if (schedule == "store_all") continue;
    for (const Mistake mistake : {Mistake::kLateField, Mistake::kLateCounter}) {
      SCOPED_TRACE(schedule + " " + std::to_string(static_cast<int>(mistake)));
      expect_found(run_port(mistake, {schedule, {{"interval", "5"}}}), "the state of step ");
    }
  }
  expect_found(run_port(Mistake::kLateField, {"async", {{"interval", "1"}}}), "");
}

TEST(Audit, TellsRoundingFromMistakes) {
  const auto sweep = [&](Mistake mistake, const char* audit) {
    return run_port(mistake, {"revolve", {{"audit", audit}}});
  };
  EXPECT_EQ(sweep(Mistake::kRounding, "error").sweep, ANADROME_OK);
  EXPECT_EQ(sweep(Mistake::kRandomNumber, "warn").sweep, ANADROME_OK);
  EXPECT_EQ(sweep(Mistake::kRandomNumber, "off").sweep, ANADROME_OK);
  const PortOutcome exact = sweep(Mistake::kRounding, "exact");
  EXPECT_EQ(exact.sweep, ANADROME_ERR_NONDETERMINISTIC);
  EXPECT_TRUE(has_part(exact.message, "no more than rounding"));
}

TEST(Audit, WarnsOnceOfRoundingUnderEverySchedule) {
  for (const std::string& schedule : schedules()) {
    testing::internal::CaptureStderr();
    const PortOutcome outcome = run_port(Mistake::kRounding, {schedule, {{"interval", "5"}}});
    const std::string said = testing::internal::GetCapturedStderr();
    SCOPED_TRACE(schedule + ": " + said);
    EXPECT_EQ(outcome.sweep, ANADROME_OK) << outcome.message;
    const auto first = said.find("no more than rounding");
    EXPECT_EQ(first != std::string::npos, rank() == 0);
    EXPECT_EQ(said.find("no more than rounding", first + 1), std::string::npos);
  }
}

// Whatever else is right is simulated with every audit.
TEST(Audit, AccusesNobodyWithoutMistake) {
  for (const std::int64_t steps : {1, 2, 60}) {
    const PortOutcome outcome = run_port(Mistake::kNone, {"mixed", {{"audit", "exact"}}, steps});
    EXPECT_EQ(outcome.sweep, ANADROME_OK) << steps << outcome.message;
  }
}

TEST(Fields, ThatOverlapAreRefused) {
  const PortOutcome outcome = run_port(Mistake::kOverlap, {});
  EXPECT_EQ(outcome.begin, ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(outcome.message, "'u' and 'before' overlap: 8 bytes"));
}

}  // namespace
}  // namespace anadrome::test
