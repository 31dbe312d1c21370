// SPDX-License-Identifier: BSD-2-Clause
#include "tally.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "mpi_main.h"

namespace anadrome::test {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

void Tally::add(const std::string& kind, const Verdict& verdict) {
  if (rows_.find(kind) == rows_.end()) order_.push_back(kind);
  Row& row = rows_[kind];
  ++(verdict.ending == Ending::kExact        ? row.exact
     : verdict.ending == Ending::kCleanError ? row.clean
                                             : row.wrong);
}

void Tally::complain(const std::string& trial, const std::string& why) {
  constexpr std::int64_t kMost = 40;
  if (++complaints_ <= kMost && world_rank() == 0) {
    std::fprintf(stderr, "%s: %s\n", trial.c_str(), why.c_str());
  }
}

void Tally::complain_of_leaks(const std::string& trial, const std::string& left,
                              const Verdict& verdict) {
  for (const char* kind : {"descriptors", "threads"}) {
    if (left.find(kind) == std::string::npos) continue;
    return complain(trial, "left behind: " + left + "after " + verdict.why);
  }
}

std::int64_t Tally::trials() const {
  std::int64_t all = 0;
  for (const auto& [kind, row] : rows_) all += row.exact + row.clean + row.wrong;
  return all;
}

void Tally::print(const std::string& first_column) const {
  if (world_rank() != 0) return;
  std::printf("| %s | trials | exact gradient | clean error | anything else |\n",
              first_column.c_str());
  std::printf("|---|---|---|---|---|\n");
  const auto line = [](const std::string& name, const Row& row) {
    std::printf("| %s | %lld | %lld | %lld | %lld |\n", name.c_str(),
                static_cast<long long>(row.exact + row.clean + row.wrong),
                static_cast<long long>(row.exact), static_cast<long long>(row.clean),
                static_cast<long long>(row.wrong));
  };
  Row sum;
  for (const std::string& kind : order_) {
    const Row& row = rows_.at(kind);
    line(kind, row);
    sum.exact += row.exact;
    sum.clean += row.clean;
    sum.wrong += row.wrong;
  }
  line("all", sum);
  std::fflush(stdout);
}

bool is_so_on_any_rank(bool fact) {
  int any = fact ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

bool is_drawn(std::int64_t number, std::int64_t stride, std::int64_t part) {
  constexpr std::uint64_t kScatter = 0x9e3779b97f4a7c15U;
  const std::uint64_t scattered = (static_cast<std::uint64_t>(number) + 1) * kScatter >> 32;
  return static_cast<std::int64_t>(scattered % static_cast<std::uint64_t>(stride)) == part % stride;
}

int conclude(const Tally& tally, const std::string& first_column) {
  end_trials();
  tally.print(first_column);
  const bool failed = is_so_on_any_rank(tally.complaints() > 0);
  return failed || tally.trials() == 0 ? 1 : 0;
}

LaboratoryOptions::LaboratoryOptions(int argc, char** argv) {
  const auto usage = [&] {
    std::fprintf(stderr, "usage: %s [--full] [--only TEXT] [--part I/N] [--count TRIALS]\n",
                 argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--full") {
      full = true;
      continue;
    }
    if (i + 1 == argc) usage();
    const char* value = argv[++i];
    if (flag == "--only") {
      only = value;
    } else if (flag == "--count") {
      count = std::atoll(value);
    } else if (flag == "--part") {
      long long number = 0, all = 0;
      if (std::sscanf(value, "%lld/%lld", &number, &all) != 2 || number < 1 || number > all)
        usage();
      part = number - 1;
      parts = all;
    } else {
      usage();
    }
  }
  directory = fresh_directory("laboratory");
  memory = fresh_directory("laboratory", "/dev/shm");
}

LaboratoryOptions::~LaboratoryOptions() {
  MPI_Barrier(MPI_COMM_WORLD);
  std::error_code ignored;
  if (world_rank() != 0) return;
  std::filesystem::remove_all(directory, ignored);
  std::filesystem::remove_all(memory, ignored);
}

int run_laboratory(int argc, char** argv, int (*body)(const LaboratoryOptions& options)) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = 0;
  {
    const LaboratoryOptions options(argc, argv);
    status = body(options);
  }
  MPI_Finalize();
  return status;
}

}  // namespace anadrome::test
