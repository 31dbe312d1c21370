// SPDX-License-Identifier: BSD-2-Clause
// Random ports of random models, with one thing on which their steps depend and which is not
// registered, or with none: no gradient is wrong without an error, and no right port is accused.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

enum class Hidden { kNothing, kCounter, kRandom, kForgottenField, kLagged, kLastCell, kRounding };
constexpr int kKinds = 7;

double chosen(std::mt19937_64& random, std::initializer_list<double> from) {
  return from.begin()[random() % from.size()];
}

// x_i = unit_i z_i, and dz_i/dt = (z_i - z_i^3) (1 + hidden) + (z_{i+1} - z_i) / 2 where the cell
// and its neighbour are wet.
class RandomPort {
 public:
  explicit RandomPort(unsigned seed) : random_(seed) {
    hidden_ = static_cast<Hidden>(random_() % kKinds);
    cells_ = 2 + random_() % 300;
    steps_ = 2 + static_cast<std::int64_t>(random_() % 70);
    part_ = std::pow(10.0, -2.0 - static_cast<double>(random_() % 5));
    const double fill = chosen(random_, {0, -999, 1e16, 1e20, 9.97e36, 1e200, 1e300,
                                         std::numeric_limits<double>::quiet_NaN(), 5e-324});
    const double unit = chosen(random_, {1, 1, 1e5, 1e-6, 1e-290, 1e290});
    const std::uint64_t every = 2 + random_() % 9;
    only_ = random_() % 2 == 0 ? cells_ : random_() % cells_;  // the cell that depends on it: all
    x_.resize(cells_);
    y_.assign(cells_, 0.5);
    unit_.assign(cells_, 1);
    for (std::size_t i = 0; i < cells_; ++i) {
      wet_.push_back(i % every != 1);
      if (i % 3 == 0) unit_[i] = unit;
      x_[i] =
          wet_[i] ? unit_[i] * (0.3 + 0.5 * std::sin(0.1 * static_cast<double>(i) + rank())) : fill;
    }
    if (only_ < cells_ && !wet_[only_]) only_ = cells_;
    // A number that is not registered shows if others depend on it.
    if (hidden_ == Hidden::kLastCell && !flows(cells_ - 2)) hidden_ = Hidden::kNothing;
  }
  void add_fields(anadrome_run* run) {
    const std::size_t missing = hidden_ == Hidden::kLastCell ? 1 : 0;
    anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x_.data(),
                       static_cast<std::int64_t>(cells_ - missing));
    add_number(run, "k", k_);
  }
  void advance(const anadrome_action& action) {
    for (std::int64_t k = action.first; k < action.last; ++k) step(action.again == 0);
  }
  void turn() { lambda_.assign(cells_, 1); }
  void adjoint() { reverse(lambda_, x_, hidden_now()); }
  /// With every state, and the hidden thing, of the forward sweep.
  bool is_right() const {
    std::vector<double> lambda(cells_, 1);
    for (std::size_t k = states_.size(); k-- > 0;) reverse(lambda, states_[k], hiddens_[k]);
    double far = 0;
    for (std::size_t i = 0; i < cells_; ++i)
      if (wet_[i]) far = std::max(far, std::abs(lambda[i] / lambda_[i] - 1));
    return far < 1e-11;
  }
  bool is_right_port() const { return hidden_ == Hidden::kNothing || hidden_ == Hidden::kRounding; }
  std::int64_t steps() const { return steps_; }
  int kind() const { return static_cast<int>(hidden_); }
  /// Renewed every few steps: it is right again in a step that is run again from such a step on.
  bool is_renewed() const { return hidden_ == Hidden::kLagged; }

 private:
  double hidden_now() const {
    switch (hidden_) {
      case Hidden::kCounter:
        return part_ * std::sin(0.1 * static_cast<double>(calls_));
      case Hidden::kRandom:
        return part_ * std::uniform_real_distribution<double>(-1, 1)(drawn_);
      case Hidden::kForgottenField:
        return part_ * y_[0];
      case Hidden::kLagged:
        return part_ * lagged_;
      default:
        return 0;
    }
  }
  bool flows(std::size_t cell) const { return cell + 1 < cells_ && wet_[cell] && wet_[cell + 1]; }
  bool depends(std::size_t cell) const { return only_ == cells_ || cell == only_; }
  void step(bool first_time) {
    if (hidden_ == Hidden::kLagged && k_ % 5 == 0) lagged_ = x_[0] / unit_[0];
    const double c = hidden_now();
    if (first_time) {
      states_.push_back(x_);
      hiddens_.push_back(c);
    }
    std::uniform_real_distribution<double> between(-1, 1);
    for (std::size_t i = 0; i < cells_; ++i) {
      if (!wet_[i]) continue;
      const double z = x_[i] / unit_[i];
      const double flow = flows(i) ? 0.5 * (x_[i + 1] / unit_[i + 1] - z) : 0;
      x_[i] += unit_[i] * 1e-2 * ((z - z * z * z) * (1 + (depends(i) ? c : 0)) + flow);
      if (hidden_ == Hidden::kRounding) x_[i] *= 1 + 4e-16 * between(drawn_);
      y_[i] += 1e-2 * z;
    }
    ++calls_;
    ++k_;
  }
  void reverse(std::vector<double>& lambda, const std::vector<double>& x, double c) const {
    for (std::size_t i = cells_; i-- > 0;) {  // lambda_{i-1} is still that of the next state
      const double z = x[i] / unit_[i];
      if (wet_[i]) {
        lambda[i] *=
            1 + 1e-2 * ((1 - 3 * z * z) * (1 + (depends(i) ? c : 0)) - (flows(i) ? 0.5 : 0));
      }
      if (i > 0 && flows(i - 1)) lambda[i] += 1e-2 * 0.5 * lambda[i - 1];
    }
  }

  std::mt19937_64 random_;
  mutable std::mt19937_64 drawn_{5};
  Hidden hidden_ = Hidden::kNothing;
  std::size_t cells_ = 0, only_ = 0;
  std::int64_t steps_ = 0, calls_ = 0, k_ = 0;
  double part_ = 0, lagged_ = 0;
  std::vector<double> x_, y_, unit_, lambda_;
  std::vector<bool> wet_;
  std::vector<std::vector<double>> states_;
  std::vector<double> hiddens_;
};

TEST(RandomPorts, AreRightOrRefused) {
  const char* const full = std::getenv("ANADROME_TEST_FULL");
  const unsigned ports = full != nullptr && std::string(full) == "1" ? 2000 : 500;
  unsigned refused = 0, right = 0, unseen = 0;
  for (unsigned seed = 0; seed < ports; ++seed) {
    RandomPort port(seed);
    std::mt19937_64 random(seed + 77777);
    RunHandle run(MPI_COMM_WORLD);
    const char* const schedules[] = {"auto", "auto", "store_all", "revolve", "async"};
    const char* const memories[] = {"40KiB", "100KiB", "4MiB"};
    const char* const schedule = schedules[random() % 5];
    const char* const memory = memories[random() % 3];
    run.set("schedule", schedule);
    run.set("memory", std::string(schedule) == "store_all" ? "4MiB" : memory);
    port.add_fields(run);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + schedule + " " + memory + " hidden " +
                 std::to_string(port.kind()));
    const anadrome_status begun = anadrome_begin(run, port.steps());
    ASSERT_EQ(begun, ANADROME_OK) << anadrome_last_error();
    const anadrome_status status = follow(run, begun, [&](const anadrome_action& action) {
      if (action.kind == ANADROME_ADVANCE) port.advance(action);
      if (action.kind == ANADROME_TURN) port.turn();
      if (action.kind == ANADROME_ADJOINT) port.adjoint();
    });
    if (port.is_right_port()) {
      EXPECT_EQ(status, ANADROME_OK) << anadrome_last_error();
      ++right;
    }
    if (status == ANADROME_OK) {
      const bool is_right = port.is_right();
      EXPECT_TRUE(is_right || port.is_renewed());
      unseen += is_right ? 0U : 1U;
    } else {
      EXPECT_EQ(status, ANADROME_ERR_NONDETERMINISTIC) << anadrome_last_error();
      ++refused;
    }
    EXPECT_EQ(run.close(), ANADROME_OK);
  }
  EXPECT_GT(refused, ports / 4);
  EXPECT_LE(unseen, ports / 100) << "all renewed where steps are run again from";
  EXPECT_GT(right, ports / 5);
}

}  // namespace
}  // namespace anadrome::test
