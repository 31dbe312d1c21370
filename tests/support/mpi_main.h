// SPDX-License-Identifier: BSD-2-Clause
// The ranks that a program of tests was started with.
#pragma once

#include <span>
#include <string>

namespace anadrome::test {

constexpr const char* kBothTransports[] = {"auto", "mpio"};
/// Without MPI it is `auto` alone: serial HDF5 has no mpio.
constexpr std::span kTransports(kBothTransports, 1 + ANADROME_TEST_MPI);

int rank();  ///< in MPI_COMM_WORLD
int ranks();

/// A step that takes so long.
void compute_for(double seconds);

/// A fresh directory, removed at the end.
const std::string& directory();
/// Makes another, of the same name on all ranks: in ANADROME_TEST_DIRECTORY or /tmp. Collective.
std::string fresh_directory(const std::string& name, const char* above = nullptr);

}  // namespace anadrome::test
