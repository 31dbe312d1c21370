// cycles [--count N]
//
// A thousand runs one after the other: open, sweep, close. Memory, descriptors, threads and files
// stay as they are.
#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "tally.h"
#include "trial.h"

namespace {

using namespace anadrome::test;

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t allocated_bytes() {
  const struct mallinfo2 all = ::mallinfo2();
  return static_cast<std::int64_t>(all.uordblks + all.hblkhd);
}

int run_all(const LaboratoryOptions& options) {
  const std::int64_t cycles = options.count > 0 ? options.count : 1000;
  constexpr std::int64_t kFirst = 100;  // caches of MPI and HDF5 fill up
  int ranks = 1, rank = 0, failures = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<Setup> setups = all_setups(ranks);
  const auto fail = [&](const std::string& why) {
    ++failures;
    std::fprintf(stderr, "rank %d: %s\n", rank, why.c_str());
  };
  Resources resources;
  std::int64_t resident = 0, allocated = 0, most = 0;
  for (std::int64_t i = 0; i < cycles; ++i) {
    const Setup& setup = setups[static_cast<std::size_t>(i) % setups.size()];
    begin_trial("cycle " + std::to_string(i) + ", " + setup.text());
    Bench bench(MPI_COMM_WORLD, setup, setup.direct == "off" ? options.memory : options.directory);
    const Verdict verdict = bench.run();
    if (verdict.ending != Ending::kExact) fail(setup.text() + ": " + verdict.why);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string left = bench.left_behind();
    if (!left.empty()) fail(setup.text() + " left " + left);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == kFirst) {
      resources = Resources::now();
      resident = resident_bytes();
      allocated = allocated_bytes();
    }
    if (i >= kFirst) most = std::max(most, allocated_bytes());
  }
  end_trials();
  const std::int64_t grown = allocated_bytes() - allocated;
  std::printf(
      "rank %d, %lld cycles: allocated memory grew by %lld bytes (most in between: %lld), "
      "resident memory by %lld; descriptors by %lld, threads by %lld\n",
      rank, static_cast<long long>(cycles), static_cast<long long>(grown),
      static_cast<long long>(most - allocated), static_cast<long long>(resident_bytes() - resident),
      static_cast<long long>(Resources::now().descriptors - resources.descriptors),
      static_cast<long long>(Resources::now().threads - resources.threads));
  if (!(Resources::now() == resources)) fail("descriptors or threads grew");
  // Less than 100 bytes in a cycle are no leak of the library, whose least object is larger.
  if (grown > (cycles - kFirst) * 100) fail("allocated memory grew");
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return failures > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
