// SPDX-License-Identifier: BSD-2-Clause
// Commits on the way, and a second process that goes on where the first one stopped.
#include "engine/resume/resumption.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "desk.h"
#include "has_part.h"

namespace anadrome::engine {
namespace {

using Commit = Agreement::Input::Commit;
using Steps = std::vector<std::int64_t>;

// A process of a run with an anchor at every fourth of 40 steps.
struct Process : LoneDesk {
  explicit Process(const std::string& in = "", const std::string& set = "", bool has_adjoint = true)
      : LoneDesk(64 << 10) {
    if (!in.empty()) options.directory = in;
    options.set_environment(
        "memory=512KiB interval=4 resume=on problem=heat checkpoint_interval=0 " + set);
    fields.add({"v", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 1, false, &thirds, {}});
    if (has_adjoint) add("lambda", ANADROME_ROLE_ADJOINT, adjoint);
    meeting.bring = [this](Agreement::Input& input) {
      input.stop = stops;
      resumption.bring(input, stops);
    };
    meeting.take = [this](const Agreement::Output& output) { resumption.take(output); };
  }
  void begin() { Desk::begin("async", 40); }
  std::string said_in_begin() {
    testing::internal::CaptureStderr();
    begin();
    return testing::internal::GetCapturedStderr();
  }
  // Plays until x_step is live or the adjoint of that step is next; false: it never is.
  bool play_to(std::int64_t step, anadrome_phase phase) {
    for (;;) {
      const schedule::Action action = context.play.plan.sweep->next();
      if (keeper.write_is_due()) keeper.write_due();
      if (std::holds_alternative<schedule::Done>(action)) return false;
      if (const auto* kept = std::get_if<schedule::Keep>(&action)) keeper.keep(*kept);
      if (const auto* kept = std::get_if<schedule::Restore>(&action)) keeper.restore(*kept);
      if (const auto* kept = std::get_if<schedule::Drop>(&action)) keeper.drop(*kept);
      if (std::holds_alternative<schedule::Turn>(action)) sweep.phase = ANADROME_PHASE_REVERSE;
      if (const auto* advance = std::get_if<schedule::Advance>(&action)) {
        EXPECT_TRUE(is_at(advance->first));
        if (!advance->again) runs += advance->last - advance->first;
        step_to(advance->last);
      }
      const auto* const reversed = std::get_if<schedule::Adjoint>(&action);
      EXPECT_TRUE(reversed == nullptr || is_at(reversed->step));
      const bool live = reversed != nullptr || phase == ANADROME_PHASE_FORWARD;
      if (live && sweep.phase == phase && is_at(step)) return true;
    }
  }
  // As anadrome_request_stop makes a run do; what it says.
  std::string stop() {
    stops = true;
    const Failure said = failure_from(
        [&] { resumption.commit_if_due(Call::kAnchor, meeting.agree(Call::kAnchor)); });
    EXPECT_EQ(said.status, ANADROME_STOPPED);
    storage.space()->leave();
    return said.message;
  }
  store::JournalContents journal() const {
    return store::read_journal(store::FilePlace(storage.space()->path() + "/journal-000000"));
  }
  std::vector<unsigned char> adjoint = {0, 0};
  double thirds = 1.0 / 3;  ///< which a lossy codec changes
  bool stops = false;
  std::int64_t runs = 0;  ///< of steps, and not again
};

TEST(Resumption, SaysWhatAKillCostsWhereNoFieldIsAdjoint) {
  const std::string words = "no field has the role ADJOINT: nothing is committed after TURN";
  EXPECT_EQ(Process().said_in_begin().find(words), std::string::npos);
  EXPECT_TRUE(test::has_part(Process("", "", false).said_in_begin(), words));
}

// After a first process that stopped with x_12 as its newest anchor.
struct StoppedRun {
  explicit StoppedRun(const std::string& set = "") {
    Process first(directory.path(), set);
    first.begin();
    EXPECT_FALSE(first.resumption.can_be_left());
    first.play_to(16, ANADROME_PHASE_FORWARD);
    first.adjoint[0] = 42;
    newest = first.storage.space()->segment_of(3).byte_of(3, 0);
    EXPECT_EQ(first.stop(), "stopped as asked; with resume=on the run continues from here");
    EXPECT_TRUE(first.resumption.can_be_left());
  }
  store::TemporaryDirectory directory;
  const std::string segment = directory / "anadrome/segment-00000.h5";
  std::int64_t newest = 0;  ///< where in the segment x_12 is
};

TEST(StoppedRun, GoesOnInItsForwardAndInItsReverseSweep) {
  const StoppedRun first;
  {
    Process second(first.directory.path());
    second.begin();
    EXPECT_EQ(second.sweep.resumed.step, 12);
    EXPECT_TRUE(second.is_at(12));
    EXPECT_TRUE(second.play_to(5, ANADROME_PHASE_REVERSE));
    second.adjoint[1] = 7;
    second.stop();
  }
  Process third(first.directory.path());
  third.begin();
  EXPECT_EQ(third.sweep.resumed.phase, ANADROME_PHASE_REVERSE);
  EXPECT_EQ(third.sweep.resumed.step, 5);
  EXPECT_EQ(third.adjoint, (std::vector<unsigned char>{42, 7}));
  EXPECT_TRUE(third.play_to(0, ANADROME_PHASE_REVERSE));
}

TEST(StoppedRun, GoesOnFromTheCommitBeforeWhereAdjointFieldsAreDamaged) {
  const StoppedRun first;
  {
    Process second(first.directory.path());
    second.begin();
    EXPECT_TRUE(second.play_to(15, ANADROME_PHASE_REVERSE));
    second.adjoint[1] = 7;
    second.stop();
  }
  std::fstream(first.directory / "anadrome/adjoint-000000", std::ios::in | std::ios::out).put('x');
  Process third(first.directory.path());
  third.begin();
  EXPECT_EQ(third.sweep.resumed.phase, ANADROME_PHASE_FORWARD);
  EXPECT_EQ(third.adjoint, (std::vector<unsigned char>{42, 0}));
  EXPECT_TRUE(third.play_to(0, ANADROME_PHASE_REVERSE));
}

TEST(StoppedRun, SaysWhereItGoesOn) {
  const StoppedRun first;
  const auto said = [&](std::int64_t until) {
    Process next(first.directory.path());
    const std::string text = next.said_in_begin();
    EXPECT_TRUE(next.play_to(until, ANADROME_PHASE_REVERSE));
    next.stop();
    return text;
  };
  const std::string forward = said(7), reverse = said(6);
  const std::string anew =
      "; what the program adds up begins anew, but for the adjoint fields lambda\n";
  EXPECT_TRUE(forward.ends_with("going on at step 12, forward, commit 1" + anew)) << forward;
  EXPECT_TRUE(reverse.ends_with("going on at step 7, reverse, commit 2" + anew)) << reverse;
}

TEST(StoppedRun, OfSomeProblemSaysThatNobodyComparesParameters) {
  const StoppedRun first("problem=");
  EXPECT_TRUE(test::has_part(Process(first.directory.path(), "problem=").said_in_begin(),
                             "the option problem is empty, so parameters were not compared;"));
}

TEST(StoppedRun, GoesOnFromAnEarlierAnchorWhereTheNewestIsDamaged) {
  const StoppedRun first;
  std::fstream(first.segment, std::ios::in | std::ios::out).seekp(first.newest).put('x');
  Process second(first.directory.path());
  second.begin();
  EXPECT_TRUE(second.is_at(8));
  EXPECT_TRUE(second.play_to(0, ANADROME_PHASE_REVERSE));
  EXPECT_EQ(second.runs, 40 - 12) << "what a program adds up in the others is committed";
}

TEST(StoppedRun, ThatIsCompressedGivesBackRoomBehindItsNewestAnchorOnly) {
  constexpr const char* kSet = "compress=lz4 disk=10MiB";
  const StoppedRun first(kSet);
  Process second(first.directory.path(), kSet);
  second.begin();
  EXPECT_TRUE(second.is_at(12));
  EXPECT_TRUE(second.play_to(0, ANADROME_PHASE_REVERSE));
  EXPECT_EQ(second.sweep.anchors_lost, 0);
}

// x_4 and x_8 are not what they were; x_12 was written as it was, for the commit.
TEST(StoppedRun, GoesOnFromNoStateThatALossyCodecChanged) {
  constexpr const char* kSet = "compress=round checkpoint_interval=1e9";
  const StoppedRun first(kSet);
  std::fstream(first.segment, std::ios::in | std::ios::out).seekp(first.newest).put('x');
  Process second(first.directory.path(), kSet);
  second.begin();
  EXPECT_EQ(second.sweep.resumed.step, 0);
  EXPECT_TRUE(second.is_at(0));
}

TEST(StoppedRun, IsForgottenWithoutItsJournal) {
  const StoppedRun first;
  std::filesystem::resize_file(first.directory / "anadrome/journal-000000", 0);
  Process second(first.directory.path());
  second.begin();
  EXPECT_TRUE(second.sweep.warned && second.sweep.resumed.phase == ANADROME_PHASE_IDLE);
}

TEST(StoppedRun, IsRefusedWithTheFieldThatIsAnotherOne) {
  const StoppedRun first;
  Process second(first.directory.path());
  std::vector<unsigned char> more = {0};
  second.add("mu", ANADROME_ROLE_ADJOINT, more);
  const Failure failure = failure_from([&] { second.begin(); });
  EXPECT_TRUE(test::has_part(failure.message, " was missing and is 'mu adjoint byte 1'"));
}

TEST(StoppedRun, WaitsForASegmentThatIsAway) {
  const StoppedRun first;
  std::filesystem::rename(first.segment, first.directory / "away");
  {
    Process second(first.directory.path());
    const Failure failure = failure_from([&] { second.begin(); });
    EXPECT_EQ(failure.status, ANADROME_ERR_IO);
    EXPECT_TRUE(test::has_part(failure.message, "is missing, which a commit names"));
  }
  std::filesystem::rename(first.directory / "away", first.segment);
  Process third(first.directory.path());
  third.begin();
  EXPECT_TRUE(third.is_at(12));
  EXPECT_TRUE(third.play_to(0, ANADROME_PHASE_REVERSE));
}

TEST(Resumption, CommitsWhenItIsTimeOrARankIsAskedToStop) {
  Process process;
  const auto brought = [&](bool stop) {
    Agreement::Input input;
    process.resumption.bring(input, stop);
    return input.commit;
  };
  process.begin();
  EXPECT_EQ(brought(false), Commit::kDue);
  process.options.checkpoint_interval = 1e9;
  process.begin();
  EXPECT_EQ(brought(false), Commit::kNotDue);
  EXPECT_EQ(brought(true), Commit::kDue);
  process.sweep.rewound = true;
  EXPECT_EQ(brought(true), Commit::kNotDue) << "nobody could tell in which reverse sweep it is";
}

// From its newest anchor on a run that goes on would have other states.
TEST(Resumption, CommitsInALossyReverseSweepOnceTheStatesOfTheForwardSweepAreBehindIt) {
  for (const bool lossy : {false, true}) {
    Process process("", lossy ? "compress=round" : "");
    ScriptedSweep& sweep = process.script("async", 40);
    sweep.list = schedule::AnchorList::of(4, {{0, 0, 4}});
    process.sweep.phase = ANADROME_PHASE_REVERSE;
    const auto due_with = [&](std::int64_t adjoints_left) {
      sweep.facts.adjoints_left = adjoints_left;
      Agreement::Input input;
      process.resumption.bring(input, true);
      return input.commit == Commit::kDue;
    };
    EXPECT_EQ(due_with(13), !lossy);
    EXPECT_TRUE(due_with(12));
  }
}

TEST(Resumption, BeginsTheJournalOfASweepWithoutTheBlocksOfTheOneBefore) {
  Process process("", "checkpoint_interval=1e9");
  process.begin();
  EXPECT_TRUE(process.play_to(24, ANADROME_PHASE_FORWARD));
  process.keeper.disk_tier()->flush();
  process.step_to(0);
  process.begin();
  EXPECT_TRUE(process.play_to(8, ANADROME_PHASE_FORWARD));
  process.stops = true;
  EXPECT_THROW(
      process.resumption.commit_if_due(Call::kAnchor, process.meeting.agree(Call::kAnchor)), Error);
  const store::JournalContents journal = process.journal();
  EXPECT_EQ(journal.commits.size(), 1u);
  EXPECT_LE(journal.blocks.size(), 2u) << "x_0 and x_4";
}

TEST(Resumption, AgreesBetweenAnchorsAfterSomeAdjointSteps) {
  Process process;
  process.options.checkpoint_interval = 8;
  ScriptedSweep& sweep = process.script("async", 40);
  const auto agrees_after = [&](double seconds, std::int64_t most) {
    process.meeting.bring = [&](Agreement::Input& input) { input.largest[1] = seconds; };
    process.meeting.agree(Call::kAdjoint);
    Steps after;
    std::int64_t &done = process.sweep.adjoints, &agreed_at = process.sweep.agreed_at.adjoints;
    for (done = 17, agreed_at = 16; done <= most; ++done) {
      process.meeting.calls.clear();
      process.resumption.commit_between_anchors();
      if (!process.meeting.calls.empty()) after.push_back(agreed_at = done);
    }
    return after;
  };
  EXPECT_EQ(agrees_after(0, 70), (Steps{32, 64})) << "no time is known";
  EXPECT_EQ(agrees_after(0.3, 26), (Steps{20, 24})) << "an eighth of the interval";
  sweep.facts.adjoints_left = 0;
  EXPECT_EQ(agrees_after(0.3, 26), Steps{}) << "nothing is left to do";
}

}  // namespace
}  // namespace anadrome::engine
