// SPDX-License-Identifier: BSD-2-Clause
// A trial that takes too long is a hang: the process says which one it was, and ends. Also when it
// crashes.
#pragma once

#include <string>

namespace anadrome::test {

void begin_trial(const std::string& trial, unsigned seconds = 120);
void end_trials();
/// Every test of this program is such a trial.
void limit_tests(unsigned seconds);

}  // namespace anadrome::test
