// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/transfer_notes.h"

#include <gtest/gtest.h>

#include "copied_live.h"
#include "held_transport.h"

namespace anadrome::store {
namespace {

struct Observer final : TierObserver {
  void waited(double start, double end) override { seconds += end - start; }
  void moved(const Transfer&, std::int64_t first, std::int64_t last) override {
    steps += last - first + 1;
  }
  double seconds = 0;
  std::int64_t steps = 0;
};

struct NotesBench {
  Values values{1024};  // two pages
  BlockLayout layout{{1, true}, std::vector<Field>{CopiedLive::field(values.all)}};
  TransferTimes times;
  Observer observer;
  TransferNotes notes{layout, times, observer};

  static Transfer transfer(bool write, double seconds) {
    Transfer made;
    made.write = write;
    made.seconds = seconds;
    made.identity.states = 1;
    return made;
  }
};

TEST(TransferNotes, MeasuresWhatTransfersTake) {
  NotesBench s;
  s.notes.finished(NotesBench::transfer(true, 2), 10, 14);
  s.notes.finished(NotesBench::transfer(false, 3), 0, 0);
  EXPECT_DOUBLE_EQ(s.notes.cost().write, 2);
  EXPECT_DOUBLE_EQ(s.notes.cost().read, 3);
  EXPECT_EQ(s.observer.steps, 6);
}

TEST(TransferNotes, CountsTheFirstWriteForWhatItHasTaken) {
  NotesBench s;
  HeldTransport transport(s.layout);
  Transfer read = NotesBench::transfer(false, 0), write = NotesBench::transfer(true, 0);
  s.notes.start(transport, read);
  EXPECT_EQ(s.notes.cost().write, 0);
  s.notes.start(transport, write);
  EXPECT_GT(s.notes.cost().write, 0);
  s.notes.finished(NotesBench::transfer(true, 2), 0, 0);
  EXPECT_DOUBLE_EQ(s.notes.cost().write, 2);
  EXPECT_GT(s.times.write_start.seconds(), 0);
  EXPECT_GT(s.times.read_start.seconds(), 0);
}

TEST(TransferNotes, MeasuresNoTransferThatFailed) {
  NotesBench s;
  Transfer failed = NotesBench::transfer(true, 2);
  failed.failure = {ANADROME_ERR_IO, "no"};
  s.notes.finished(failed, 0, 0);
  EXPECT_EQ(s.times.write.seconds(), 0);
  EXPECT_EQ(s.notes.writes_failed(), 1);
  EXPECT_EQ(s.notes.failed_write().message, "no");
}

TEST(TransferNotes, AddsUpWhatTheCallerWaited) {
  NotesBench s;
  s.notes.waited(NotesBench::transfer(true, 0), 0.5);
  s.notes.waited(NotesBench::transfer(true, 0), 0.25);
  s.notes.waited(NotesBench::transfer(false, 0), 2);
  s.notes.waited(NotesBench::transfer(false, 0), 0);
  EXPECT_DOUBLE_EQ(s.notes.seconds_stalled_write(), 0.75);
  EXPECT_DOUBLE_EQ(s.notes.seconds_stalled_read(), 2);
  EXPECT_NEAR(s.observer.seconds, 2.75, 1e-6);
}

TEST(TransferNotes, TakesThreeFailuresInARowForADiskThatRefuses) {
  NotesBench s;
  Transfer failed = NotesBench::transfer(true, 2);
  failed.failure = {ANADROME_ERR_IO, "no"};
  for (const bool fails : {true, true, false, true, true}) {
    s.notes.finished(fails ? failed : NotesBench::transfer(true, 2), 0, 0);
    EXPECT_FALSE(s.notes.disk_refuses());
  }
  s.notes.finished(failed, 0, 0);
  EXPECT_TRUE(s.notes.disk_refuses());
}

TEST(TransferNotes, TakesAFullDiskForOneThatRefuses) {
  NotesBench s;
  Transfer failed = NotesBench::transfer(true, 2);
  failed.failure = {ANADROME_ERR_NO_SPACE, "full"};
  s.notes.finished(failed, 0, 0);
  EXPECT_TRUE(s.notes.disk_refuses());
}

}  // namespace
}  // namespace anadrome::store
