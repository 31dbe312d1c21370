// SPDX-License-Identifier: BSD-2-Clause
// One job of the heat-equation example in this process, small enough for many, and what its
// gradient must be.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heat.h"

namespace anadrome::test {

constexpr std::int64_t kCellsX = 66, kCellsY = 50, kSteps = 50;

/// Options whose strings live as long as they do. Quiet; the memory is that of six states, or of
/// all with store_all.
class Job {
 public:
  Job(MPI_Comm comm, const std::string& schedule);

  void set(const std::string& key, const std::string& value) { values_.push_back({key, value}); }
  int run();

  heat_options options;
  heat_result result;

 private:
  MPI_Comm comm_;
  std::vector<std::pair<std::string, std::string>> values_;
};

/// That `job`, which has run, gave the gradient that one rank computes with every stage kept in an
/// array.
void expect_exact_gradient(const Job& job);

/// The same, and of a job of the default steps that no more and no fewer were taken than planned.
void expect_exact_sweep(const Job& job);

/// "direct" where the library and the file system of the test's directory take O_DIRECT (ext4, xfs,
/// recent tmpfs).
const char* direct_io();

}  // namespace anadrome::test
