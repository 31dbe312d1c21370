// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/revolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace anadrome::schedule {
namespace {

// E(n, s) by its recurrence: best[s][n].
using Costs = std::vector<std::vector<std::int64_t>>;
Costs costs_by_recurrence(std::int64_t most_steps, std::int64_t most_slots) {
  const auto n_end = static_cast<std::size_t>(most_steps) + 1;
  const auto s_end = static_cast<std::size_t>(most_slots) + 1;
  Costs best(s_end, std::vector<std::int64_t>(n_end, 0));
  for (std::size_t n = 0; n < n_end; ++n) {
    for (std::size_t s = 1; s < s_end; ++s) {
      if (n <= 1) continue;
      const auto steps = static_cast<std::int64_t>(n);
      std::int64_t least = steps * (steps - 1) / 2;
      for (std::size_t j = 1; s > 1 && j < n; ++j) {
        least = std::min(least, static_cast<std::int64_t>(j) + best[s][j] + best[s - 1][n - j]);
      }
      best[s][n] = least;
    }
  }
  return best;
}

uint128 number(const std::string& digits) {
  uint128 value = 0;
  for (const char digit : digits) value = value * 10 + static_cast<unsigned>(digit - '0');
  return value;
}

bool is_optimal(std::int64_t steps, std::int64_t slots, std::int64_t split) {
  if (split < 1 || split >= steps) return false;
  return static_cast<uint128>(split) + extra_advances(split, slots) +
             extra_advances(steps - split, slots - 1) ==
         extra_advances(steps, slots);
}

struct Extreme {
  std::int64_t steps, slots;
  const char* advances;
  std::int64_t repetitions;
};
// Computed with unbounded integers.
constexpr std::int64_t kHugeInterval = std::int64_t{1} << 62;
constexpr std::array kExtremes = {
    Extreme{kHugeInterval, 1, "10633823966279326980924613473029062656", kHugeInterval - 1},
    Extreme{kHugeInterval, 2, "9337128491186003968533230846", 3037000499},
    Extreme{kHugeInterval, 3, "10461429545708296361505750", 3024615},
    Extreme{kHugeInterval, 4, "378405008405994148391034", 102567},
    Extreme{kHugeInterval, 5, "54099610795510988630464", 14078},
    Extreme{kHugeInterval, 10, "1372830356572193221104", 328},
    Extreme{kHugeInterval, 20, "267676627718395132624", 61},
    Extreme{kHugeInterval, 40, "122318790863003290976", 28},
    Extreme{kHugeInterval, 41, "120138682577777178192", 27},
    Extreme{kHugeInterval, 62, "90262682132578441280", 20},
    Extreme{kHugeInterval, 1000, "36688028813396696624", 8},
    Extreme{kHugeInterval, 1000000, "18280075907038551612", 4},
    Extreme{kHugeInterval, std::int64_t{1} << 31, "11529215040699760637", 3},
    Extreme{kHugeInterval, std::int64_t{1} << 61, "6917529027641081854", 2},
    Extreme{kHugeInterval, kHugeInterval - 2, "4611686018427387904", 2},
    Extreme{kHugeInterval, kHugeInterval - 1, "4611686018427387903", 1},
    Extreme{kHugeInterval, kHugeInterval, "4611686018427387903", 1},
    Extreme{10000000, 2, "29804240404", 4471},
    Extreme{100000000, 5, "8394095254", 101},
    Extreme{1000000000, 20, "13072016240", 14},
    Extreme{10000000000, 1, "49999999995000000000", 9999999999},
    Extreme{1000000000000000000, 3, "1362838944624441581046360", 1817119},
};

TEST(ExtraAdvances, FollowTheRecurrence) {
  const Costs best = costs_by_recurrence(150, 20);
  for (std::int64_t s = 1; s <= 20; ++s) {
    for (std::int64_t n = 0; n <= 150; ++n) {
      ASSERT_EQ(extra_advances_clamped(n, s),
                best[static_cast<std::size_t>(s)][static_cast<std::size_t>(n)])
          << "n " << n << ", s " << s;
    }
  }
}

// And so are the splits, all the way down.
TEST(ExtraAdvances, AreExactAtTheExtremes) {
  for (const Extreme& extreme : kExtremes) {
    std::int64_t n = extreme.steps, s = extreme.slots;
    SCOPED_TRACE("n " + std::to_string(n) + ", s " + std::to_string(s));
    EXPECT_TRUE(extra_advances(n, s) == number(extreme.advances));
    EXPECT_EQ(Splitter().repetitions(n, s), extreme.repetitions);
    Splitter splitter;
    for (int depth = 0; depth < 100 && n >= 2 && s >= 2; ++depth) {
      const std::int64_t split = splitter.split(n, s);
      ASSERT_TRUE(is_optimal(n, s, split)) << "n " << n << ", s " << s << ", split " << split;
      n -= split;
      --s;
    }
  }
  EXPECT_EQ(extra_advances_clamped(kHugeInterval, 1), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(extra_advances_clamped(kHugeInterval, 40), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(extra_advances_clamped(kHugeInterval, kHugeInterval), kHugeInterval - 1);
  for (const auto& [n, s] : {std::pair{0, 0}, {1, 0}, {0, 7}}) {
    EXPECT_EQ(extra_advances_clamped(n, s), 0);
  }
}

TEST(Splitter, SplitsOptimallyAndAsLateAsPossible) {
  Splitter splitter;
  for (std::int64_t s = 2; s <= 20; ++s) {
    for (std::int64_t n = 2; n <= 150; ++n) {
      const std::int64_t split = splitter.split(n, s);
      ASSERT_TRUE(is_optimal(n, s, split)) << "n " << n << ", s " << s << ", split " << split;
      ASSERT_FALSE(is_optimal(n, s, split + 1)) << "n " << n << ", s " << s << ", split " << split;
    }
  }
}

TEST(Splitter, GivesTheSameAnswerWhateverItWasAskedBefore) {
  std::mt19937_64 random(20000626);
  Splitter used;
  for (int question = 0; question < 5000; ++question) {
    const std::int64_t n = 2 + static_cast<std::int64_t>(random() >> (2 + random() % 61));
    const std::int64_t s = 2 + static_cast<std::int64_t>(random() >> (3 + random() % 61));
    if (s == 2 && n > (std::int64_t{1} << 40)) continue;
    if (n > kHugeInterval) continue;
    const std::int64_t split = used.split(n, s);
    ASSERT_EQ(split, Splitter().split(n, s)) << "n " << n << ", s " << s;
    ASSERT_TRUE(is_optimal(n, s, split)) << "n " << n << ", s " << s << ", split " << split;
  }
}

TEST(Splitter, CountsRepetitionsAsTheLeastWithEnoughSteps) {
  Splitter splitter;
  for (std::int64_t s = 1; s <= 30; ++s) {
    std::int64_t r = 0;
    std::int64_t enough = 1;  // beta(s, r)
    for (std::int64_t n = 1; n <= 2000; ++n) {
      if (n > enough) {
        ++r;
        enough = enough * (s + r) / r;
      }
      // With more slots than steps the splitter counts as many slots as steps: r is 1 all the same.
      ASSERT_EQ(splitter.repetitions(n, s), r) << "n " << n << ", s " << s;
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule
