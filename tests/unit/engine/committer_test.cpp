// SPDX-License-Identifier: BSD-2-Clause
// Commits whose task the test carries out when it likes, on real files.
#include "engine/resume/committer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "faulty_file_system.h"
#include "has_part.h"
#include "packed_fields.h"
#include "segment_file.h"

namespace anadrome::engine {
namespace {

using store::FinishedWrite;
using store::JournalCommit;
using store::JournalContents;
using store::JournalSegment;
using store::Transfer;
using test::Fault;
using test::Operation;
using Phase = JournalCommit::Phase;
using JournalPlace = store::JournalBlock::Place;
using Values = std::vector<double>;

// The queue of an I/O thread that has one task at most, and nothing to do with blocks.
struct HeldTask final : store::Transport {
  bool overlaps() const override { return true; }
  void start(Transfer& transfer) override {
    transfer.done = false;
    transfer.failure = {};
    task = &transfer;
  }
  double wait(const Transfer& transfer) override {
    if (task == nullptr && !transfer.done) ADD_FAILURE() << "waits for a task that never began";
    carry_out();
    return 0;
  }
  bool done(const Transfer& transfer) override { return transfer.done; }
  bool cancel(const Transfer&) override { return false; }
  store::TransferTotals totals() const override { return {}; }
  std::vector<FinishedWrite> take_finished_writes() override { return std::exchange(writes, {}); }

  void carry_out() {
    if (task == nullptr) return;
    Transfer& mine = *std::exchange(task, nullptr);
    mine.failure = failure_from(mine.task);
    mine.done = true;
  }
  std::vector<FinishedWrite> writes;  ///< since the last task
  Transfer* task = nullptr;
};

const Failure kNoDisk = {ANADROME_ERR_IO, "no disk"};

// A rank with two adjoint numbers, and states of one number at every tenth step.
struct Commits : testing::Test {
  Commits() {
    header.fields = "lambda adjoint float64 2\n";
    begin();
  }
  static std::vector<store::Field> numbers(const char* name, Values& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return {{name, ANADROME_ROLE_STATE, ANADROME_FLOAT64, count, false, values.data(), {}}};
  }
  void begin() {
    committer.reset();
    committer = std::make_unique<Committer>(store::Directory::open(directory.path()), header,
                                            numbers("lambda", lambda), 0, transport);
  }
  // As another process: from its newest commit, with its numbers unless these are others.
  void go_on(std::int64_t good_blocks, std::int64_t newest_generation, bool lost_fast = false) {
    committer.reset();
    Recovery recovery;
    recovery.lost_fast = lost_fast;
    recovery.journal = journal();
    recovery.commit = recovery.journal.commits.back();
    recovery.newest_generation = newest_generation;
    recovery.adjoint.resize(sizeof(double) * lambda.size());
    adjoint_file().read_all(recovery.adjoint.data(), recovery.adjoint.size(),
                            recovery.commit.generation % 2 * store::kPage);
    committer = std::make_unique<Committer>(store::Directory::open(directory.path()), recovery,
                                            good_blocks, numbers("lambda", lambda), 0, transport);
  }

  void wrote(std::int64_t block, const Failure& failure = {}, bool is_copy = false) {
    FinishedWrite write;
    write.segment = &segment.segment;
    write.is_copy = is_copy;
    write.identity.block = block;
    write.place = is_copy ? 0 : block;
    write.identity.first_step = 10 * block;
    write.identity.states = 1;
    write.checksum = {static_cast<std::uint64_t>(block) + 1, is_copy ? 8u : 7u};
    write.failure = failure;
    transport.writes.push_back(write);
  }
  void start(std::int64_t last_common = 0, Phase phase = Phase::kForward) {
    JournalCommit commit;
    commit.phase = phase;
    commit.position = 10;
    commit.anchors = 2;
    commit.stretches = {{0, 0, 10}};
    commit.steps = 100;
    committer->pack();
    committer->start(commit, last_common, segments);
  }
  // Returns the generation that is whole then.
  std::int64_t commit(std::int64_t last_common = 0, Phase phase = Phase::kForward) {
    start(last_common, phase);
    committer->wait();
    return committer->committed();
  }
  void add_segment() {
    JournalSegment made;
    made.number = static_cast<std::int64_t>(segments.size());
    made.first_block = 8 * made.number;
    made.blocks = 8;
    made.file = "segment-0000" + std::to_string(made.number) + ".h5";
    made.offsets.fields = {4096};
    made.strides_before = {0};
    segments.push_back(made);
  }

  JournalContents journal() const { return store::read_journal(journal_path); }
  store::File adjoint_file() const {
    return store::File::open(directory / adjoint_file_name(0), O_RDONLY);
  }
  Values adjoint_of(std::int64_t generation) const {
    Values values(2);
    adjoint_file().read_all(values.data(), 2 * sizeof(double), generation % 2 * store::kPage);
    return values;
  }
  static Checksum sum_of(std::int64_t generation, const Values& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(double));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return adjoint_checksum(generation, bytes);
  }

  store::TemporaryDirectory directory;
  const std::string journal_path = directory / store::journal_file_name(0);
  store::JournalHeader header;
  Values lambda = {3, 4};
  Values state = {0};
  const store::BlockLayout layout{{1, true}, numbers("u", state)};
  store::SegmentFile segment{layout, numbers("u", state), 8};
  std::vector<JournalSegment> segments;
  HeldTask transport;
  std::unique_ptr<Committer> committer;
};

TEST_F(Commits, HaveAllThatAKilledRunGoesOnFrom) {
  add_segment();
  wrote(0);
  wrote(1);
  transport.writes.back().place = 0;  // not that of its number
  EXPECT_EQ(commit(), 1);
  EXPECT_FALSE(committer->failure());
  const JournalContents contents = journal();
  EXPECT_TRUE(contents.complete);
  EXPECT_EQ(contents.header, header);
  EXPECT_EQ(contents.segments, segments);
  ASSERT_EQ(contents.blocks.size(), 2u);
  EXPECT_FALSE(contents.blocks.at(0).place);
  EXPECT_EQ(contents.blocks.at(1),
            (store::JournalBlock{1, 10, 1, {2, 7}, {}, JournalPlace{store::kHome, 0}}));
  ASSERT_EQ(contents.commits.size(), 1u);
  EXPECT_EQ(contents.commits[0].generation, 1);
  EXPECT_EQ(contents.commits[0].position, 10);
  EXPECT_EQ(contents.commits[0].adjoint, sum_of(1, {3, 4}));
  EXPECT_EQ(adjoint_of(1), (Values{3, 4}));
}

TEST_F(Commits, NameTheVolumeOfEachBlockAndNeedX0AtHome) {
  HeldTask fast;
  committer.reset();
  committer = std::make_unique<Committer>(store::Directory::open(directory.path()), header,
                                          numbers("lambda", lambda), 0, transport, &fast);
  const auto wrote_at = [&](HeldTask& to, std::int64_t block, std::int64_t place, bool is_copy) {
    wrote(block, {}, is_copy);
    FinishedWrite write = transport.writes.back();
    transport.writes.pop_back();
    write.place = place;
    to.writes.push_back(write);
  };
  wrote_at(fast, 0, 0, false);
  wrote_at(fast, 1, 1, false);
  EXPECT_EQ(commit(committer->committed()), 0) << "x_0 is on the fast volume alone";
  wrote_at(transport, 0, 0, true);
  wrote_at(transport, 2, 0, false);
  wrote_at(fast, 3, 2, false);
  fast.writes.back().failure = kNoDisk;
  EXPECT_GT(commit(committer->committed()), 0);
  const JournalContents contents = journal();
  EXPECT_EQ(contents.blocks.count(3), 0u) << "it is not there";
  EXPECT_EQ(contents.blocks.at(0).place, (JournalPlace{store::kFast, 0}));
  EXPECT_EQ(contents.blocks.at(1).place, (JournalPlace{store::kFast, 1}));
  EXPECT_EQ(contents.blocks.at(2).place, (JournalPlace{store::kHome, 0}));
  go_on(-1, 2, true);
  EXPECT_EQ(journal().blocks.at(1).place->place, store::JournalBlock::kGone);
}

TEST_F(Commits, AreWholeWhenTheirTaskIsDone) {
  EXPECT_FALSE(committer->busy());
  wrote(0);
  start();
  EXPECT_TRUE(committer->busy());
  EXPECT_EQ(committer->committed(), 0);
  transport.carry_out();
  EXPECT_FALSE(committer->busy());
  EXPECT_EQ(committer->committed(), 1);
  EXPECT_TRUE(committer->made(1));
  EXPECT_FALSE(committer->made(0)) << "another rank could not make it";
}

TEST_F(Commits, LieInTwoPlacesInTurnAndNeverOverTheNewestThatAllRanksHave) {
  wrote(0);
  EXPECT_EQ(commit(0), 1);
  lambda = {5, 6};
  EXPECT_EQ(commit(1), 2);
  lambda = {7, 8};
  EXPECT_EQ(commit(1), 4) << "some rank has no second one, and 3 would lie over the first";
  EXPECT_EQ(adjoint_of(1), (Values{3, 4}));
  EXPECT_EQ(adjoint_of(4), (Values{7, 8}));
  EXPECT_EQ(commit(4), 5);
  EXPECT_EQ(journal().commits.size(), 4u);
}

TEST_F(Commits, SayWhatIsNewSinceTheLastOne) {
  add_segment();
  wrote(0);
  commit();
  const std::uintmax_t bytes = std::filesystem::file_size(journal_path);
  commit(1);
  Checksum chain;
  EXPECT_EQ(std::filesystem::file_size(journal_path) - bytes,
            store::encode_record(journal().commits.back(), chain).size())
      << "nothing";
  add_segment();
  wrote(1);
  commit(2);
  EXPECT_EQ(journal().segments, segments) << "each of them once";
  EXPECT_EQ(journal().blocks.size(), 2u);
}

TEST_F(Commits, AreNotBegunWhereACallbackFails) {
  store::Packed packed;
  packed.returns = 5;
  committer = nullptr;
  committer =
      std::make_unique<Committer>(store::Directory::open(directory.path()), header,
                                  std::vector<store::Field>{packed.field("p")}, 0, transport);
  const Failure failure = failure_from([&] { start(); });
  EXPECT_EQ(failure.status, ANADROME_ERR_PEER);
  EXPECT_FALSE(committer->busy());
  EXPECT_EQ(transport.task, nullptr);
}

// ---- that cannot be ----

TEST_F(Commits, CannotBeWithoutStepZero) {
  wrote(1);
  EXPECT_EQ(commit(), 0);
  EXPECT_EQ(committer->failure().message, "the state of step 0 is not on disk");
  EXPECT_EQ(std::filesystem::file_size(journal_path), 0u);
  wrote(2, kNoDisk);
  EXPECT_EQ(commit(), 0);
  EXPECT_EQ(committer->failure().message, "no disk") << "of the newest commit";
  wrote(0);
  EXPECT_EQ(commit(), 3);
  EXPECT_FALSE(committer->failure());
  EXPECT_EQ(journal().blocks.size(), 2u) << "what was written before is not forgotten";
}

TEST_F(Commits, CanBeWithoutSomeStatesThatCouldNotBeWritten) {
  struct Write {
    std::int64_t block;
    bool fails, is_copy;
  };
  const struct {
    const char* what;
    Phase phase;
    std::vector<Write> writes;
    std::set<std::int64_t> blocks;  ///< that are committed; none: nothing is
  } rows[] = {
      {"of x_0 the copy", Phase::kReverse, {{0, true, false}, {0, false, true}}, {0}},
      {"forward, the newest is lost", Phase::kForward, {{0, false, false}, {1, true, false}}, {}},
      {"forward, an earlier one is lost",
       Phase::kForward,
       {{0, false, false}, {1, true, false}, {2, false, false}, {0, true, true}},
       {0, 2}},
      {"in reverse", Phase::kReverse, {{0, false, false}, {1, true, false}}, {0}}};
  for (const auto& [what, phase, writes, blocks] : rows) {
    SCOPED_TRACE(what);
    begin();
    for (const Write& write : writes)
      wrote(write.block, write.fails ? kNoDisk : Failure{}, write.is_copy);
    EXPECT_EQ(commit(0, phase), blocks.empty() ? 0 : 1);
    EXPECT_EQ(committer->failure().message, blocks.empty() ? "no disk" : "");
    if (blocks.empty()) continue;
    std::set<std::int64_t> found;
    for (const auto& [number, block] : journal().blocks) found.insert(number);
    EXPECT_EQ(found, blocks);
    EXPECT_EQ(journal().blocks.at(0).sum, (Checksum{1, writes[0].fails ? 8u : 7u}));
  }
}

TEST_F(Commits, AreNotWholeBeforeTheDiskSaysSo) {
  // The directory, the adjoint, the journal, after the segment; and where bytes are written.
  const std::pair<Operation, std::int64_t> places[] = {{Operation::kSync, 2},
                                                       {Operation::kSync, 3},
                                                       {Operation::kSync, 4},
                                                       {Operation::kWrite, 1},
                                                       {Operation::kWrite, 2}};
  test::FaultyFileSystem system;
  for (const auto& [operation, at] : places) {
    begin();
    segments.clear();
    add_segment();
    wrote(0);
    system.arm(operation, at, Fault::kIoError);
    EXPECT_EQ(commit(), 0) << test::to_string(operation) << " " << at;
    EXPECT_TRUE(system.hit());
    EXPECT_EQ(committer->failure().status, ANADROME_ERR_IO);
    EXPECT_EQ(commit(), 2) << "the next one may be";
    const JournalContents contents = journal();
    EXPECT_EQ(contents.blocks.size(), 1u);
    EXPECT_EQ(contents.segments, segments);
    EXPECT_EQ(contents.commits.back().adjoint, sum_of(2, lambda));
  }
}

TEST_F(Commits, CannotHaveStatesWhoseFileCouldNotBeSynced) {
  test::FaultyFileSystem system;
  system.arm(Operation::kSync, 1, Fault::kIoError);
  wrote(0);
  EXPECT_EQ(commit(), 0);
  EXPECT_EQ(committer->failure().status, ANADROME_ERR_IO);
  EXPECT_EQ(commit(0, Phase::kReverse), 0) << "though every sync is well now";
  EXPECT_EQ(committer->failure().message, "the state of step 0 is not on disk");
  wrote(0, {}, true);
  EXPECT_EQ(commit(0, Phase::kReverse), 3) << "its copy could be";
  wrote(1);
  wrote(2);
  system.arm(Operation::kSync, 1, Fault::kIoError);
  EXPECT_EQ(commit(0, Phase::kReverse), 4);
  EXPECT_EQ(journal().blocks.size(), 1u) << "a second sync says nothing of what the first lost";
}

TEST_F(Commits, SyncNoDirectoryThatHasNoNewFiles) {
  test::FaultyFileSystem system;
  const auto syncs = [&] {
    system.disarm();
    commit();
    return system.count(Operation::kSync);
  };
  wrote(0);
  EXPECT_EQ(syncs(), 4);
  EXPECT_EQ(syncs(), 2) << "the adjoint and the journal";
  wrote(1);
  wrote(2);
  EXPECT_EQ(syncs(), 3) << "the segment once";
  add_segment();
  EXPECT_EQ(syncs(), 3) << "the directory of a new file";
}

// ---- of another process ----

TEST_F(Commits, KeepTheirBlocksWhereNoneWillBeWritten) {
  wrote(0);
  wrote(1);
  commit();
  go_on(-1, 1);
  EXPECT_EQ(journal().blocks.size(), 2u);
}

TEST_F(Commits, AreNotGoneOnFromWhereTheJournalHasChangedSince) {
  wrote(0);
  commit();
  committer.reset();
  Recovery recovery;
  recovery.journal = journal();
  recovery.commit = recovery.journal.commits.back();
  std::filesystem::resize_file(journal_path, 40);
  const Failure failure = failure_from([&] {
    Committer(store::Directory::open(directory.path()), recovery, -1, numbers("lambda", lambda), 0,
              transport);
  });
  EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
}

TEST_F(Commits, WriteOverNoFileOfSomebodyElse) {
  const std::string adjoint_path = directory / adjoint_file_name(0);
  for (const std::string& theirs : {journal_path, adjoint_path}) {
    committer.reset();
    for (const std::string& path : {journal_path, adjoint_path}) std::filesystem::remove(path);
    std::ofstream(theirs) << "mine";
    const Failure failure = failure_from([&] { begin(); });
    EXPECT_EQ(failure.status, ANADROME_ERR_IO);
    EXPECT_TRUE(test::has_part(failure.message, theirs));
    EXPECT_EQ(std::filesystem::file_size(theirs), 4u);
  }
}

}  // namespace
}  // namespace anadrome::engine
