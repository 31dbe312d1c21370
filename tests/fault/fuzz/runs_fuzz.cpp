// SPDX-License-Identifier: BSD-2-Clause
// `anadrome verify` of a run's directory, under libFuzzer: its journal is the input, with right
// sums or as it is, and its other files are short. It answers, whatever they say.
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "forged_journal.h"
#include "forwarding_file_system.h"
#include "tool/runs/commit_check.h"

namespace {

using namespace anadrome;

constexpr const char* kJournal = "journal-000000";

// Two files: the journal, and one for all other names. Nothing else is asked of it.
class TwoFiles final : public test::ForwardingFileSystem {
 public:
  explicit TwoFiles(std::string journal) : journal_(std::move(journal)) {}

  int open(const std::string& path, int, mode_t) override {
    return path.ends_with(kJournal) ? kJournalDescriptor : kJournalDescriptor + 1;
  }
  int close(int) override { return 0; }
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    const std::string_view all = descriptor == kJournalDescriptor ? journal_ : kOther;
    if (offset < 0) return -EINVAL;
    if (static_cast<std::size_t>(offset) >= all.size()) return 0;
    const std::string_view piece = all.substr(static_cast<std::size_t>(offset), count);
    std::memcpy(bytes, piece.data(), piece.size());
    return static_cast<ssize_t>(piece.size());
  }
  void drop_cached(int) override {}

 private:
  store::FileSystem& below() override { std::abort(); }
  static constexpr int kJournalDescriptor = 1000;
  static constexpr std::string_view kOther = "some bytes of a state, and no more";
  const std::string journal_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const bool forged = bytes[0] % 8 != 0;
  const TwoFiles directory(forged ? test::forged_journal(rest, [](auto&&...) {})
                                  : std::string(rest));
  const tool::CheckedJournal journal = tool::check_journal("/nowhere", kJournal);
  if (!journal.contents) {
    if (journal.problems.empty()) std::abort();
    return 0;
  }
  for (const store::JournalCommit& commit : journal.contents->commits) {
    tool::CommitFindings findings;
    failure_from([&] {
      check_commit("/nowhere", *journal.contents, commit, tool::Depth::kBytes, findings);
    });
  }
  return 0;
}
