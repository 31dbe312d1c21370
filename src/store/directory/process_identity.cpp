// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/process_identity.h"

#include <unistd.h>

#include <array>

#include "base/platform/platform.h"

namespace anadrome::store {
namespace {

std::string host_name() {
  std::array<char, 65> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

}  // namespace

ProcessIdentity this_process() {
  ProcessIdentity process;
  process.host = host_name();
  process.machine = platform::machine();
  process.pid = ::getpid();
  process.start = platform::process(process.pid).start;
  return process;
}

ProcessState state_of(const ProcessIdentity& process) {
  static const std::string here = platform::machine();
  if (here.empty() || process.machine != here) return ProcessState::kElsewhere;
  const platform::Process state = platform::process(process.pid);
  if (state.letter == '\0' || state.start != process.start) return ProcessState::kGone;
  switch (state.letter) {
    case 'T':
    case 't':
      return ProcessState::kStopped;
    case 'Z':
    case 'X':
      return ProcessState::kGone;
    default:
      return ProcessState::kRuns;
  }
}

}  // namespace anadrome::store
