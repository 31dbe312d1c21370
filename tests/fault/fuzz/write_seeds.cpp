// SPDX-License-Identifier: BSD-2-Clause
// write_seeds DIRECTORY GOLDEN: what the fuzzers start from, and lists of the files. Journals with
// every kind of record, as files and as records without sums, tables of fields, every option, the
// files of the golden runs, heartbeats and a trace.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/asked/options.h"
#include "engine/sweep/trace_json.h"
#include "store/directory/heartbeat_file.h"
#include "store/directory/run_files.h"
#include "store/journal/journal_record.h"
#include "store/moving/byte_code.h"

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

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// As what files_fuzz.cpp takes a file of that name.
char kind_of_input(FileKind kind) {
  constexpr FileKind kKinds[] = {FileKind::kLock, FileKind::kLock, FileKind::kJournal,
                                 FileKind::kAdjoint, FileKind::kStates};
  return static_cast<char>(std::find(std::begin(kKinds), std::end(kKinds), kind) - kKinds);
}

void write_golden(const std::filesystem::path& golden, const std::filesystem::path& seeds) {
  constexpr std::size_t kHead = 4096;
  int number = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden)) {
    const FileKind kind = kind_of(entry.path().filename().string());
    if (!entry.is_regular_file() || kind == FileKind::kNone) continue;
    const std::string all = bytes_of(entry.path());
    const std::string name = "golden-" + std::to_string(number++);
    put(seeds / "files" / name, kind_of_input(kind) + all.substr(0, kHead));
    if (kind == FileKind::kLock)
      put(seeds / "files" / (name + "-forged"), '\1' + all.substr(0, all.find("sum ")));
    if (kind != FileKind::kJournal) continue;
    put(seeds / "journal" / name, '\0' + all);
    put(seeds / "runs" / name, '\0' + all);
  }
}

void write_heartbeats(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "made";
  put(path, "");
  Heartbeat heartbeat;
  heartbeat.beat = 1;
  HeartbeatFile(path.string()).write(0, heartbeat);
  put(path, '\5' + bytes_of(path));
}

void write_trace(const std::filesystem::path& directory) {
  using anadrome::engine::TraceEvent;
  std::string text;
  anadrome::engine::TraceJson trace([&](std::string_view piece) { text += piece; });
  std::vector<TraceEvent> events;
  for (const int at : {0, 1, 2, 3})
    events.push_back(
        {at * 1.0, at + 1.0, at, at + 1, static_cast<anadrome::engine::Activity>(at), {}});
  trace.begin({"async", "0.2.0", 4, 2, 4});
  for (const int rank : {0, 1}) trace.add_rank(rank, events, 1);
  trace.end();
  put(directory / "trace", text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_seeds DIRECTORY GOLDEN\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  write_journals(directory / "journal", directory / "runs");
  write_options(directory / "options");
  write_golden(argv[2], directory);
  write_heartbeats(directory / "files");
  write_trace(directory / "trace");
  put(directory / "segment" / "whole", "numbers of a segment with nothing replaced");
  for (const char* name : {"files", "journal", "options", "runs", "segment", "trace"}) {
    std::string list;
    for (const auto& entry : std::filesystem::directory_iterator(directory / name)) {
      list += (list.empty() ? "" : ",") + entry.path().string();
    }
    put(directory / (std::string(name) + ".list"), list);
  }
  return 0;
}
