// SPDX-License-Identifier: BSD-2-Clause
#include "store/journal/journal_record.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <limits>

#include "base/error.h"
#include "journal_samples.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

bool is_refused(const JournalRecord& record) {
  Checksum chain{1, 2};
  try {
    encode_record(record, chain);
  } catch (const Error& error) {
    return error.status() == ANADROME_ERR_ARGUMENT && chain == Checksum{1, 2};
  }
  return false;
}

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) / 16];
    text += kDigits[static_cast<unsigned char>(byte) % 16];
  }
  return text;
}

// Files that were written must stay readable: these bytes are the format.
TEST(JournalRecord, HasTheDocumentedBytes) {
  EXPECT_EQ(hexadecimal(journal_preamble(1)),
            "89414e414a4e4c0a"
            "0100000000000000"
            "b6230c8eab315243eaae138cc0277481");
  EXPECT_EQ(hexadecimal(journal_preamble()),
            "89414e414a4e4c0a"
            "0200000000000000"
            "4d3a9cca14b5768102f16e201b77b9a3");
  Checksum chain{0x1111, 0x2222};
  EXPECT_EQ(hexadecimal(encode_record(JournalBlock{3, 30, 10, {0xaabb, 0xccdd}, {}}, chain)),
            "28000000"
            "03000000"
            "0300000000000000"
            "1e00000000000000"
            "0a00000000000000"
            "bbaa000000000000"
            "ddcc000000000000"
            "6cfe01066feca14c5bc90c6df0c117db");
  chain = {0x1111, 0x2222};
  EXPECT_EQ(hexadecimal(
                encode_record(JournalBlock{3, 30, 10, {0xaabb, 0xccdd}, {false, {1, 41}}}, chain)),
            "40000000"
            "03000000"
            "0300000000000000"
            "1e00000000000000"
            "0a00000000000000"
            "bbaa000000000000"
            "ddcc000000000000"
            "00000000"
            "02000000"
            "0100000000000000"
            "2900000000000000"
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
