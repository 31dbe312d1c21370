// SPDX-License-Identifier: BSD-2-Clause
// Cells that nobody sets, in a program that traps floating-point errors: the library copies them
// and compares them, and changes the numbers around them where it may.
#include <anadrome/anadrome.h>
#include <fenv.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 24;
constexpr std::size_t kCells = 4000, kHalo = 8;

// The cells in the middle follow u' = u - u^2; the others hold what memory held.
class Cells {
 public:
  Cells() : u_(kCells), single_(kCells) {
    const double unset[] = {std::bit_cast<double>(0x7ff4000000000001U), 1e308, -1e308,
                            std::bit_cast<double>(0x7ff0000000000000U)};
    const float of_single[] = {std::bit_cast<float>(0x7fa00001U), 3e38F, -3e38F, 1e-44F};
    for (std::size_t i = 0; i < kCells; ++i) {
      std::memcpy(&u_[i], &unset[i % 4], sizeof(double));
      std::memcpy(&single_[i], &of_single[i % 4], sizeof(float));
    }
    for (std::size_t i = kHalo; i < kCells - kHalo; ++i) {
      u_[i] = 0.1 + 1e-4 * static_cast<double>(i);
      single_[i] = static_cast<float>(u_[i]);
    }
  }

  double gradient(const char* options) {
    RunHandle run(MPI_COMM_WORLD);
    std::istringstream settings(options);
    for (std::string word; settings >> word;) {
      const std::size_t equals = word.find('=');
      run.set(word.substr(0, equals), word.substr(equals + 1));
    }
    add_array(run, "u", u_);
    add_array(run, "v", single_);
    std::vector<double> lambda(kCells);
    const auto act = [&](const anadrome_action& action) {
      take_steps(action, [this](std::int64_t) { step(); });
      for (std::size_t i = kHalo; i < kCells - kHalo; ++i) {
        if (action.kind == ANADROME_TURN) lambda[i] = 1;
        if (action.kind == ANADROME_ADJOINT) lambda[i] *= 1 + 1e-2 * (1 - 2 * u_[i]);
      }
    };
    EXPECT_EQ(follow(run, anadrome_begin(run, kSteps), act), ANADROME_OK) << anadrome_last_error();
    double sum = 0;
    for (const double each : lambda) sum += each;
    return sum;
  }

 private:
  void step() {
    for (std::size_t i = kHalo; i < kCells - kHalo; ++i) {
      u_[i] += 1e-2 * (u_[i] - u_[i] * u_[i]);
      single_[i] = static_cast<float>(u_[i]);
    }
  }

  std::vector<double> u_;
  std::vector<float> single_;
};

class UnsetCells : public testing::TestWithParam<const char*> {};

TEST_P(UnsetCells, DoNotEndAProgramThatTrapsErrors) {
  const int others = fedisableexcept(FE_ALL_EXCEPT);
  const double expected = Cells().gradient(GetParam());
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  const double trapped = Cells().gradient(GetParam());
  const int trapping = fedisableexcept(FE_ALL_EXCEPT);
  EXPECT_EQ(trapping, FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  EXPECT_EQ(fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0);
  EXPECT_EQ(trapped, expected);
  feenableexcept(others);
}

INSTANTIATE_TEST_SUITE_P(
    Options, UnsetCells,
    testing::Values("memory=300KiB schedule=revolve",
                    "memory=600KiB schedule=async interval=4 report=-",
                    "memory=4MiB schedule=async interval=2 compress=lz4",
                    "memory=4MiB schedule=async interval=2 compress=float32",
                    "memory=4MiB schedule=async interval=2 compress=round tolerance=1e-3",
                    "memory=4MiB schedule=async interval=2 compress=zfp tolerance=1e-3"));

}  // namespace
}  // namespace anadrome::test
