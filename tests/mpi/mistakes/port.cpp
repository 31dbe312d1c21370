// SPDX-License-Identifier: BSD-2-Clause
#include "port.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "mpi_main.h"

namespace anadrome::test {
namespace {

constexpr std::size_t kCells = 8192;

class Port {
 public:
  Port(Mistake mistake, const Settings& settings) : mistake_(mistake), settings_(settings) {
    for (std::size_t i = 0; settings.at_rest_for == 0 && i < kCells; ++i) {
      u()[i] = std::sin(0.01 * static_cast<double>(i) + rank());
      before()[i] = 0.99 * u()[i];
    }
  }

  void add_fields(anadrome_run* run) {
    const bool last = rank() == ranks() - 1;
    const std::size_t count = mistake_ == Mistake::kBoundaryValue && last ? kCells - 1 : kCells;
    if (settings_.packed_bytes > 0) {
      const auto pack = [](void* self, void* to, std::size_t) {
        std::memcpy(to, static_cast<Port*>(self)->u(), sizeof(double) * kCells);
        return 0;
      };
      const auto unpack = [](void* self, const void* from, std::size_t) {
        std::memcpy(static_cast<Port*>(self)->u(), from, sizeof(double) * kCells);
        return 0;
      };
      anadrome_add_packed(run, "u", ANADROME_ROLE_STATE, settings_.packed_bytes, pack, unpack,
                          this);
    } else {
      anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, u(), count);
    }
    double* second = before() - (mistake_ == Mistake::kOverlap ? 1 : 0);
    if (mistake_ != Mistake::kForgottenField) {
      anadrome_add_field(run, "before", ANADROME_ROLE_STATE, ANADROME_FLOAT64, second, kCells);
    }
    anadrome_add_field(run, "time", ANADROME_ROLE_STATE, ANADROME_INT64, &time_, 1);
    if (settings_.schedule == "mixed") {
      anadrome_add_field(run, "tape", ANADROME_ROLE_TAPE, ANADROME_FLOAT64, tape_.data(), kCells);
    }
  }

  void advance(const anadrome_action& action) {
    const bool all = mistake_ != Mistake::kFirstStepOnly;
    if (mistake_ == Mistake::kSkipsAgain && action.again != 0) return;
    for (std::int64_t k = action.first; k < (all ? action.last : action.first + 1); ++k) step();
    std::copy(u(), u() + kCells, tape_.begin());
  }
  double adjoint(bool from_tape) const { return from_tape ? tape_[7] : u()[7] * before()[8]; }

 private:
  double* u() { return values_.data() + u_; }
  double* before() { return values_.data() + before_; }
  const double* u() const { return values_.data() + u_; }
  const double* before() const { return values_.data() + before_; }

  void step() {
    if (settings_.at_rest_for == 0) ++time_;
    const bool at_rest = steps_taken_++ < settings_.at_rest_for;
    if (at_rest) return;
    if (mistake_ == Mistake::kLateField && time_ % 10 == 0) coefficient_ = 1e-3 * (1 + u()[7]);
    std::vector<double> next(kCells);
    for (std::size_t i = 0; i < kCells; ++i) {
      const double left = u()[(i + kCells - 1) % kCells], right = u()[(i + 1) % kCells];
      next[i] = 2 * u()[i] - before()[i] + 0.1 * (left - 2 * u()[i] + right) -
                coefficient_ * u()[i] * u()[i] * u()[i] + 1e-3;
    }
    if (rank() == ranks() - 1) disturb(next);
    if (mistake_ == Mistake::kSwappedLevels) {  // the newest takes the place of the oldest
      std::copy(next.begin(), next.end(), before());
      std::swap(u_, before_);
      return;
    }
    std::copy(u(), u() + kCells, before());
    if (mistake_ == Mistake::kSwappedArray) std::swap(u_, next_);
    std::copy(next.begin(), next.end(), u());
  }

  void disturb(std::vector<double>& next) {
    static std::int64_t calls = 0;
    if (mistake_ == Mistake::kStaticVariable) next[100] += 1e-6 * static_cast<double>(++calls);
    if (mistake_ == Mistake::kLateCounter && time_ > 20)
      next[100] += 1e-6 * static_cast<double>(++calls);
    std::uniform_real_distribution<double> between(-1, 1);
    if (mistake_ == Mistake::kRandomNumber) next[100] += 1e-6 * between(random_);
    if (mistake_ == Mistake::kRounding) {
      for (double& value : next) value *= 1 + 4e-16 * between(random_);
    }
  }

  const Mistake mistake_;
  const Settings settings_;
  std::vector<double> values_ = std::vector<double>(3 * kCells);
  std::size_t u_ = 0, before_ = kCells, next_ = 2 * kCells;  // in values_
  std::vector<double> tape_ = std::vector<double>(kCells);
  std::int64_t time_ = 0, steps_taken_ = 0;
  double coefficient_ = 1e-3;
  std::mt19937_64 random_{12345};
};

}  // namespace

PortOutcome run_port(Mistake mistake, const Settings& settings) {
  anadrome_run* run = nullptr;
  EXPECT_EQ(anadrome_open(MPI_COMM_WORLD, &run), ANADROME_OK) << anadrome_last_error();
  Port port(mistake, settings);
  anadrome_set(run, "schedule", settings.schedule.c_str());
  anadrome_set(run, "memory", settings.schedule == "store_all" ? "32MiB" : "2MiB");
  anadrome_set(run, "directory", directory().c_str());
  anadrome_set(run, "warnings", "off");
  for (const auto& [key, value] : settings.options) {
    EXPECT_EQ(anadrome_set(run, key.c_str(), value.c_str()), ANADROME_OK) << anadrome_last_error();
  }
  port.add_fields(run);
  PortOutcome outcome;
  outcome.begin =
      anadrome_begin(run, settings.unknown_steps ? ANADROME_STEPS_UNKNOWN : settings.steps);
  if (outcome.begin != ANADROME_OK) outcome.message = anadrome_last_error();
  for (anadrome_action action; outcome.begin == ANADROME_OK;) {
    outcome.sweep = anadrome_next(run, &action);
    if (outcome.sweep != ANADROME_OK) outcome.message = anadrome_last_error();
    if (outcome.sweep != ANADROME_OK || action.kind == ANADROME_DONE) break;
    if (action.kind == ANADROME_TURN) outcome.in_reverse = true;
    if (action.kind == ANADROME_ADJOINT)
      outcome.gradient += port.adjoint(settings.schedule == "mixed");
    if (action.kind != ANADROME_ADVANCE) continue;
    const bool ends = settings.unknown_steps && action.again == 0 && action.last >= settings.steps;
    if (ends) action.last = settings.steps;
    port.advance(action);
    outcome.forward_steps += action.last - action.first;
    if (!ends) continue;
    EXPECT_EQ(anadrome_finish_forward(run, settings.steps), ANADROME_OK);
  }
  outcome.stats.size = sizeof outcome.stats;
  anadrome_statistics(run, &outcome.stats);
  EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
  return outcome;
}

}  // namespace anadrome::test
