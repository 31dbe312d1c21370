// SPDX-License-Identifier: BSD-2-Clause
#include "store/journal/journal_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "forwarding_file_system.h"
#include "has_part.h"
#include "journal_samples.h"
#include "store/moving/byte_code.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

class JournalReader : public testing::Test {
 protected:
  // The status of reading `bytes`; if they can be read, they must say the beginning of what was
  // written: at least `least` records of it.
  anadrome_status read_prefix(const std::string& bytes, std::size_t least,
                              bool* complete = nullptr) {
    try {
      found = read_bytes(bytes);
      const JournalContents& contents = found;
      const auto end = std::find(sample.ends.begin(), sample.ends.end(),
                                 static_cast<std::size_t>(contents.good_bytes));
      EXPECT_NE(end, sample.ends.end()) << "byte " << contents.good_bytes;
      const auto count = static_cast<std::size_t>(end - sample.ends.begin());
      EXPECT_GE(count, least);
      EXPECT_TRUE(says(contents, header, records, count)) << count << " records";
      if (complete != nullptr) *complete = contents.complete;
    } catch (const Error& error) {
      message = error.what();
      return error.status();
    }
    return ANADROME_OK;
  }
  std::size_t records_before(std::size_t byte) const {
    const auto behind = std::upper_bound(sample.ends.begin(), sample.ends.end(), byte);
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - sample.ends.begin() - 1, 0));
  }

  const JournalHeader header = sample_header();
  const std::vector<JournalRecord> records = sample_records();
  const SampleBytes sample = encode_journal(header, records);
  JournalContents found;  // by the last read_prefix that gave OK
  std::string message;
};

TEST_F(JournalReader, SaysWhatWasWritten) {
  const JournalContents contents = read_bytes(sample.bytes);
  EXPECT_TRUE(says(contents, header, records, records.size()));
  EXPECT_EQ(contents.good_bytes, static_cast<std::int64_t>(sample.bytes.size()));
  EXPECT_TRUE(contents.complete);
  // Block 9 was made void, block 8 written again.
  ASSERT_EQ(contents.blocks.size(), 1u);
  EXPECT_EQ(contents.blocks.at(8).states, 2);
  EXPECT_EQ(contents.commits.back(), sample_commit());
}

TEST_F(JournalReader, TakesWhatIsWholeOfATruncatedFile) {
  for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
    const std::size_t whole = records_before(length);
    bool complete = false;
    const anadrome_status status = read_prefix(sample.bytes.substr(0, length), whole, &complete);
    if (length < sample.ends[0]) {
      EXPECT_EQ(status, ANADROME_ERR_CORRUPT) << length;
    } else {
      EXPECT_EQ(status, ANADROME_OK) << message;
      EXPECT_EQ(complete, length == sample.ends[whole]);
    }
  }
}

TEST_F(JournalReader, TakesNothingFromTheFirstFlippedBitOn) {
  for (std::size_t bit = 0; bit < 8 * sample.bytes.size(); ++bit) {
    std::string bytes = sample.bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    bool complete = true;
    const anadrome_status status = read_prefix(bytes, records_before(bit / 8), &complete);
    if (bit / 8 < sample.ends[0]) {
      EXPECT_EQ(status, ANADROME_ERR_CORRUPT) << "bit " << bit;
    } else {
      EXPECT_EQ(status, ANADROME_OK) << message;
      EXPECT_FALSE(complete);
      EXPECT_LE(found.good_bytes, static_cast<std::int64_t>(bit / 8));
    }
  }
}

TEST_F(JournalReader, TakesNoRecordInAnotherPlace) {
  const auto record = [&](std::size_t r) {
    return sample.bytes.substr(sample.ends[r], sample.ends[r + 1] - sample.ends[r]);
  };
  const std::string start = sample.bytes.substr(0, sample.ends[0]);
  for (std::size_t a = 0; a < records.size(); ++a) {
    for (std::size_t b = 0; b < records.size(); ++b) {
      if (a == b) continue;
      // Record a is left out, comes twice, or is where b was.
      std::string without = start, twice = start, swapped = start;
      for (std::size_t r = 0; r < records.size(); ++r) {
        if (r != a) without += record(r);
        twice += record(r);
        if (r == b) twice += record(a);
        swapped += record(r == a ? b : r == b ? a : r);
      }
      EXPECT_EQ(read_prefix(swapped, std::min(a, b)), ANADROME_OK) << message;
      EXPECT_EQ(found.good_bytes, sample.ends[std::min(a, b)]);
      EXPECT_EQ(read_bytes(twice).good_bytes, sample.ends[a == b + 1 ? a + 1 : b + 1]);
      EXPECT_EQ(read_bytes(without).good_bytes, sample.ends[a]);
    }
  }
}

TEST_F(JournalReader, TakesNoRecordOfAnotherRun) {
  JournalHeader other = header;
  other.run_id_low ^= 1;
  const SampleBytes stale = encode_journal(other, records);
  ASSERT_EQ(stale.ends, sample.ends);
  for (const std::size_t end : sample.ends) {
    if (end == sample.bytes.size()) continue;
    EXPECT_EQ(
        read_prefix(sample.bytes.substr(0, end) + stale.bytes.substr(end), records_before(end)),
        ANADROME_OK);
    EXPECT_EQ(read_bytes(sample.bytes.substr(0, end) + stale.bytes.substr(end)).good_bytes, end);
  }
}

TEST_F(JournalReader, TakesTheHeaderOnce) {
  Checksum chain = read_bytes(sample.bytes).last;
  const std::string bytes = sample.bytes + encode_record(header, chain);
  bool complete = true;
  EXPECT_EQ(read_prefix(bytes, records.size(), &complete), ANADROME_OK);
  EXPECT_FALSE(complete);
}

TEST_F(JournalReader, NeedsAHeaderFirst) {
  Checksum chain = journal_preamble_sum();
  EXPECT_EQ(read_prefix(journal_preamble() + encode_record(records[0], chain), 0),
            ANADROME_ERR_CORRUPT);
  EXPECT_TRUE(test::has_part(message, "journal has no valid header at byte 32"));
  EXPECT_EQ(read_prefix("", 0), ANADROME_ERR_CORRUPT);
  EXPECT_TRUE(test::has_part(message, "byte 0 is missing"));
  EXPECT_EQ(read_prefix(std::string(100000, '\0'), 0), ANADROME_ERR_CORRUPT);
  EXPECT_TRUE(test::has_part(message, "byte 0 is wrong"));
}

TEST_F(JournalReader, NamesAnotherVersion) {
  std::string bytes = sample.bytes;
  bytes[8] = 3;
  ChecksumStream stream;
  stream.add(bytes.data(), 16);
  bytes.replace(16, 16, Encoder().sum(stream.finish()).bytes());
  EXPECT_EQ(read_prefix(bytes, 0), ANADROME_ERR_UNSUPPORTED);
  EXPECT_TRUE(test::has_part(message, "format 3"));
}

// Records with a right checksum that only a forger writes.
TEST_F(JournalReader, BelievesNoLengthAndNoCount) {
  for (const std::uint32_t length : {std::uint32_t{0}, std::uint32_t{40}, std::uint32_t{1} << 23,
                                     std::uint32_t{1} << 24, std::uint32_t{0xffffffff}}) {
    for (std::uint32_t type = 0; type < 8; ++type) {
      for (const char fill : {'\0', '\xff', '\x7f'}) {
        const std::string payload(40, fill);
        std::string covered = Encoder().u32(length).u32(type).bytes() + payload;
        if (length == 0) covered.resize(kRecordHeadBytes);
        const Checksum sum = record_sum(read_bytes(sample.bytes).last, covered);
        const std::string forged = sample.bytes + covered + Encoder().sum(sum).bytes();
        const JournalContents contents = read_bytes(forged);
        EXPECT_EQ(contents.good_bytes, static_cast<std::int64_t>(sample.bytes.size()));
        EXPECT_FALSE(contents.complete);
      }
    }
  }
}

TEST_F(JournalReader, ForgetsSegmentsFromOneOnThatIsMadeAgain) {
  std::vector<JournalRecord> many;
  for (const char* file : {"a", "copy", "b", "c", "b"}) {
    JournalSegment segment = sample_segment();
    segment.number = std::ssize(many);
    segment.file = file;
    many.push_back(segment);
  }
  const JournalContents contents = read_bytes(encode_journal(header, many).bytes);
  ASSERT_EQ(contents.segments.size(), 3u);
  EXPECT_EQ(contents.segments[1].file, "copy");
  EXPECT_EQ(contents.segments[2], std::get<JournalSegment>(many.back()));
}

TEST_F(JournalReader, ForgetsWhatAVolumeHadThatIsGone) {
  JournalSegment at_home = sample_segment(), fast = at_home, again = at_home;
  fast.file = "fast";
  fast.volume = again.volume = 1;
  const auto block = [](std::int64_t number, std::int64_t volume, std::int64_t place) {
    JournalBlock made = {number, number, 1, {1, 2}, {}};
    made.place = {volume, place};
    return made;
  };
  const std::vector<JournalRecord> many = {
      at_home,        fast,           block(0, 1, 0),        block(1, 0, 0),
      block(2, 1, 1), block(3, 1, 2), JournalTruncate{0, 1}, again,
      block(3, 1, 0)};
  const JournalContents contents = read_bytes(encode_journal(header, many).bytes);
  EXPECT_EQ(contents.segments, (std::vector<JournalSegment>{at_home, again}));
  const std::map<std::int64_t, JournalBlock> left = {{0, block(0, 1, JournalBlock::kGone)},
                                                     {1, block(1, 0, 0)},
                                                     {2, block(2, 1, JournalBlock::kGone)},
                                                     {3, block(3, 1, 0)}};
  EXPECT_EQ(contents.blocks, left);
}

TEST_F(JournalReader, KeepsTheNewestCommits) {
  std::vector<JournalRecord> many;
  for (std::int64_t generation = 1; generation <= 100; ++generation) {
    JournalCommit commit = sample_commit();
    commit.generation = generation;
    many.push_back(commit);
  }
  const JournalContents contents = read_bytes(encode_journal(header, many).bytes);
  EXPECT_TRUE(says(contents, header, many, many.size()));
  EXPECT_EQ(contents.commits.back().generation, 100);
  EXPECT_LE(contents.commits.size(), JournalContents::kMostCommits);
}

TEST_F(JournalReader, ReadsRecordsOfAnyLength) {
  for (const std::size_t length : {65536u - 100, 65536u, 200000u, 1000000u}) {
    JournalHeader large = header;
    large.problem.assign(length, 'x');
    const std::string bytes = encode_journal(large, records).bytes;
    EXPECT_TRUE(says(read_bytes(bytes), large, records, records.size())) << length;
    EXPECT_THROW(read_bytes(bytes.substr(0, length)), Error);
  }
}

TEST_F(JournalReader, WantsARegularFile) {
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe", link = directory / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(directory / "file") << sample.bytes;
  ASSERT_EQ(::symlink((directory / "file").c_str(), link.c_str()), 0);
  EXPECT_NO_THROW(read_journal(directory / "file"));
  for (const std::string& path : {pipe, link, directory.path(), directory / "none"}) {
    const Failure failure = failure_from([&] { read_journal(path); });
    EXPECT_EQ(failure.status, ANADROME_ERR_IO) << path;
    EXPECT_TRUE(test::has_part(failure.message, path));
  }
  EXPECT_THROW(read_journal(std::string("/dev/zero")), Error);
}

// Opening or reading fails in the given way; from the third time on the name is gone, too.
class RemovedElsewhere final : public test::ForwardingFileSystem {
 public:
  RemovedElsewhere(int opened, int read) : opened_(opened), read_(read) {}
  int open(const std::string& path, int flags, mode_t mode) override {
    const int descriptor = opened_ != 0 ? -opened_ : ForwardingFileSystem::open(path, flags, mode);
    if (++count_ >= 3) std::filesystem::remove(path);
    return descriptor;
  }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    return read_ != 0 ? -read_ : ForwardingFileSystem::read(descriptor, bytes, count, offset);
  }
  int count() const { return count_; }

 private:
  int opened_, read_;
  int count_ = 0;
};

TEST_F(JournalReader, LooksAgainForAFileThatACacheStillShows) {
  const TemporaryDirectory directory;
  const std::string path = directory / "journal-0";
  EXPECT_FALSE(find_journal(path));
  for (const auto& [opened, read] : {std::pair{ENOENT, 0}, {ESTALE, 0}, {0, ENOENT}}) {
    std::ofstream(path) << sample.bytes;
    ASSERT_TRUE(find_journal(path));
    const RemovedElsewhere files(opened, read);
    EXPECT_FALSE(find_journal(path));
    EXPECT_GE(files.count(), 3);
  }
}

TEST_F(JournalReader, SaysAtOnceWhyAFileThatIsThereCannotBeRead) {
  const TemporaryDirectory directory;
  const std::string path = directory / "journal-0";
  std::ofstream(path) << sample.bytes;
  for (const auto& [opened, read] : {std::pair{EIO, 0}, {EACCES, 0}, {0, EIO}}) {
    const RemovedElsewhere files(opened, read);
    EXPECT_THROW(find_journal(path), Error);
    EXPECT_LE(files.count(), 2);
  }
}

RC_GTEST_PROP(JournalReaderProperty, ReadsWhatWasWrittenWhateverFollows, ()) {
  const JournalHeader header = RecordDraw::header();
  std::vector<JournalRecord> records;
  for (int many = *rc::gen::inRange(0, 20); many > 0; --many) {
    records.push_back(RecordDraw::record());
  }
  const SampleBytes written = encode_journal(header, records);
  const std::string rest = *rc::gen::arbitrary<std::string>();
  const JournalContents contents = read_bytes(written.bytes + rest);
  RC_ASSERT(says(contents, header, records, records.size()));
  RC_ASSERT(contents.good_bytes == static_cast<std::int64_t>(written.bytes.size()));
  RC_ASSERT(contents.complete == rest.empty());
}

}  // namespace
}  // namespace anadrome::store
