// SPDX-License-Identifier: BSD-2-Clause
// full_disk DIRECTORY LAYOUT KEEP FULL
//
// DIRECTORY is an empty, small file system. The heat equation runs on it again and again, with ever
// more pages left free, so that every stage runs out of room in its turn: the directory and its
// lock, the first segment, one in the middle of the sweep, the writes where nothing was reserved,
// the tables and the master of kept files. Each run ends with the right gradient or with a clear
// error, and leaves nothing. FULL is 1 for more sizes, each with n known and not.
#include <fcntl.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heat.h"

namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kSegmentPages = 60 * 16;  // 60 states of 64 KiB
int rank = 0, failures = 0;

void fail(const std::string& what) {
  if (rank == 0) std::fprintf(stderr, "full_disk: %s\n", what.c_str());
  ++failures;
}

// A file that leaves `pages` pages of its file system.
class Filler {
 public:
  explicit Filler(const std::string& directory) : path_(directory + "/filler") {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  ~Filler() { ::close(descriptor_); }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

  bool leave(std::int64_t pages) const {
    struct statvfs room {};
    if (::ftruncate(descriptor_, 0) != 0 || ::statvfs(path_.c_str(), &room) != 0) return false;
    const std::int64_t mine =
        static_cast<std::int64_t>(room.f_bfree) * static_cast<std::int64_t>(room.f_bsize) / kPage -
        pages;
    return mine >= 0 && (mine == 0 || ::posix_fallocate(descriptor_, 0, mine * kPage) == 0);
  }

 private:
  std::string path_;
  int descriptor_;
};

using Settings = std::vector<std::pair<const char*, std::string>>;

// 60 states of 64 KiB on 2 ranks; with an unknown number of steps in segments of 16, 16, 32.
heat_result run(bool steps_unknown, const Settings& settings) {
  heat_options options = heat_defaults;
  options.cells_x = 128;
  options.cells_y = 64;
  options.steps = 60;
  options.steps_unknown = steps_unknown ? 1 : 0;
  options.quiet = 1;
  for (const auto& [key, value] : settings) settings_add(&options.library, key, value.c_str());
  heat_result result;
  heat_run(MPI_COMM_WORLD, &options, &result);
  return result;
}

// The result must be right, or say that there is no space.
void check(const heat_result& result, std::uint64_t hash, const std::string& when) {
  if (result.end.exit_code == EXAMPLE_FINE) {
    if (!result.have_gradient || result.gradient_hash != hash) fail(when + ": a wrong gradient");
    return;
  }
  const bool clear =
      result.end.exit_code == EXAMPLE_LIBRARY_ERROR &&
      (result.end.status == ANADROME_ERR_NO_SPACE || result.end.status == ANADROME_ERR_IO) &&
      std::string(result.end.message).find("No space left on device") != std::string::npos;
  if (!clear) {
    fail(when + ": exit code " + std::to_string(result.end.exit_code) + ": " + result.end.message);
  }
}

// Only the filler may be left, or kept files: with their master, unless it was just that which
// found no room.
void check_rest(const std::string& directory, bool keeps, const heat_result& result,
                const std::string& when) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) return;
  const std::string kept = directory + "/anadrome";
  if (keeps) {
    const bool fine = result.end.exit_code == EXAMPLE_FINE;
    const bool complete = std::filesystem::exists(kept + "/states.h5");
    const bool explained = std::string(result.end.message).find("states.h5") != std::string::npos;
    if ((fine || std::filesystem::exists(kept)) && !complete && (fine || !explained)) {
      fail(when + ": files without their master are left");
    }
    std::filesystem::remove_all(kept);
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename() != "filler") fail(when + ": left " + entry.path().string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const std::string directory = argv[1], keep = argv[3];
  const bool keeps = keep == "on", full = std::string(argv[4]) == "1";
  const std::uint64_t hash = run(false, {{"schedule", "store_all"}}).gradient_hash;
  const Filler filler(directory);
  int fine_runs = 0, failed_runs = 0;
  // Page by page where the small files are made, and where the states fit but perhaps not what
  // describes them; otherwise in strides that meet no boundary.
  const std::int64_t stride = full ? 37 : 147;
  const auto is_close = [](std::int64_t pages) {
    return pages < 24 || (pages >= kSegmentPages && pages < kSegmentPages + 24);
  };
  for (std::int64_t pages = 0; pages < 2000; pages += is_close(pages) ? 1 : stride) {
    if (!is_close(pages) && pages < kSegmentPages && pages + stride > kSegmentPages) {
      pages = kSegmentPages;
    }
    for (const bool steps_unknown : {false, true}) {
      if (!full && steps_unknown != (pages % 2 == 0)) continue;
      const std::string when =
          std::to_string(pages) + " pages left, steps " + (steps_unknown ? "unknown" : "known");
      int left = rank != 0 || filler.leave(pages) ? 1 : 0;
      MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (left == 0) continue;
      const heat_result result = run(steps_unknown, {{"schedule", "async"},
                                                     {"interval", "1"},
                                                     {"memory", "200KiB"},
                                                     {"directory", directory},
                                                     {"layout", argv[2]},
                                                     {"keep", keep}});
      check(result, hash, when);
      check_rest(directory, keeps, result, when);
      ++(result.end.exit_code == EXAMPLE_FINE ? fine_runs : failed_runs);
    }
  }
  if (rank == 0) std::printf("%d runs went well, %d had no space\n", fine_runs, failed_runs);
  // Files that are to be kept need their space; otherwise it takes no more than a directory.
  if (fine_runs < 5 || (keeps ? failed_runs < 25 : failed_runs > 12))
    fail("too many runs of one kind");
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
