// SPDX-License-Identifier: BSD-2-Clause
// The reader of journals under libFuzzer. The first byte of the input says what the rest is: a
// file; records without their sums, which are put right here, since mutation alone never gets past
// them; or a table of fields.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "forged_journal.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_record.h"
#include "store/memory/field_table.h"
#include "store/moving/byte_code.h"

namespace {

using namespace anadrome;
using namespace anadrome::store;

void require(bool condition) {
  if (!condition) std::abort();
}

// Reads a journal; false if it has no valid header. No other way out is allowed.
bool read(const std::string& bytes, JournalContents& contents) {
  const ReadBytes piece = [&](char* to, std::size_t count, std::int64_t offset) {
    const auto at = static_cast<std::size_t>(offset);
    const std::size_t got = at < bytes.size() ? std::min(count, bytes.size() - at) : 0;
    if (got > 0) std::memcpy(to, bytes.data() + at, got);
    return got;
  };
  try {
    contents = read_journal(piece, "input");
  } catch (const Error& error) {
    require(error.status() == ANADROME_ERR_CORRUPT || error.status() == ANADROME_ERR_UNSUPPORTED);
    require(std::strstr(error.what(), "input") != nullptr);
    return false;
  }
  require(contents.good_bytes > 0 &&
          contents.good_bytes <= static_cast<std::int64_t>(bytes.size()) &&
          contents.complete == (contents.good_bytes == static_cast<std::int64_t>(bytes.size())));
  return true;
}

void read_file(std::string_view input) {
  JournalContents contents;
  read(std::string(input), contents);
}

void read_forged(std::string_view input) {
  std::int64_t good = 0, number = 0;
  std::size_t bytes = journal_preamble().size();
  bool all_good = true;
  const auto check = [&](const std::string& covered, const Checksum& before, const Checksum& sum) {
    bytes += covered.size() + kRecordSumBytes;
    const auto record =
        decode_record(Decoder(covered.substr(4)).u32(), covered.substr(kRecordHeadBytes));
    all_good =
        all_good && record && std::holds_alternative<JournalHeader>(*record) == (number++ == 0);
    if (all_good) good = static_cast<std::int64_t>(bytes);
    if (!record) return;
    // An accepted record has one spelling only.
    Checksum again = before;
    require(encode_record(*record, again) == covered + Encoder().sum(sum).bytes());
    require(again == sum);
  };
  const std::string file = test::forged_journal(input, check);
  JournalContents contents;
  require(read(file, contents) == (good > 0));
  if (good > 0) require(contents.good_bytes == good);
}

void read_fields(std::string_view input) {
  try {
    const std::vector<Field> fields = parse_field_table(input);
    const std::string table = field_table(fields);
    require(parse_field_table(table).size() == fields.size());
    require(field_table(parse_field_table(table)) == table);
  } catch (const Error& error) {
    require(error.status() == ANADROME_ERR_CORRUPT);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0] % 3) {
    case 0:
      read_file(rest);
      break;
    case 1:
      read_forged(rest);
      break;
    default:
      read_fields(rest);
  }
  return 0;
}
