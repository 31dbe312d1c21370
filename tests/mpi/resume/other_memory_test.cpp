// SPDX-License-Identifier: BSD-2-Clause
// A run that goes on with more memory, or less, than it began with: its blocks are those of the
// process before, and those of its next sweep are its own.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpi_main.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 100;

// x_k is k, in all of its values, and in those of y.
class Life {
 public:
  explicit Life(const char* memory) : x_(2000), y_(700) {
    anadrome_open(MPI_COMM_WORLD, &run_);
    for (const auto& [key, value] : {std::pair{"schedule", "async"},
                                     {"interval", "1"},
                                     {"resume", "on"},
                                     {"checkpoint_interval", "0"},
                                     {"memory", memory},
                                     {"warnings", "off"},
                                     {"directory", directory().c_str()}}) {
      EXPECT_EQ(anadrome_set(run_, key, value), ANADROME_OK);
    }
    for (const auto& [name, values] : {std::pair{"x", &x_}, {"y", &y_}})
      anadrome_add_field(run_, name, ANADROME_ROLE_STATE, ANADROME_FLOAT64, values->data(),
                         values->size());
  }
  ~Life() { EXPECT_EQ(anadrome_close(&run_), ANADROME_OK) << anadrome_last_error(); }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  void set(const char* key, const char* value) {
    EXPECT_EQ(anadrome_set(run_, key, value), ANADROME_OK);
  }
  // Where it goes on, or -1 if it does not begin.
  std::int64_t begin() {
    std::fill(x_.begin(), x_.end(), 0);
    std::fill(y_.begin(), y_.end(), 0);
    if (anadrome_begin(run_, kSteps) != ANADROME_OK) return -1;
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    std::int64_t began = 0;
    EXPECT_EQ(anadrome_resumed(run_, &phase, &began), ANADROME_OK);
    return phase == ANADROME_PHASE_IDLE ? 0 : began;
  }
  // To DONE, or until it was stopped at `until`. Every state must be right.
  anadrome_status sweep(std::int64_t until = kSteps + 1) {
    anadrome_action action{};
    anadrome_status status = ANADROME_OK;
    while ((status = anadrome_next(run_, &action)) == ANADROME_OK && action.kind != ANADROME_DONE) {
      const bool has_state = action.kind == ANADROME_ADVANCE || action.kind == ANADROME_ADJOINT;
      if (has_state) expect_state(static_cast<double>(action.first));
      if (action.kind == ANADROME_ADVANCE) {
        std::fill(x_.begin(), x_.end(), static_cast<double>(action.last));
        std::fill(y_.begin(), y_.end(), static_cast<double>(action.last));
      }
      if (action.last >= until) anadrome_request_stop(run_);
    }
    return status;
  }

 private:
  void expect_state(double value) {
    for (const std::vector<double>* values : {&x_, &y_}) {
      const auto right = std::count(values->begin(), values->end(), value);
      EXPECT_EQ(static_cast<std::size_t>(right), values->size()) << "of state " << value;
    }
  }
  anadrome_run* run_ = nullptr;
  std::vector<double> x_, y_;
};

// For two states to a block, and for seven.
constexpr const char *kLittle = "1200KiB", *kMuch = "3600KiB";

class OtherMemory : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(OtherMemory, IsThatOfTheNextSweep) {
  const auto [first, second] = GetParam();
  {
    Life life(first);
    EXPECT_EQ(life.begin(), 0);
    EXPECT_EQ(life.sweep(60), ANADROME_STOPPED);
  }
  Life life(second);
  EXPECT_GT(life.begin(), 0) << anadrome_last_error();
  EXPECT_EQ(life.sweep(), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(life.begin(), 0) << anadrome_last_error();
  EXPECT_EQ(life.sweep(), ANADROME_OK) << anadrome_last_error();
}

INSTANTIATE_TEST_SUITE_P(All, OtherMemory,
                         testing::Values(std::pair{kLittle, kMuch}, std::pair{kMuch, kLittle}));

TEST(TooLittleMemory, IsSaidAndLeavesTheRunForTheNextBegin) {
  {
    Life life(kMuch);
    EXPECT_EQ(life.begin(), 0);
    EXPECT_EQ(life.sweep(60), ANADROME_STOPPED);
  }
  Life life("100KiB");
  EXPECT_EQ(life.begin(), -1);
  const std::string message = anadrome_last_error(), before = "at least ";
  EXPECT_NE(message.find("in blocks of 7"), std::string::npos) << message;
  const std::size_t at = message.find(before);
  ASSERT_NE(at, std::string::npos) << message;
  const std::string bytes = std::to_string(std::stoll(message.substr(at + before.size()))) + "B";
  life.set("memory", bytes.c_str());
  EXPECT_GT(life.begin(), 0) << anadrome_last_error();
  EXPECT_EQ(life.sweep(), ANADROME_OK) << anadrome_last_error();
}

}  // namespace
