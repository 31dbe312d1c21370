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
#include <functional>
#include <limits>
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
  anadrome_status read_prefix(const std::string& bytes, std::size_t least) {
    found = {};
    found.complete = false;
    const Failure failure = failure_from([&] { found = read_bytes(bytes); });
    message = failure.message;
    if (failure) return failure.status;
    const auto end = std::find(sample.ends.begin(), sample.ends.end(),
                               static_cast<std::size_t>(found.good_bytes));
    EXPECT_NE(end, sample.ends.end()) << "byte " << found.good_bytes;
    const auto count = static_cast<std::size_t>(end - sample.ends.begin());
    EXPECT_GE(count, least);
    EXPECT_TRUE(says(found, header, records, count)) << count << " records";
    return ANADROME_OK;
  }
  std::size_t records_before(std::size_t byte) const {
    const auto behind = std::upper_bound(sample.ends.begin(), sample.ends.end(), byte);
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - sample.ends.begin() - 1, 0));
  }

  const JournalHeader header = sample_header();
  const std::vector<JournalRecord> records = sample_records();
  const SampleBytes sample = encode_journal(header, records);
  JournalContents found;  // by the last read_prefix, and why it could not read
  std::string message;
};

TEST_F(JournalReader, SaysWhatWasWritten) {
  EXPECT_EQ(read_prefix(sample.bytes, records.size()), ANADROME_OK);
  EXPECT_TRUE(found.complete);
  // Block 9 was made void, block 8 written again.
  ASSERT_EQ(found.blocks.size(), 1u);
  EXPECT_EQ(found.blocks.at(8).states, 2);
  EXPECT_EQ(found.commits.back(), sample_commit());
}

TEST_F(JournalReader, TakesWhatIsWholeOfATruncatedFileAndWhatIsBeforeAFlippedBit) {
  for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
    const std::size_t whole = records_before(length);
    const bool none = length < sample.ends[0];
    EXPECT_EQ(read_prefix(sample.bytes.substr(0, length), whole),
              none ? ANADROME_ERR_CORRUPT : ANADROME_OK)
        << length << message;
    EXPECT_TRUE(none || found.complete == (length == sample.ends[whole])) << length;
  }
  for (std::size_t bit = 0; bit < 8 * sample.bytes.size(); ++bit) {
    std::string bytes = sample.bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(read_prefix(bytes, records_before(bit / 8)),
              bit / 8 < sample.ends[0] ? ANADROME_ERR_CORRUPT : ANADROME_OK)
        << "bit " << bit << message;
    EXPECT_FALSE(found.complete);
    EXPECT_LE(found.good_bytes, static_cast<std::int64_t>(bit / 8));
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

TEST_F(JournalReader, TakesNoRecordOfAnotherRunAndTheHeaderOnce) {
  JournalHeader other = header;
  other.run_id_low ^= 1;
  const SampleBytes stale = encode_journal(other, records);
  ASSERT_EQ(stale.ends, sample.ends);
  for (const std::size_t end : sample.ends) {
    const std::string bytes = sample.bytes.substr(0, end) + stale.bytes.substr(end);
    EXPECT_EQ(read_prefix(bytes, records_before(end)), ANADROME_OK);
    EXPECT_EQ(found.good_bytes, end);
  }
  Checksum chain = found.last;
  EXPECT_EQ(read_prefix(sample.bytes + encode_record(header, chain), records.size()), ANADROME_OK);
  EXPECT_FALSE(found.complete);
}

TEST_F(JournalReader, NeedsAHeaderOfItsVersionFirst) {
  Checksum chain = journal_preamble_sum();
  std::string version_3 = sample.bytes;
  version_3[8] = 3;
  ChecksumStream stream;
  stream.add(version_3.data(), 16);
  version_3.replace(16, 16, Encoder().sum(stream.finish()).bytes());
  for (const auto& [bytes, said] : {std::pair(journal_preamble() + encode_record(records[0], chain),
                                              "journal has no valid header at byte 32"),
                                    std::pair(std::string(), "byte 0 is missing"),
                                    std::pair(std::string(100000, '\0'), "byte 0 is wrong"),
                                    std::pair(version_3, "format 3")}) {
    EXPECT_EQ(read_prefix(bytes, 0),
              bytes == version_3 ? ANADROME_ERR_UNSUPPORTED : ANADROME_ERR_CORRUPT);
    EXPECT_TRUE(test::has_part(message, said));
  }
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

TEST_F(JournalReader, ForgetsSegmentsFromOneOnThatIsMadeAgainAndAllButTheNewestCommits) {
  std::vector<JournalRecord> many;
  for (const char* file : {"a", "copy", "b", "c", "b"}) {
    JournalSegment segment = sample_segment();
    segment.number = std::ssize(many);
    segment.file = file;
    many.push_back(segment);
  }
  const JournalRecord again = many.back();
  for (std::int64_t generation = 1; generation <= 100; ++generation) {
    JournalCommit commit = sample_commit();
    commit.generation = generation;
    many.push_back(commit);
  }
  const JournalContents contents = read_bytes(encode_journal(header, many).bytes);
  EXPECT_TRUE(says(contents, header, many, many.size()));
  ASSERT_EQ(contents.segments.size(), 3u);
  EXPECT_EQ(contents.segments[1].file, "copy");
  EXPECT_EQ(contents.segments[2], std::get<JournalSegment>(again));
  EXPECT_EQ(contents.commits.back().generation, 100);
  EXPECT_LE(contents.commits.size(), JournalContents::kMostCommits);
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

TEST_F(JournalReader, LooksAgainForAFileThatACacheStillShowsAndSaysAtOnceWhatElseFails) {
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

// ---- one record ----

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

bool is_refused(const JournalRecord& record) {
  Checksum chain{1, 2};
  const Failure failure = failure_from([&] { encode_record(record, chain); });
  return failure.status == ANADROME_ERR_ARGUMENT && chain == Checksum{1, 2};
}

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    for (const int shift : {4, 0})
      text += "0123456789abcdef"[(static_cast<unsigned char>(byte) >> shift) & 15];
  }
  return text;
}

// Files that were written must stay readable: these bytes are the format.
TEST(JournalRecord, HasTheDocumentedBytes) {
  EXPECT_EQ(hexadecimal(journal_preamble(1)),
            "89414e414a4e4c0a0100000000000000b6230c8eab315243eaae138cc0277481");
  EXPECT_EQ(hexadecimal(journal_preamble()),
            "89414e414a4e4c0a02000000000000004d3a9cca14b5768102f16e201b77b9a3");
  const auto block_of = [](const EncodedBlock& encoded) {
    Checksum chain{0x1111, 0x2222};
    return hexadecimal(encode_record(JournalBlock{3, 30, 10, {0xaabb, 0xccdd}, encoded}, chain));
  };
  const std::string block =
      "03000000"
      "03000000000000001e000000000000000a00000000000000"
      "bbaa000000000000ddcc000000000000";
  EXPECT_EQ(block_of({}), "28000000" + block + "6cfe01066feca14c5bc90c6df0c117db");
  EXPECT_EQ(block_of({false, {1, 41}}), "40000000" + block +
                                            "000000000200000001000000000000002900000000000000"
                                            "fd8eab9da079a442e6245c6c9811d1c5");
}

TEST(JournalRecord, RefusesWhatCannotBe) {
  const auto segment = [](const std::function<void(JournalSegment&)>& change) {
    JournalSegment changed = sample_segment();
    change(changed);
    return is_refused(changed);
  };
  EXPECT_FALSE(segment([](auto&) {}));
  EXPECT_TRUE(segment([](auto& s) { s.number = -1; }));
  EXPECT_TRUE(segment([](auto& s) { s.blocks = 0; }));
  EXPECT_TRUE(segment([](auto& s) { s.first_block = kHuge; }));
  EXPECT_TRUE(segment([](auto& s) { s.offsets.fields[0] = -4096; }));
  EXPECT_TRUE(segment([](auto& s) { s.strides_before.pop_back(); }));
  for (const char* name : {"", ".", "..", "a/b", "../lock", ".hidden", "line\nend"}) {
    EXPECT_TRUE(segment([&](auto& s) { s.file = name; })) << name;
  }
  const auto header = [](const std::function<void(JournalHeader&)>& change) {
    JournalHeader changed = sample_header();
    change(changed);
    return is_refused(changed);
  };
  EXPECT_FALSE(header([](auto&) {}));
  EXPECT_TRUE(header([](auto& h) { h.rank = h.ranks; }));
  EXPECT_TRUE(header([](auto& h) { h.ranks = 0; }));
  EXPECT_TRUE(header([](auto& h) { h.steps = -2; }));
  EXPECT_TRUE(header([](auto& h) { h.shape.states = 0; }));
  EXPECT_TRUE(header([](auto& h) { h.fields.resize(kMostPayloadBytes); }));
  EXPECT_TRUE(is_refused(JournalBlock{-1, 0, 1, {}, {}}));
  EXPECT_TRUE(is_refused(JournalBlock{0, 0, 0, {}, {}}));
  EXPECT_TRUE(is_refused(JournalBlock{0, 0, 1, {}, {true, {-1}}}));
  EXPECT_FALSE(is_refused(JournalBlock{0, 0, 1, {}, {}, JournalBlock::Place{1, 3}}));
  EXPECT_TRUE(is_refused(JournalBlock{0, 0, 1, {}, {}, JournalBlock::Place{2, 3}}));
  EXPECT_TRUE(is_refused(JournalBlock{0, 0, 1, {}, {}, JournalBlock::Place{1, -3}}));
  EXPECT_FALSE(segment([](auto& s) { s.volume = 1; }));
  EXPECT_TRUE(segment([](auto& s) { s.volume = 2; }));
  EXPECT_TRUE(is_refused(JournalTruncate{-1, {}}));
  EXPECT_TRUE(is_refused(JournalTruncate{0, -1}));
  EXPECT_TRUE(is_refused(JournalTruncate{0, 2}));
  EXPECT_FALSE(is_refused(JournalTruncate{0, 1}));
}

TEST(JournalRecord, RefusesAnchorsThatCannotBe) {
  const auto refused = [](std::int64_t anchors, std::vector<JournalCommit::Stretch> stretches) {
    JournalCommit commit = sample_commit();
    commit.anchors = anchors;
    commit.stretches = std::move(stretches);
    return is_refused(commit);
  };
  EXPECT_FALSE(refused(12, {{0, 0, 10}, {10, 110, 50}}));
  EXPECT_FALSE(refused(0, {}));
  EXPECT_FALSE(refused(1, {{0, 0, 0}}));
  EXPECT_TRUE(refused(1, {}));
  EXPECT_TRUE(refused(0, {{0, 0, 1}}));
  EXPECT_TRUE(refused(12, {{0, 0, 10}, {12, 200, 50}}));  // no anchor in the second
  EXPECT_TRUE(refused(12, {{1, 0, 10}}));                 // anchor 0 is missing
  EXPECT_TRUE(refused(12, {{0, 0, 0}}));                  // twelve of the same step
  EXPECT_TRUE(refused(12, {{0, 0, 10}, {10, 90, 50}}));   // not behind the ones before
  EXPECT_TRUE(refused(kHuge / 2, {{0, 0, kHuge / 4}}));   // steps that overflow
  EXPECT_TRUE(refused(12, {{0, -1, 10}}));
}

RC_GTEST_PROP(JournalRecord, ComesBackAsItWas, ()) {
  const JournalRecord record =
      *rc::gen::arbitrary<bool>() ? JournalRecord(RecordDraw::header()) : RecordDraw::record();
  Checksum chain;
  const std::string bytes = encode_record(record, chain);
  const std::string_view payload = std::string_view(bytes).substr(
      kRecordHeadBytes, bytes.size() - kRecordHeadBytes - kRecordSumBytes);
  const auto type = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[4]));
  const auto back = decode_record(type, payload);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == record);
  // Neither shorter nor longer is it a record, nor as one of another type.
  RC_ASSERT(!decode_record(type, payload.substr(0, payload.size() - 1)).has_value());
  RC_ASSERT(!decode_record(type, std::string(payload) + '\0').has_value());
  RC_ASSERT(!decode_record(type + 5, payload).has_value());
}

}  // namespace
}  // namespace anadrome::store
