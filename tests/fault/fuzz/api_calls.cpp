// SPDX-License-Identifier: BSD-2-Clause
// api_calls FIRST COUNT [-v]: random programs over the C interface, from seeds FIRST, FIRST + 1,
// ... Any that goes wrong is named by its seed, with which it can be run again alone.
#include <mpi.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "call_sequence.h"

namespace {

// SplitMix64: the same everywhere.
std::vector<std::uint8_t> bytes_of(std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15;
  const auto next = [&state] {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  std::vector<std::uint8_t> bytes(40 + next() % 400);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(next());
  return bytes;
}

// Absurd sizes must fail, and not take the machine's memory first.
void limit_memory() {
#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__
  const rlimit limit{rlim_t{4} << 30, rlim_t{4} << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
#endif
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  limit_memory();
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const bool verbose = argc > 3;
  std::string directory = "/tmp/api_calls.XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return 2;
  anadrome::test::CallCounts counts;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    if (verbose) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
    const std::string wrong = anadrome::test::play_calls(bytes_of(seed), directory, counts);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    ++failures;
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  std::printf("%lld calls, %lld refused, %lld sweeps begun, %lld done, %lld states right\n",
              static_cast<long long>(counts.calls), static_cast<long long>(counts.refused),
              static_cast<long long>(counts.begun), static_cast<long long>(counts.done),
              static_cast<long long>(counts.states_checked));
  // A driver that gets nowhere would find nothing.
  if (count >= 100 && (counts.done < static_cast<std::int64_t>(count) / 4 ||
                       counts.states_checked < 10 * static_cast<std::int64_t>(count))) {
    std::fprintf(stderr, "too little was done\n");
    ++failures;
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
