// SPDX-License-Identifier: BSD-2-Clause
// The common part of tests of single calls: a model of 20 steps that takes twice the least memory,
// and so goes to disk at every step.
#pragma once

#include <gtest/gtest.h>

#include "coupled_model.h"
#include "sweep_driver.h"

namespace anadrome::test {

class ShortSweep : public testing::Test {
 protected:
  ShortSweep();

  /// A run with fields and options, and with these.
  RunHandle prepared(const RunOptions& more = {});
  void expect_exact_sweep(RunHandle& run);
  /// Nothing is left in directory(). Collective.
  static void expect_no_files();

  static constexpr std::int64_t kSteps = 20;
  CoupledModel model_;
  const Reference reference_;
  const std::int64_t memory_;
};

}  // namespace anadrome::test
