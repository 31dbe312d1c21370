// SPDX-License-Identifier: BSD-2-Clause
#include "base/arithmetic.h"

#include <fenv.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <csignal>
#include <limits>

#include "base/callback.h"
#include "base/thread.h"

namespace anadrome {
namespace {

volatile double none = 0, unity = 1, tiny = std::numeric_limits<double>::min();
constexpr int kTraps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

// A program of -ffpe-trap=invalid,zero,overflow.
class Traps : public testing::Test {
 protected:
  Traps() {
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(kTraps);
  }
  ~Traps() override {
    fedisableexcept(FE_ALL_EXCEPT);
    std::feclearexcept(FE_ALL_EXCEPT);
  }
};
using TrapsDeathTest = Traps;

int divide_by_zero(double* quotient) {
  *quotient = unity / none;
  return 7;
}

TEST_F(Traps, DoNotSpringInTheLibrary) {
  {
    const OwnArithmetic own;
    EXPECT_TRUE(std::isinf(unity / none));
    EXPECT_TRUE(std::isnan(none / none));
  }
  EXPECT_EQ(std::fetestexcept(kTraps), 0) << "a flag of the library's is the caller's now";
}

TEST_F(TrapsDeathTest, SpringAfterwardsAndInACallback) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto divide = [](bool in_callback) {
    std::signal(SIGFPE, SIG_DFL);  // a sanitizer has a handler of its own
    feenableexcept(kTraps);
    double quotient;
    if (in_callback) {
      const OwnArithmetic own;
      call_back(divide_by_zero, &quotient);
    } else {
      { const OwnArithmetic own; }
      divide_by_zero(&quotient);
    }
    std::_Exit(std::isinf(quotient) ? 0 : 1);
  };
  for (const bool in_callback : {false, true})
    EXPECT_EXIT(divide(in_callback), testing::KilledBySignal(SIGFPE), "") << in_callback;
}

TEST(Arithmetic, FlagsThatACallbackRaisesAreTheCallers) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const OwnArithmetic own;
    double quotient = 0;
    EXPECT_EQ(call_back(divide_by_zero, &quotient), 7);
    const OwnArithmetic within;
    EXPECT_TRUE(std::isnan(none / none));
  }
  EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
  EXPECT_EQ(std::fetestexcept(FE_INVALID), 0);
  std::feclearexcept(FE_ALL_EXCEPT);
}

// A call: the compiler would compute a sum before the rounding changes.
[[gnu::noinline]] double sum() { return unity + tiny; }

TEST(Arithmetic, OfTheLibraryRoundsToNearestWhateverTheCallerDoes) {
  std::fesetround(FE_UPWARD);
  EXPECT_GT(sum(), 1);
  bool nearest = false, in_thread = false;
  {
    const OwnArithmetic own;
    nearest = sum() == 1;
  }
  start_thread("anadrome-test", "rounds", [&](const std::stop_token&) {
    in_thread = sum() == 1;
  }).join();
  EXPECT_GT(sum(), 1);
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(nearest);
  EXPECT_TRUE(in_thread);
}

}  // namespace
}  // namespace anadrome
