// Commits on the way, and a second process that goes on where the first one stopped.
#include "engine/resumption.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "desk.h"

namespace anadrome::engine {
namespace {

using Commit = Agreement::Input::Commit;

// A process of a run with an anchor at every fourth of 40 steps.
struct Process {
  static constexpr std::int64_t kSteps = 40;

  explicit Process(const std::string& directory, const std::string& problem = "heat")
      : all(1), rank(all, 0), desk(rank, 64 << 10, 0), adjoint(8) {
    Options& options = desk.options;
    options.directory = directory;
    options.memory = 8 << 16;
    options.interval = 4;
    options.resume = true;
    options.problem = problem;
    options.checkpoint_interval = 0;
    desk.add("lambda", ANADROME_ROLE_ADJOINT, adjoint);
    desk.meeting.bring = [this](Agreement::Input& input) {
      input.stop = stops;
      resumption.bring(input, stops);
    };
    desk.meeting.take = [this](const Agreement::Output& output) { resumption.take(output); };
  }
  void begin() { desk.begin("async", kSteps); }
  // Plays until x_step is live, forward, or the adjoint of that step is next. False: it never is.
  bool play_to(std::int64_t step, bool reverse) {
    using namespace schedule;
    for (;;) {
      const Action action = desk.context.plan.sweep->next();
      if (desk.keeper.write_is_due()) desk.keeper.write_due();
      if (std::holds_alternative<Done>(action)) return false;
      if (const auto* kept = std::get_if<Keep>(&action)) desk.keeper.keep(*kept);
      if (const auto* kept = std::get_if<Restore>(&action)) desk.keeper.restore(*kept);
      if (const auto* kept = std::get_if<Drop>(&action)) desk.keeper.drop(*kept);
      if (std::holds_alternative<Decide>(action)) desk.decisions.decide();
      if (const auto* advance = std::get_if<Advance>(&action)) {
        EXPECT_TRUE(desk.is_at(advance->first)) << advance->first;
        desk.step_to(advance->last);
        if (!reverse && advance->last >= step) return true;
      }
      if (std::holds_alternative<Turn>(action)) sweep.phase = ANADROME_PHASE_REVERSE;
      if (const auto* adjoint_step = std::get_if<schedule::Adjoint>(&action)) {
        EXPECT_TRUE(desk.is_at(adjoint_step->step)) << adjoint_step->step;
        if (reverse && adjoint_step->step == step) return true;
      }
    }
  }
  // As anadrome_request_stop makes a run do; what it says.
  std::string stop() {
    stops = true;
    const Failure said = failure_from(
        [&] { resumption.commit_if_due(Call::kAnchor, desk.meeting.agree(Call::kAnchor)); });
    EXPECT_EQ(said.status, ANADROME_STOPPED);
    resumption.abandon();
    desk.keeper.abandon();
    desk.storage.space()->leave();
    return said.message;
  }

  ThreadRanks all;
  ThreadRanks::Rank rank;
  Desk desk;
  std::vector<unsigned char> adjoint;
  Resumption& resumption = desk.resumption;
  SweepState& sweep = desk.context.sweep;
  bool stops = false;
};

// A first process that stopped at x_12. Where in the file this is.
std::int64_t stop_at_12(const std::string& directory) {
  Process first(directory);
  first.begin();
  EXPECT_FALSE(first.resumption.can_be_left());
  first.play_to(14, false);
  first.adjoint[0] = 42;
  const std::int64_t newest = first.desk.storage.space()->segment_of(3).byte_of(3, 0);
  EXPECT_EQ(first.stop(), "stopped as asked; with resume=on the run goes on from here");
  EXPECT_TRUE(first.resumption.can_be_left());
  return newest;
}

TEST(Resumption, GoesOnInTheForwardAndInTheReverseSweep) {
  const store::TemporaryDirectory directory;
  stop_at_12(directory.path());
  {
    Process second(directory.path());
    second.begin();
    EXPECT_EQ(second.sweep.phase, ANADROME_PHASE_FORWARD);
    EXPECT_EQ(second.sweep.resumed_step, 12);
    EXPECT_TRUE(second.desk.is_at(12));
    EXPECT_TRUE(second.play_to(5, true));
    second.adjoint[1] = 7;
    second.stop();
  }
  Process third(directory.path());
  third.begin();
  EXPECT_EQ(third.sweep.phase, ANADROME_PHASE_REVERSE);
  EXPECT_EQ(third.sweep.resumed_step, 5);
  EXPECT_EQ(third.adjoint[0], 42);
  EXPECT_EQ(third.adjoint[1], 7);
  EXPECT_TRUE(third.play_to(0, true));
}

TEST(Resumption, GoesOnFromAnEarlierAnchorWhereTheNewestIsDamaged) {
  const store::TemporaryDirectory directory;
  const std::int64_t newest = stop_at_12(directory.path());
  {
    std::fstream file(directory / "anadrome/segment-00000.h5", std::ios::in | std::ios::out);
    file.seekp(newest);
    file.put('x');
  }
  Process second(directory.path());
  second.begin();
  EXPECT_TRUE(second.desk.is_at(8));
  EXPECT_EQ(second.sweep.anchors_lost, 1);
  EXPECT_TRUE(second.play_to(0, true));
}

TEST(Resumption, RefusesAnotherProblem) {
  const store::TemporaryDirectory directory;
  stop_at_12(directory.path());
  Process second(directory.path(), "waves");
  const Failure failure = failure_from([&] { second.begin(); });
  EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT);
  EXPECT_NE(failure.message.find("option problem was 'heat'"), std::string::npos);
}

TEST(Resumption, BeginsAnewWhereWhatWasLeftIsNotWhole) {
  const auto begins_anew_without = [](const std::function<void(const std::string& left)>& damage) {
    const store::TemporaryDirectory directory;
    stop_at_12(directory.path());
    damage(directory / "anadrome/");
    Process second(directory.path());
    second.begin();
    EXPECT_TRUE(second.sweep.warned);
    EXPECT_EQ(second.sweep.resumed_phase, ANADROME_PHASE_IDLE);
    EXPECT_FALSE(second.resumption.can_be_left());
    EXPECT_TRUE(second.play_to(0, true));
  };
  begins_anew_without(
      [](const std::string& left) { std::filesystem::resize_file(left + "journal-000000", 0); });
  begins_anew_without(
      [](const std::string& left) { std::filesystem::remove(left + "segment-00000.h5"); });
}

TEST(Resumption, CommitsWhenItIsTimeOrARankIsAskedToStop) {
  const store::TemporaryDirectory directory;
  Process process(directory.path());
  const auto brought = [&](bool stop) {
    Agreement::Input input;
    process.resumption.bring(input, stop);
    return input.commit;
  };
  EXPECT_EQ(brought(true), Commit::kNotDue) << "no sweep is under way";
  process.begin();
  EXPECT_EQ(brought(false), Commit::kDue);
  process.desk.options.checkpoint_interval = 1e9;
  process.begin();
  EXPECT_EQ(brought(false), Commit::kNotDue);
  EXPECT_EQ(brought(true), Commit::kDue);
  process.sweep.rewound = true;
  EXPECT_EQ(brought(true), Commit::kNotDue) << "nobody could tell in which reverse sweep it is";
  EXPECT_NE(process.stop().find("goes on in its first reverse sweep"), std::string::npos);
}

TEST(Resumption, AgreesBetweenAnchorsAfterSomeAdjointSteps) {
  const store::TemporaryDirectory directory;
  Process process(directory.path());
  process.desk.options.checkpoint_interval = 8;
  process.begin();
  ScriptedSweep& sweep = process.desk.script();
  double adjoint = 0;
  process.desk.meeting.bring = [&](Agreement::Input& input) { input.largest[1] = adjoint; };
  const auto agrees_after = [&](std::int64_t steps) {
    std::vector<std::int64_t> after;
    process.sweep.adjoints = process.sweep.adjoints_agreed_at = 16;
    while (process.sweep.adjoints < 16 + steps) {
      ++process.sweep.adjoints;
      process.desk.meeting.agreed.clear();
      process.resumption.commit_between_anchors();
      if (process.desk.meeting.agreed.empty()) continue;
      after.push_back(process.sweep.adjoints);
      process.sweep.adjoints_agreed_at = process.sweep.adjoints;
    }
    return after;
  };
  EXPECT_EQ(agrees_after(64), (std::vector<std::int64_t>{32, 64})) << "no time is known";
  adjoint = 0.3;
  process.desk.meeting.agree(Call::kAdjoint);
  EXPECT_EQ(agrees_after(10), (std::vector<std::int64_t>{20, 24})) << "an eighth of the interval";
  sweep.adjoints = 0;
  EXPECT_TRUE(agrees_after(10).empty()) << "nothing is left to do";
}

}  // namespace
}  // namespace anadrome::engine
