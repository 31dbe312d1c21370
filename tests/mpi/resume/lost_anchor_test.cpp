// SPDX-License-Identifier: BSD-2-Clause
// A run that goes on where its newest anchor cannot be read back: from an earlier one, and it says
// so.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "mpi_main.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 100;
constexpr std::size_t kValues = 16384;  // 32 states are a block

// How often each step was run and not run `again`, in all lives.
using Runs = std::vector<int>;

// x_k is k, in all of its values. Ends at step `until`; the step at which it began, or -1.
std::int64_t live(std::int64_t until, Runs& runs) {
  std::vector<double> x(kValues, 0.0);
  anadrome_run* run = nullptr;
  anadrome_open(MPI_COMM_WORLD, &run);
  for (const auto& [key, value] : {std::pair{"schedule", "async"},
                                   {"interval", "1"},
                                   {"resume", "on"},
                                   {"checkpoint_interval", "0"},
                                   {"memory", "64MiB"},
                                   {"warnings", "off"},
                                   {"directory", directory().c_str()}}) {
    EXPECT_EQ(anadrome_set(run, key, value), ANADROME_OK);
  }
  anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.data(), kValues);
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t began = -1;
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(anadrome_resumed(run, &phase, &began), ANADROME_OK);
  EXPECT_EQ(x[kValues / 2], static_cast<double>(began));
  anadrome_action action{};
  while (anadrome_next(run, &action) == ANADROME_OK && action.kind != ANADROME_DONE) {
    if (action.kind == ANADROME_ADVANCE) {
      EXPECT_EQ(x[0], static_cast<double>(action.first));
      for (std::int64_t k = action.first; k < action.last && action.again == 0; ++k)
        ++runs[static_cast<std::size_t>(k)];
      std::fill(x.begin(), x.end(), static_cast<double>(action.last));
    }
    if (action.kind == ANADROME_ADJOINT) {
      EXPECT_EQ(x[0], static_cast<double>(action.first));
    }
    if (action.last >= until) anadrome_request_stop(run);
  }
  EXPECT_EQ(anadrome_close(&run), ANADROME_OK);
  return began;
}

// Flips a bit of each state on disk from x_`from` on; how many.
int damage(std::int64_t from) {
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory() + "/anadrome")) {
    const std::string path = entry.path().string();
    if (path.find("segment-0") == std::string::npos) continue;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    std::vector<char> page(4096);
    for (std::streamoff at = 0; file.seekg(at) && file.read(page.data(), 4096); at += 4096) {
      double first = 0, last = 0;
      std::memcpy(&first, page.data(), sizeof first);
      std::memcpy(&last, page.data() + 4096 - sizeof last, sizeof last);
      if (first != last || first < static_cast<double>(from) || first > kSteps) continue;
      page[9] = static_cast<char>(page[9] ^ 1);
      file.seekp(at);
      file.write(page.data(), 4096);
      ++damaged;
    }
  }
  return damaged;
}

TEST(GoingOn, FromAnEarlierAnchorThanTheNewest) {
  Runs runs(kSteps, 0);
  EXPECT_EQ(live(80, runs), 0);
  int damaged = 0;
  if (rank() == 0) damaged = damage(64);
  MPI_Bcast(&damaged, 1, MPI_INT, 0, MPI_COMM_WORLD);
  ASSERT_GT(damaged, 0);
  const std::int64_t began = live(kSteps + 1, runs);
  EXPECT_GT(began, 0);
  EXPECT_LT(began, 64);
  EXPECT_EQ(runs, Runs(kSteps, 1)) << "what a program adds up in these is committed";
}

}  // namespace
