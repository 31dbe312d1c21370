// SPDX-License-Identifier: BSD-2-Clause
// A sweep that is stopped anywhere goes on in a new run and ends with the same bits.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 23, kStops = 7;

struct Setup {
  const char* name;
  std::size_t elements;
  std::vector<std::pair<const char*, const char*>> options;
  bool exchanged = false;
  double step_seconds = 0;  ///< a step takes at least so long
  bool lossy = false;  ///< states on disk are changed: the bits are those of a run without a stop
  /// The second directory, and what becomes of it between two lives of the run.
  enum class Fast { kNone, kLost, kNotNamedAgain } fast = Fast::kNone;
};

/// x -> x + 0.1 sin(x + mean + k), coupled over the ranks, with an objective summed on the way.
class Problem {
 public:
  explicit Problem(std::size_t elements)
      : x(elements + static_cast<std::size_t>(rank())), adjoint(x.size(), 0.0) {}

  void start() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.3 * static_cast<double>(i + 1);
    std::fill(adjoint.begin(), adjoint.end(), 0.0);
    objective = gradient = 0;
  }
  static double mean(const std::vector<double>& of) {
    double sum = 0;
    for (const double value : of) sum += value;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / 100;
  }
  void step(const double* from, double* to, std::int64_t k, bool again) {
    const double shared = mean({from, from + x.size()});
    for (std::size_t i = 0; i < x.size(); ++i) {
      to[i] = from[i] + 0.1 * std::sin(from[i] + shared + static_cast<double>(k));
    }
    if (!again) objective += shared * shared;
  }
  void turn(const double* at) {
    for (std::size_t i = 0; i < x.size(); ++i) adjoint[i] = at[i];
  }
  void step_back(const double* at, std::int64_t k) {
    const double shared = mean({at, at + x.size()});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double slope = 0.1 * std::cos(at[i] + shared + static_cast<double>(k));
      gradient += adjoint[i] * slope;
      adjoint[i] *= 1 + slope;
    }
  }
  std::vector<double> result() const {
    std::vector<double> all = adjoint;
    all.push_back(gradient);
    all.push_back(objective);
    return all;
  }

  std::vector<double> x, adjoint;
  double gradient = 0, objective = 0;
};

std::vector<double> reference(std::size_t elements) {
  Problem problem(elements);
  problem.start();
  std::vector<std::vector<double>> states = {problem.x};
  for (std::int64_t k = 0; k < kSteps; ++k) {
    std::vector<double> next(problem.x.size());
    problem.step(states.back().data(), next.data(), k, false);
    states.push_back(next);
  }
  problem.turn(states.back().data());
  for (std::int64_t k = kSteps - 1; k >= 0; --k) {
    problem.step_back(states[static_cast<std::size_t>(k)].data(), k);
  }
  return problem.result();
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

class Resume : public testing::TestWithParam<Setup> {
 protected:
  Resume() : problem_(GetParam().elements), expected_(reference(GetParam().elements)) {
    if (!GetParam().lossy) return;
    EXPECT_EQ(live(-1, 0).status, ANADROME_OK);
    const std::vector<double> found = problem_.result();
    EXPECT_EQ(found.back(), expected_.back()) << "the forward sweep is as ever";
    const double error = std::abs(found.front() / expected_.front() - 1);
    EXPECT_TRUE(error > 0 && error < 1e-4) << error;
    expected_ = found;
  }

  struct Outcome {
    anadrome_status status = ANADROME_OK;
    std::int64_t actions = 0, turns = 0, adjoints = 0, lost = 0;
    anadrome_phase phase = ANADROME_PHASE_IDLE;  ///< where it went on
    std::int64_t step = 0;
    std::string message;
  };

  /// One process's life: at action `stop_at` rank `by` asks for the stop.
  Outcome live(std::int64_t stop_at, int by) {
    anadrome_run* run = nullptr;
    EXPECT_EQ(anadrome_open(MPI_COMM_WORLD, &run), ANADROME_OK);
    anadrome_set(run, "schedule", "async");
    anadrome_set(run, "resume", "on");
    anadrome_set(run, "checkpoint_interval", "0");
    anadrome_set(run, "directory", directories().c_str());
    for (const auto& [key, value] : GetParam().options) {
      EXPECT_EQ(anadrome_set(run, key, value), ANADROME_OK) << anadrome_last_error();
    }
    int field = -1;
    const std::size_t count = problem_.x.size();
    if (GetParam().exchanged) {
      anadrome_add_exchanged(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, count, &field);
    } else {
      add_array(run, "x", problem_.x);
    }
    add_array(run, "adjoint", problem_.adjoint, ANADROME_ROLE_ADJOINT);
    add_number(run, "gradient", problem_.gradient, ANADROME_ROLE_ADJOINT);
    add_number(run, "objective", problem_.objective, ANADROME_ROLE_ADJOINT);
    // Another process: nothing of this is known.
    std::fill(problem_.x.begin(), problem_.x.end(), NAN);
    std::fill(problem_.adjoint.begin(), problem_.adjoint.end(), NAN);
    problem_.gradient = problem_.objective = NAN;

    Outcome outcome;
    outcome.status = anadrome_begin(run, kSteps);
    if (outcome.status != ANADROME_OK) outcome.message = anadrome_last_error();
    EXPECT_EQ(anadrome_resumed(run, &outcome.phase, &outcome.step), ANADROME_OK);
    if (outcome.status == ANADROME_OK && outcome.phase == ANADROME_PHASE_IDLE) {
      problem_.start();
      if (field >= 0) {
        std::memcpy(anadrome_then(run, field), problem_.x.data(), count * sizeof(double));
      }
    }
    std::vector<double> found;  // where the forward sweep goes on, before its first action
    if (field >= 0 && outcome.phase == ANADROME_PHASE_FORWARD) {
      const auto* const x_k = static_cast<const double*>(anadrome_now(run, field));
      EXPECT_NE(x_k, nullptr);
      if (x_k != nullptr) found.assign(x_k, x_k + count);
    }
    std::vector<double> next(count);
    outcome.status = follow(run, outcome.status, [&](const anadrome_action& action) {
      if (outcome.actions++ == stop_at && rank() == by) anadrome_request_stop(run);
      const double* const now =
          field >= 0 ? static_cast<const double*>(anadrome_now(run, field)) : problem_.x.data();
      EXPECT_TRUE(found.empty() || std::equal(found.begin(), found.end(), now));
      found.clear();
      take_steps(action, [&](std::int64_t k) {
        compute_for(GetParam().step_seconds);
        auto* const then =
            field >= 0 ? static_cast<double*>(anadrome_then(run, field)) : next.data();
        problem_.step(now, then, k, action.again != 0);
        if (field < 0) std::copy(next.begin(), next.end(), problem_.x.begin());
      });
      if (action.kind == ANADROME_TURN) {
        ++outcome.turns;
        problem_.turn(now);
      } else if (action.kind == ANADROME_ADJOINT) {
        if (action.again == 0) ++outcome.adjoints;
        problem_.step_back(now, action.first);
      }
    });
    if (outcome.status != ANADROME_OK && outcome.message.empty())
      outcome.message = anadrome_last_error();
    anadrome_stats stats{};
    stats.size = sizeof stats;
    if (anadrome_statistics(run, &stats) == ANADROME_OK) outcome.lost = stats.anchors_lost;
    EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
    return outcome;
  }

  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) fs::remove_all(fast());
  }

  static std::string fast() { return directory() + "-fast"; }

  // As this life of the run names them.
  std::string directories() {
    if (GetParam().fast == Fast::kNone) return directory();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) fs::remove_all(fast());
    if (rank() == 0) fs::create_directory(fast());
    MPI_Barrier(MPI_COMM_WORLD);
    const bool is_named = GetParam().fast != Fast::kNotNamedAgain || lives_++ == 0;
    return (is_named ? fast() + "," : "") + directory();
  }

  void expect_right(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, ANADROME_OK) << outcome.message;
    EXPECT_TRUE(same_bits(problem_.result(), expected_));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(fs::is_empty(directory()));
    EXPECT_TRUE(GetParam().fast == Fast::kNone || fs::is_empty(fast()));
    lives_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }

  using Fast = Setup::Fast;
  Problem problem_;
  std::vector<double> expected_;
  int lives_ = 0;
};

TEST_P(Resume, AfterAStopAnywhere) {
  const Outcome whole = live(-1, 0);
  expect_right(whole);
  std::int64_t forward = 0, reverse = 0;
  for (std::int64_t part = 1; part < kStops; ++part) {  // every commit waits for the disk
    const std::int64_t at = whole.actions * part / kStops;
    SCOPED_TRACE("stopped at action " + std::to_string(at));
    const Outcome first = live(at, static_cast<int>(at) % ranks());
    if (first.status == ANADROME_OK) {  // there was no agreement any more
      expect_right(first);
      continue;
    }
    ASSERT_EQ(first.status, ANADROME_STOPPED) << first.message;
    const Outcome second = live(-1, 0);
    EXPECT_NE(second.phase, ANADROME_PHASE_IDLE);
    EXPECT_EQ(GetParam().fast == Fast::kNone ? second.lost : 0, 0) << "every state was awaited";
    forward += second.phase == ANADROME_PHASE_FORWARD ? 1 : 0;
    reverse += second.phase == ANADROME_PHASE_REVERSE ? 1 : 0;
    if (second.phase == ANADROME_PHASE_REVERSE) {
      EXPECT_EQ(second.turns, 0);
      EXPECT_EQ(second.adjoints, second.step);
    }
    expect_right(second);
  }
  EXPECT_GT(forward, 0);
  EXPECT_GT(reverse, 0);
}

TEST_P(Resume, AgainAndAgain) {
  // With a lossy codec nothing is committed before the newest anchor's own steps are adjoined.
  const std::int64_t actions = GetParam().lossy ? 25 : 9;
  for (std::int64_t life = 0; life < 100; ++life) {
    const Outcome outcome = live(actions, static_cast<int>(life) % ranks());
    if (outcome.status == ANADROME_OK) return expect_right(outcome);
    ASSERT_EQ(outcome.status, ANADROME_STOPPED) << outcome.message;
  }
  ADD_FAILURE() << "it does not come nearer to its end";
}

// The format's number in a journal's first bytes, and their sum (docs/format.md).
void set_format(const std::string& journal, std::uint32_t number) {
  std::fstream file(journal, std::ios::in | std::ios::out | std::ios::binary);
  std::array<char, 16> head = {};
  ASSERT_TRUE(file.read(head.data(), head.size()));
  std::memcpy(head.data() + 8, &number, sizeof number);
  const XXH128_hash_t sum = XXH3_128bits(head.data(), head.size());
  file.seekp(0);
  file.write(head.data(), head.size());
  file.write(reinterpret_cast<const char*>(&sum.low64), sizeof sum.low64);
  file.write(reinterpret_cast<const char*>(&sum.high64), sizeof sum.high64);
}

// What another version wrote, or another problem did, is refused and left as it is.
class Others : public Resume {};

TEST_P(Others, AreLeftAsTheyWere) {
  ASSERT_EQ(live(20, 0).status, ANADROME_STOPPED);
  char name[32];
  std::snprintf(name, sizeof name, "/anadrome/journal-%06d", rank());
  const std::string journal = directory() + name;
  set_format(journal, 77);
  MPI_Barrier(MPI_COMM_WORLD);
  const Outcome refused = live(-1, 0);
  EXPECT_EQ(refused.status, ANADROME_ERR_UNSUPPORTED);
  for (const char* words : {"format 77", "untouched"}) {
    EXPECT_TRUE(has_part(refused.message, words));
  }
  set_format(journal, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  anadrome_run* run = nullptr;
  anadrome_open(MPI_COMM_WORLD, &run);
  anadrome_set(run, "schedule", "async");
  anadrome_set(run, "resume", "on");
  anadrome_set(run, "directory", directory().c_str());
  add_array(run, "y", problem_.x);
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(has_part(anadrome_last_error(), "resume=off"));
  EXPECT_EQ(anadrome_close(&run), ANADROME_OK);
  const Outcome outcome = live(-1, 0);
  EXPECT_NE(outcome.phase, ANADROME_PHASE_IDLE);
  expect_right(outcome);
}

// A long reversal from memory has commits on the way, too.
class LongInterval : public Resume {};

TEST_P(LongInterval, IsCommittedBetweenItsAnchorsAndAgainWhenItWentOn) {
  const std::int64_t actions = live(-1, 0).actions;
  const Outcome first = live(actions * 3 / 4, 0);
  ASSERT_EQ(first.status, ANADROME_STOPPED) << first.message;
  const Outcome second = live(0, ranks() - 1);
  EXPECT_EQ(second.status, ANADROME_STOPPED) << second.message;
  const Outcome third = live(-1, 0);
  EXPECT_EQ(third.phase, ANADROME_PHASE_REVERSE);
  EXPECT_LT(third.step, second.step);
  EXPECT_LT(second.step, kSteps);
  EXPECT_EQ(first.adjoints + second.adjoints + third.adjoints, kSteps);
  expect_right(third);
}

std::string name_of(const testing::TestParamInfo<Setup>& info) { return info.param.name; }

const Setup kShared = {"shared", 700, {{"interval", "2"}, {"memory", "120KiB"}}};

// Without loss, of arrays, in other layouts and with n unknown it is simulated.
INSTANTIATE_TEST_SUITE_P(
    All, Resume,
    testing::Values(
        kShared,
        Setup{.name = "lossy_probed",
              .elements = 700,
              .options = {{"interval", "2"},
                          {"memory", "120KiB"},
                          {"compress", "round"},
                          {"tolerance", "1e-6"},
                          {"probe", "on"}},
              .lossy = true},
        Setup{.name = "lossy_long",
              .elements = 700,
              .options = {{"interval", "6"},
                          {"memory", "90KiB"},
                          {"compress", "zfp"},
                          {"tolerance", "1e-6"}},
              .lossy = true},
        Setup{.name = "lossy_exchanged",
              .elements = 140000,
              .options = {{"interval", "2"},
                          {"memory", "16MiB"},
                          {"compress", "round"},
                          {"tolerance", "1e-12"}},
              .exchanged = true,
              .lossy = true},
        Setup{"mpio",
              700,
              {{"interval", "3"}, {"memory", "120KiB"}, {"transport", kTransports.back()}}},
        Setup{.name = "fast_lost",
              .elements = 700,
              .options = {{"interval", "1"}, {"memory", "180KiB"}, {"layout", "rank,shared"}},
              .fast = Setup::Fast::kLost},
        Setup{.name = "fast_not_named_again",
              .elements = 700,
              .options = {{"interval", "2"}, {"memory", "180KiB"}},
              .fast = Setup::Fast::kNotNamedAgain}),
    name_of);
INSTANTIATE_TEST_SUITE_P(All, Others, testing::Values(kShared), name_of);
INSTANTIATE_TEST_SUITE_P(All, LongInterval,
                         testing::Values(Setup{
                             .name = "from_x_0",
                             .elements = 700,
                             .options = {{"interval", "100"}, {"memory", "120KiB"}},
                             .step_seconds = 5e-3}),
                         name_of);

}  // namespace
