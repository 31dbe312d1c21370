// SPDX-License-Identifier: BSD-2-Clause
// Which process that is, so that another one can tell later whether it still lives.
#pragma once

#include <cstdint>
#include <string>

namespace anadrome::store {

struct ProcessIdentity {
  std::string host;  ///< for people
  std::string
      machine;  ///< a kernel since it was booted, and whose numbers of processes; "": unknown
  std::int64_t pid = 0;
  std::int64_t start = 0;  ///< ticks after boot: tells it from a later one with its number
};

ProcessIdentity this_process();

enum class ProcessState {
  kRuns,
  kStopped,   ///< by a signal or a debugger
  kGone,      ///< or ended and not yet waited for
  kElsewhere  ///< not to be seen from here: on another host, before a reboot, in another container
};

/// The state that the kernel reports.
ProcessState state_of(const ProcessIdentity& process);

}  // namespace anadrome::store
