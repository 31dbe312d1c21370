// SPDX-License-Identifier: BSD-2-Clause
// A model with fields of every kind, and a caller that keeps all states beside the library's: for
// states that come back changed.
#pragma once

#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace anadrome::test {

inline constexpr std::int64_t kSteps = 16;

// Steps do not spread an error, and enlarge it by 5 % at most.
struct LossyModel {
  std::vector<double> real, free;  ///< `free` has a tolerance of its own
  std::vector<float> single;
  std::vector<std::int64_t> integers;
  std::vector<char> packed;

  explicit LossyModel(std::size_t count)
      : real(count), free(count / 2), single(count), integers(count / 3), packed(1000) {}
  bool operator==(const LossyModel&) const = default;

  void start() {
    for (std::size_t i = 0; i < real.size(); ++i) real[i] = 5 + std::sin(1e-3 * double(i));
    for (std::size_t i = 0; i < free.size(); ++i) free[i] = std::cos(1e-3 * double(i));
    for (std::size_t i = 0; i < single.size(); ++i) single[i] = 1e-3F * float(i % 1000);
    for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = std::int64_t(i) << 40;
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = char(i % 100);
  }
  void step(std::int64_t k) {
    for (double& value : real) value += 0.05 * std::sin(value + double(k));
    for (double& value : free) value += 0.05 * std::sin(value - double(k));
    for (float& value : single) value += 0.05F * std::sin(value);
    for (std::int64_t& value : integers) value = 3 * value + k;
    for (char& value : packed) value = char(value * 7 + int(k));
  }
  static int pack(void* context, void* buffer, std::size_t bytes) {
    std::memcpy(buffer, static_cast<LossyModel*>(context)->packed.data(), bytes);
    return 0;
  }
  static int unpack(void* context, const void* buffer, std::size_t bytes) {
    std::memcpy(static_cast<LossyModel*>(context)->packed.data(), buffer, bytes);
    return 0;
  }
  void add_to(anadrome_run* run) {
    anadrome_add_field(run, "real", ANADROME_ROLE_STATE, ANADROME_FLOAT64, real.data(),
                       real.size());
    anadrome_add_field(run, "free", ANADROME_ROLE_STATE, ANADROME_FLOAT64, free.data(),
                       free.size());
    anadrome_add_field(run, "single", ANADROME_ROLE_STATE, ANADROME_FLOAT32, single.data(),
                       single.size());
    anadrome_add_field(run, "integers", ANADROME_ROLE_STATE, ANADROME_INT64, integers.data(),
                       integers.size());
    anadrome_add_packed(run, "packed", ANADROME_ROLE_STATE, packed.size(), pack, unpack, this);
    const auto count = static_cast<std::int64_t>(real.size());
    const std::int64_t sizes[] = {100, count / 100};
    EXPECT_EQ(anadrome_set_shape(run, "real", 2, sizes), ANADROME_OK) << anadrome_last_error();
    EXPECT_EQ(anadrome_set_tolerance(run, "free", 1e-3), ANADROME_OK) << anadrome_last_error();
  }
  // The largest difference of each field of real numbers.
  template <class Real>
  static double difference(const std::vector<Real>& some, const std::vector<Real>& others) {
    double most = 0;
    for (std::size_t i = 0; i < some.size(); ++i)
      most = std::max(most, std::abs(double(some[i]) - double(others[i])));
    return most;
  }
};

class LossySweep : public testing::Test {
 protected:
  // On one rank nothing.
  static std::size_t count() { return ranks() > 2 && rank() == 1 ? 0 : 60'000; }

  LossySweep() : model_(count()) {
    model_.start();
    states_.push_back(model_);
    for (std::int64_t k = 0; k < kSteps; ++k) {
      model_.step(k);
      states_.push_back(model_);
    }
  }

  // The states from which steps were adjoined.
  std::vector<LossyModel> sweep(anadrome_run* run) {
    std::vector<LossyModel> found;
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
    model_.start();
    anadrome_action action;
    bool forward_exact = true;
    for (;;) {
      if (anadrome_next(run, &action) != ANADROME_OK) {
        ADD_FAILURE() << anadrome_last_error();
        return found;
      }
      if (action.kind == ANADROME_DONE) break;
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < action.last; ++k) model_.step(k);
        forward_exact =
            forward_exact && (action.again != 0 || model_ == states_[std::size_t(action.last)]);
      }
      if (action.kind == ANADROME_ADJOINT) found.push_back(model_);
    }
    EXPECT_TRUE(forward_exact) << "only what is read is changed";
    EXPECT_TRUE(model_ == states_.front()) << "x_0 is the caller's";
    return found;
  }

  /// Integers and packed fields are exact; the largest difference of the fields `real`, `free` and
  /// `single`.
  std::array<double, 3> differences(const std::vector<LossyModel>& found) const {
    EXPECT_EQ(found.size(), std::size_t(kSteps));
    std::array<double, 3> most = {};
    for (std::size_t i = 0; i < found.size(); ++i) {
      const LossyModel& wanted = states_[std::size_t(kSteps) - 1 - i];
      EXPECT_TRUE(found[i].integers == wanted.integers && found[i].packed == wanted.packed);
      most[0] = std::max(most[0], LossyModel::difference(found[i].real, wanted.real));
      most[1] = std::max(most[1], LossyModel::difference(found[i].free, wanted.free));
      most[2] = std::max(most[2], LossyModel::difference(found[i].single, wanted.single));
    }
    return most;
  }

  LossyModel model_;
  std::vector<LossyModel> states_;
};

}  // namespace anadrome::test
