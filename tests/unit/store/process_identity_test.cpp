// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/process_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/platform/platform.h"

namespace anadrome::store {
namespace {

// A process that stopped itself; ended with this.
class StoppedChild {
 public:
  StoppedChild() : pid_(::fork()) {
    if (pid_ == 0) {
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
  }
  ~StoppedChild() { kill_and_wait(); }
  StoppedChild(const StoppedChild&) = delete;
  StoppedChild& operator=(const StoppedChild&) = delete;

  // Killed, and not yet waited for.
  void kill() const {
    ::kill(pid_, SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
  }
  void kill_and_wait() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

ProcessIdentity identity_of(pid_t pid) {
  ProcessIdentity process = this_process();
  process.pid = pid;
  return process;
}

TEST(ProcessIdentity, OfThisProcessIsThatOfOneThatRuns) {
  const ProcessIdentity self = this_process();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_FALSE(self.host.empty());
  EXPECT_EQ(self.start == 0, platform::kPortable);
  EXPECT_EQ(state_of(self), ProcessState::kRuns);
}

TEST(ProcessIdentity, OfAnotherMachineIsOutOfSight) {
  ProcessIdentity process = this_process();
  process.machine += "2";
  EXPECT_EQ(state_of(process), ProcessState::kElsewhere);
  EXPECT_EQ(state_of({}), ProcessState::kElsewhere);
}

TEST(ProcessIdentity, IsNotThatOfALaterProcessWithTheSameNumber) {
  ProcessIdentity process = this_process();
  process.start -= 1;
  EXPECT_EQ(state_of(process), ProcessState::kGone);
}

TEST(ProcessIdentity, TellsStoppedFromEndedProcesses) {
  StoppedChild child;
  ProcessIdentity process = identity_of(child.pid());
  // It began within a second of its father, on a clock of 100 ticks.
  for (int ticks = 0; ticks < 100000 && state_of(process) == ProcessState::kGone; ++ticks) {
    ++process.start;
  }
  const bool told = !platform::kPortable;
  EXPECT_EQ(state_of(process), told ? ProcessState::kStopped : ProcessState::kRuns);
  child.kill();
  EXPECT_EQ(state_of(process), told ? ProcessState::kGone : ProcessState::kRuns);
  child.kill_and_wait();
  EXPECT_EQ(state_of(process), ProcessState::kGone);
}

}  // namespace
}  // namespace anadrome::store
