// SPDX-License-Identifier: BSD-2-Clause
// The ranks that a program of tests was started with.
#pragma once

#include <string>

namespace anadrome::test {

int rank();  ///< in MPI_COMM_WORLD
int ranks();

/// A fresh directory, the same for all ranks, removed at the end. It is in ANADROME_TEST_DIRECTORY
/// or /tmp.
const std::string& directory();

}  // namespace anadrome::test
