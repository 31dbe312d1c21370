// SPDX-License-Identifier: BSD-2-Clause
#include "trial_limit.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace anadrome::test {
namespace {

char current_trial[512] = "";

// Async-signal-safe.
void say_and_end(int signal) {
  const char* what = signal == SIGALRM ? "HANG: " : "CRASH: ";
  for (const char* text : {what, static_cast<const char*>(current_trial), "\n"}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

class Limit : public testing::EmptyTestEventListener {
 public:
  explicit Limit(unsigned seconds) : seconds_(seconds) {}
  void OnTestStart(const testing::TestInfo& test) override {
    begin_trial(std::string(test.test_suite_name()) + "." + test.name(), seconds_);
  }
  void OnTestProgramEnd(const testing::UnitTest&) override { end_trials(); }

 private:
  const unsigned seconds_;
};

}  // namespace

void begin_trial(const std::string& trial, unsigned seconds) {
  for (const int signal : {SIGALRM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);  // a sanitizer says more
    if (now.sa_handler == SIG_DFL) ::signal(signal, say_and_end);
  }
  std::strncpy(current_trial, trial.c_str(), sizeof current_trial - 1);
  ::alarm(seconds);
}

void end_trials() { ::alarm(0); }

void limit_tests(unsigned seconds) {
  testing::UnitTest::GetInstance()->listeners().Append(new Limit(seconds));
}

}  // namespace anadrome::test
