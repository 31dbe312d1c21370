// SPDX-License-Identifier: BSD-2-Clause
// main of the tests that run on several ranks: one output, one exit code, one directory.
#include "mpi_main.h"

#include <fenv.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace anadrome::test {
namespace {

struct Setting {
  int rank = 0;
  int ranks = 1;
  std::string directory;
};
Setting setting;

// Rank 0 prints as always, the others only what failed.
class FailuresOfThisRank : public testing::EmptyTestEventListener {
  // Noted here: GoogleTest's lock is held in OnTestPartResult, where asking for it would wait for
  // ever.
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }

  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    std::fprintf(stderr, "rank %d: %s: %s:%d: %s\n", setting.rank, test_.c_str(),
                 part.file_name() != nullptr ? part.file_name() : "", part.line_number(),
                 part.message());
  }

  std::string test_;
};

int run_tests(const char* program) {
  setting.directory = fresh_directory(std::filesystem::path(program).filename());
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (setting.rank == 0) {
    std::error_code ignored;
    std::filesystem::remove_all(setting.directory, ignored);
  }
  return failed;
}

}  // namespace

int rank() { return setting.rank; }
int ranks() { return setting.ranks; }

void compute_for(double seconds) {
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < seconds) {
  }
}

const std::string& directory() { return setting.directory; }

}  // namespace anadrome::test

int main(int argc, char** argv) {
  using anadrome::test::setting;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &setting.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &setting.ranks);
  testing::InitGoogleTest(&argc, argv);
  if (setting.rank != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new anadrome::test::FailuresOfThisRank);
  }
  // A program that traps what is no number: nothing that the library does ends it.
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  const int exit_code = anadrome::test::run_tests(argv[0]);
  MPI_Finalize();
  return exit_code;
}
