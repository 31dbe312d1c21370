// SPDX-License-Identifier: BSD-2-Clause
// full_disk DIRECTORY LAYOUT KEEP STRIDE
//
// DIRECTORY is an empty, small file system. The heat equation runs on it again and again, with ever
// more pages left free, so that every stage runs out of room in its turn: the directory and its
// lock, the first segment, one in the middle of the sweep, the writes where nothing was reserved,
// the tables and the master of kept files. Each run ends with the right gradient or with a clear
// error, and leaves nothing.
#include <fcntl.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

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

struct Job {
  std::string directory, layout, keep;

  // 60 states of 64 KiB on 2 ranks; with an unknown number of steps in segments of 16, 16, 32.
  void run(bool steps_unknown, heat_result& result) const {
    heat_options options = heat_defaults;
    options.cells_x = 128;
    options.cells_y = 64;
    options.steps = 60;
    options.steps_unknown = steps_unknown ? 1 : 0;
    options.quiet = 1;
    settings_add(&options.library, "schedule", "async");
    settings_add(&options.library, "interval", "1");
    settings_add(&options.library, "memory", "200KiB");
    settings_add(&options.library, "directory", directory.c_str());
    settings_add(&options.library, "layout", layout.c_str());
    settings_add(&options.library, "keep", keep.c_str());
    heat_run(MPI_COMM_WORLD, &options, &result);
  }
};

std::uint64_t right_hash() {
  heat_options options = heat_defaults;
  heat_result result;
  options.cells_x = 128;
  options.cells_y = 64;
  options.steps = 60;
  options.quiet = 1;
  settings_add(&options.library, "schedule", "store_all");
  heat_run(MPI_COMM_WORLD, &options, &result);
  return result.gradient_hash;
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
void check_rest(const Job& job, const heat_result& result, const std::string& when) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) return;
  const std::string kept = job.directory + "/anadrome";
  if (job.keep == "on") {
    const bool fine = result.end.exit_code == EXAMPLE_FINE;
    const bool complete = std::filesystem::exists(kept + "/states.h5");
    const bool explained = std::string(result.end.message).find("states.h5") != std::string::npos;
    if ((fine || std::filesystem::exists(kept)) && !complete && (fine || !explained)) {
      fail(when + ": files without their master are left");
    }
    std::filesystem::remove_all(kept);
  }
  for (const auto& entry : std::filesystem::directory_iterator(job.directory)) {
    if (entry.path().filename() != "filler") fail(when + ": left " + entry.path().string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const Job job{argv[1], argv[2], argv[3]};
  const std::uint64_t hash = right_hash();
  const Filler filler(job.directory);
  int fine_runs[2] = {0, 0}, failed_runs[2] = {0, 0};  // steps known, unknown
  // Page by page where the small files are made, and where the states fit but perhaps not what
  // describes them; otherwise in strides that meet no boundary.
  const std::int64_t stride = std::atoll(argv[4]);
  const auto is_close = [](std::int64_t pages) {
    return pages < 24 || (pages >= kSegmentPages && pages < kSegmentPages + 24);
  };
  for (std::int64_t pages = 0; pages < 2000; pages += is_close(pages) ? 1 : stride) {
    if (!is_close(pages) && pages < kSegmentPages && pages + stride > kSegmentPages) {
      pages = kSegmentPages;
    }
    for (const bool steps_unknown : {false, true}) {
      const std::string when =
          std::to_string(pages) + " pages left, steps " + (steps_unknown ? "unknown" : "known");
      int left = rank != 0 || filler.leave(pages) ? 1 : 0;
      MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (left == 0) continue;
      heat_result result;
      job.run(steps_unknown, result);
      check(result, hash, when);
      check_rest(job, result, when);
      ++(result.end.exit_code == EXAMPLE_FINE ? fine_runs : failed_runs)[steps_unknown ? 1 : 0];
    }
  }
  for (const int unknown : {0, 1}) {
    if (rank == 0) {
      std::printf("steps %s: %d runs went well, %d had no space\n",
                  unknown != 0 ? "unknown" : "known", fine_runs[unknown], failed_runs[unknown]);
    }
    // Files that are to be kept need their space; otherwise it takes no more than a directory.
    const bool most_fail = job.keep == "on";
    const int fine = fine_runs[unknown], failed = failed_runs[unknown];
    if (fine < 5 || (most_fail ? failed < 25 : failed > 6)) fail("too many runs of one kind");
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
