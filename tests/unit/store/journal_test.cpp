// SPDX-License-Identifier: BSD-2-Clause
#include "store/journal/journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "faulty_file_system.h"
#include "file_systems.h"
#include "journal_samples.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

using test::Fault;
using test::FaultyFileSystem;
using test::Operation;

anadrome_status status_from(const std::function<void()>& body) { return failure_from(body).status; }

class JournalTest : public testing::Test {
 protected:
  bool has_written(std::size_t count) const {
    const JournalContents contents = read_journal(path);
    return contents.complete && says(contents, header, records, count);
  }
  const TemporaryDirectory directory;
  const std::string path = directory / "journal";
  const JournalHeader header = sample_header();
  const std::vector<JournalRecord> records = sample_records();
};

TEST_F(JournalTest, IsWrittenByItsCommitsOnlyAndEachInOnePiece) {
  test::RecordingFileSystem files;
  Journal journal = Journal::create(path, header);
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(status_from([&] {
              journal.add(JournalBlock{-1, 0, 1, {}, {}});
            }),
            ANADROME_ERR_ARGUMENT)
      << "no reader accepts it";
  journal.add(records[0]);
  journal.commit();
  EXPECT_TRUE(has_written(1));
  journal.add(records[1]);
  EXPECT_TRUE(has_written(1));
  journal.add(records[2]);
  const auto writes = [&] {
    const auto calls = files.calls();
    return std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call.write; });
  };
  EXPECT_EQ(writes(), 1);
  journal.commit();
  journal.commit();
  EXPECT_EQ(writes(), 2);
  EXPECT_TRUE(has_written(3));
}

TEST_F(JournalTest, IsANewFileOfItsOwnNamedAfterItsRank) {
  ::umask(0);
  const Journal journal = Journal::create(path, header);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status_from([&] { Journal::create(path, header); }), ANADROME_ERR_IO);
  std::filesystem::create_symlink(directory / "elsewhere", directory / "link");
  EXPECT_EQ(status_from([&] { Journal::create(directory / "link", header); }), ANADROME_ERR_IO);
  EXPECT_FALSE(std::filesystem::exists(directory / "elsewhere"));
  EXPECT_EQ(journal_file_name(0), "journal-000000");
  EXPECT_EQ(journal_file_name(12345), "journal-012345");
  EXPECT_EQ(journal_file_name(12345678), "journal-12345678");
}

TEST_F(JournalTest, GoesOnBehindATornEnd) {
  const SampleBytes sample = encode_journal(header, records);
  for (const std::size_t cut : {sample.ends[3] + 1, sample.ends[4] - 1, sample.ends[3]}) {
    std::ofstream(path, std::ios::binary) << sample.bytes.substr(0, cut);
    const JournalContents found = read_journal(path);
    {
      Journal journal = Journal::reopen(path, found.good_bytes, found.last);
      EXPECT_EQ(std::filesystem::file_size(path), sample.ends[3]);
      for (std::size_t r = 3; r < records.size(); ++r) journal.add(records[r]);
      journal.commit();
    }
    EXPECT_TRUE(has_written(records.size()));
  }
}

TEST_F(JournalTest, IsNotReopenedWhereNoRecordEnds) {
  const SampleBytes sample = encode_journal(header, records);
  std::ofstream(path, std::ios::binary) << sample.bytes;
  const Checksum last = read_journal(path).last;
  const auto length = static_cast<std::int64_t>(sample.bytes.size());
  for (const std::int64_t good : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{40}, length - 1,
                                  length + 1, length + 4096}) {
    EXPECT_EQ(status_from([&] { Journal::reopen(path, good, last); }), ANADROME_ERR_CORRUPT)
        << good;
  }
  EXPECT_EQ(status_from([&] { Journal::reopen(path, length, {1, 2}); }), ANADROME_ERR_CORRUPT);
  EXPECT_TRUE(has_written(records.size()));
}

// Writes all records with commits in between, each tried until it goes well. What a synced commit
// has promised must be in the file from then on.
class JournalFaults : public JournalTest {
 protected:
  // Returns whether the fault was met.
  bool write_all(FaultyFileSystem& files) {
    std::size_t promised = 0;
    met_ = false;
    Journal journal;
    insist(files, [&] {
      std::filesystem::remove(path);  // what a failed creation may have left
      journal = Journal::create(path, header);
    });
    for (std::size_t r = 0; r < records.size(); ++r) {
      journal.add(records[r]);
      if (r % 3 == 0 && r + 1 < records.size()) continue;  // with the next one
      insist(files, [&] {
        const Failure failure = failure_from([&] { journal.commit(); });
        check(promised, r + 1);
        if (failure) throw Error(failure.status, failure.message);
        promised = r + 1;
      });
      if (r == 4) {  // the process dies, another goes on
        JournalContents found;
        insist(files, [&] { found = read_journal(path); });
        insist(files, [&] { journal = Journal::reopen(path, found.good_bytes, found.last); });
      }
    }
    disarm(files);
    EXPECT_TRUE(has_written(records.size()));
    return met_;
  }

  void disarm(FaultyFileSystem& files) {
    met_ = met_ || files.hit();
    files.disarm();
  }

  // A lasting fault goes away in the end: room was made.
  void insist(FaultyFileSystem& files, const std::function<void()>& body) {
    for (int tries = 0; tries < 3; ++tries) {
      const Failure failure = failure_from(body);
      if (!failure) return;
      EXPECT_TRUE(failure.status == ANADROME_ERR_IO || failure.status == ANADROME_ERR_NO_SPACE)
          << failure.message;
      if (tries == 1) disarm(files);
    }
    ADD_FAILURE() << "it fails without a fault";
  }

  // Read past the faults.
  void check(std::size_t least, std::size_t most) const {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (least == 0 && failure_from([&] { read_bytes(bytes); })) return;  // no header yet
    const JournalContents contents = read_bytes(bytes);
    for (std::size_t count = least; count <= most; ++count) {
      if (says(contents, header, records, count)) return;
    }
    ADD_FAILURE() << "not what was written";
  }

 private:
  bool met_ = false;
};

TEST_F(JournalFaults, LoseNothingThatWasSynced) {
  FaultyFileSystem files;
  std::int64_t hits = 0;
  for (const Operation operation : {Operation::kOpen, Operation::kWrite, Operation::kRead,
                                    Operation::kTruncate, Operation::kSync}) {
    for (const Fault fault :
         {Fault::kIoError, Fault::kNoSpace, Fault::kInterrupted, Fault::kShort}) {
      for (const bool lasting : {false, true}) {
        for (std::int64_t at = 1;; ++at) {
          if (lasting && fault == Fault::kInterrupted) break;  // a loop without end
          files.arm(operation, at, fault, lasting);
          if (!write_all(files)) break;
          ++hits;
          ASSERT_LT(at, 1000);
        }
      }
    }
  }
  EXPECT_GT(hits, 100);
}

TEST_F(JournalFaults, LeaveNoGarbageBehindATornWrite) {
  const std::size_t length = encode_journal(header, records).bytes.size();
  for (std::size_t torn = 1; torn < length; torn += 7) {
    std::filesystem::remove(path);
    test::RecordingFileSystem files(
        [&](const test::RecordingFileSystem::Call& call, ssize_t& result) {
          result = -ENOSPC;
          return call.write && call.offset == static_cast<off_t>(torn);
        });
    files.cut_short_at(torn);
    Journal journal = Journal::create(path, header);
    for (std::size_t r = 0; r + 1 < records.size(); ++r) journal.add(records[r]);
    if (status_from([&] { journal.commit(); }) == ANADROME_OK) continue;
    EXPECT_EQ(std::filesystem::file_size(path), torn);
    journal.add(records.back());
    files.cut_short_at(0);
    journal.commit();
    EXPECT_TRUE(has_written(records.size()));
  }
}

// After a failed sync the pages may be gone although the writes went well.
TEST_F(JournalFaults, WriteAgainWhatAFailedSyncMayHaveLost) {
  FaultyFileSystem files;
  Journal journal = Journal::create(path, header);
  journal.add(records[0]);
  journal.commit();
  const auto safe = std::filesystem::file_size(path);
  journal.add(records[1]);
  journal.add(records[2]);
  files.arm(Operation::kSync, 1, Fault::kIoError);
  EXPECT_EQ(status_from([&] { journal.commit(); }), ANADROME_ERR_IO);
  std::filesystem::resize_file(path, safe);
  EXPECT_TRUE(has_written(1));
  journal.add(records[3]);
  journal.commit();
  EXPECT_TRUE(has_written(4));
}

}  // namespace
}  // namespace anadrome::store
