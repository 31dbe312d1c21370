// SPDX-License-Identifier: BSD-2-Clause
// cycles [--count N]
//
// A thousand runs (N, rounded up to whole passes through the setups of the laboratory, four at
// least) one after the other: open, sweep, close. Memory, descriptors, threads and files stay as
// they are.
#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

/// Bytes that the library and its libraries hold. Chunks in the caches that glibc keeps for each
/// thread count as held: without_thread_caches() makes the number exact.
std::int64_t allocated_bytes() {
  const struct mallinfo2 all = ::mallinfo2();
  return static_cast<std::int64_t>(all.uordblks + all.hblkhd);
}

/// Starts this program anew with the caches of threads switched off, which can be done before the
/// first allocation only. What these caches hold depends on the order in which threads were
/// scheduled and goes on growing by some bytes in a cycle.
void without_thread_caches(char** argv) {
  constexpr const char* kName = "GLIBC_TUNABLES";
  constexpr const char* kValue = "glibc.malloc.tcache_count=0";
  const char* now = std::getenv(kName);
  if (now != nullptr && std::string(now) == kValue) return;
  ::setenv(kName, kValue, 1);
  ::execv("/proc/self/exe", argv);
  std::perror("cycles: cannot start itself anew");
  std::exit(1);
}

int run_all(const LaboratoryOptions& options) {
  int ranks = 1, rank = 0, failures = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<Setup> setups = all_setups(ranks);
  const auto fail = [&](const std::string& why) {
    ++failures;
    std::fprintf(stderr, "rank %d: %s\n", rank, why.c_str());
  };
  // In the first pass the caches of MPI and HDF5 fill up.
  const auto in_pass = static_cast<std::int64_t>(setups.size());
  const std::int64_t asked = options.count > 0 ? options.count : 1000;
  const std::int64_t cycles = std::max<std::int64_t>(4, (asked + in_pass - 1) / in_pass) * in_pass;
  Resources resources;
  std::int64_t resident = 0, first = 0, last = 0, passes = 0, passes_that_grew = 0;
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
    if ((i + 1) % in_pass != 0) continue;
    const std::int64_t allocated = allocated_bytes();
    if (passes == 0) {
      resources = Resources::now();
      resident = resident_bytes();
      first = allocated;
    } else if (allocated > last) {
      ++passes_that_grew;
    }
    last = allocated;
    ++passes;
  }
  end_trials();
  std::printf(
      "rank %d, %lld cycles: allocated memory grew by %lld bytes, in %lld of %lld passes through "
      "the setups; resident memory by %lld; descriptors by %lld, threads by %lld\n",
      rank, static_cast<long long>(cycles), static_cast<long long>(last - first),
      static_cast<long long>(passes_that_grew), static_cast<long long>(passes - 1),
      static_cast<long long>(resident_bytes() - resident),
      static_cast<long long>(Resources::now().descriptors - resources.descriptors),
      static_cast<long long>(Resources::now().threads - resources.threads));
  if (!(Resources::now() == resources)) fail("descriptors or threads grew");
  // A leak grows in each pass. What MPI keeps for messages grows at times, when a rank was late.
  constexpr std::int64_t kOfMessages = 65536;
  if (passes_that_grew == passes - 1 || last - first > kOfMessages) fail("allocated memory grew");
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return failures > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  without_thread_caches(argv);
  return run_laboratory(argc, argv, run_all);
}
