// SPDX-License-Identifier: BSD-2-Clause
// write_seeds DIRECTORY: what the fuzzers start from, and lists of the files. Journals with every
// kind of record, as files and as records without sums, tables of fields, and every option.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/options.h"
#include "store/byte_code.h"
#include "store/journal_record.h"

namespace {

using namespace anadrome::store;

void put(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

JournalHeader header() {
  JournalHeader header;
  header.run_id_low = 1;
  header.ranks = 4;
  header.rank = 3;
  header.fields = "u state float64 10\nk tape byte 3\nlambda adjoint complex128 5\n";
  header.options = "schedule=async\n";
  return header;
}

std::vector<JournalRecord> records() {
  JournalSegment segment;
  segment.file = "segment-00000.h5";
  segment.offsets.fields = {4096, 8192};
  segment.strides_before = {0, 4096};
  JournalCommit commit;
  commit.anchors = 5;
  commit.stretches = {{0, 0, 10}, {3, 40, 20}};
  JournalCommit reverse = commit;
  reverse.phase = JournalCommit::Phase::kReverse;
  reverse.adjoint = anadrome::Checksum{1, 2};
  return {segment, JournalBlock{0, 0, 3, {1, 2}, {}}, commit, JournalTruncate{1, {}}, reverse};
}

// For the reader of journals, and for what looks at a run with such a journal.
void write_journals(const std::filesystem::path& directory, const std::filesystem::path& runs) {
  std::vector<JournalRecord> all = records();
  all.insert(all.begin(), header());
  anadrome::Checksum chain = journal_preamble_sum();
  std::string file = journal_preamble(), without_sums;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::string record = encode_record(all[r], chain);
    file += record;
    without_sums += record.substr(0, record.size() - kRecordSumBytes);
    put(directory / ("file-" + std::to_string(r)), std::string(1, '\0') + file);
    put(directory / ("records-" + std::to_string(r)), std::string(1, '\1') + without_sums);
    put(runs / ("records-" + std::to_string(r)), std::string(1, '\1') + without_sums);
  }
  put(runs / "whole", std::string(1, '\0') + file);
  put(directory / "fields", std::string(1, '\2') + header().fields);
}

void write_options(const std::filesystem::path& directory) {
  std::string all;
  char number = 0;
  for (const auto& [key, value] : anadrome::engine::Options().shared_values()) {
    put(directory / ("key-" + key), '\1' + key + '\0' + value);
    put(directory / ("value-" + key), std::string{'\2', number++} + value);
    all += key + "=" + value + " ";
  }
  put(directory / "defaults", '\0' + all);
  put(directory / "sizes",
      '\0' + std::string("memory=1.5GiB disk=3TB bandwidth_limit=500MB/s interval=7"));
  put(directory / "rate", '\3' + std::string("12.5KiB/s"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_seeds DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  write_journals(directory / "journal", directory / "runs");
  write_options(directory / "options");
  put(directory / "segment" / "whole", "numbers of a segment with nothing replaced");
  for (const char* name : {"journal", "options", "runs", "segment"}) {
    std::string list;
    for (const auto& entry : std::filesystem::directory_iterator(directory / name)) {
      list += (list.empty() ? "" : ",") + entry.path().string();
    }
    put(directory / (std::string(name) + ".list"), list);
  }
  return 0;
}
