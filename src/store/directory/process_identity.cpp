// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/process_identity.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "base/index.h"

namespace anadrome::store {
namespace {

// The text of one of the kernel's own files, which are no run's: "" if there is none.
std::string text_of(const std::string& path) {
  std::array<char, 1024> text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  return got > 0 ? std::string(text.data(), size(got)) : "";
}

std::string host_name() {
  std::array<char, 65> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

// The numbers of processes mean the same on one kernel, since one boot, in one namespace.
std::string machine_name() {
  std::string boot = text_of("/proc/sys/kernel/random/boot_id");
  boot.resize(boot.find('\n') < boot.size() ? boot.find('\n') : boot.size());
  std::array<char, 64> space;
  const ssize_t got = ::readlink("/proc/self/ns/pid", space.data(), space.size());
  if (boot.empty() || got <= 0) return "";
  return boot + "/" + std::string(space.data(), size(got));
}

struct KernelState {
  char letter = '\0';  ///< '\0': there is no such process
  std::int64_t start = 0;
};

// proc(5): the name in parentheses may hold anything; of what follows it, the first field is the
// state and the twentieth the start time.
KernelState kernel_state(std::int64_t pid) {
  KernelState state;
  const std::string text = text_of("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return state;
  std::string_view rest = std::string_view(text).substr(name_end + 2);
  state.letter = rest.front();
  constexpr int kBeforeStart = 19;
  for (int i = 0; i < kBeforeStart; ++i) {
    const auto blank = rest.find(' ');
    if (blank == std::string_view::npos) return {};
    rest.remove_prefix(blank + 1);
  }
  std::from_chars(rest.data(), rest.data() + rest.size(), state.start);
  return state;
}

}  // namespace

ProcessIdentity this_process() {
  ProcessIdentity process;
  process.host = host_name();
  process.machine = machine_name();
  process.pid = ::getpid();
  process.start = kernel_state(process.pid).start;
  return process;
}

ProcessState state_of(const ProcessIdentity& process) {
  static const std::string here = machine_name();
  if (here.empty() || process.machine != here) return ProcessState::kElsewhere;
  const KernelState state = kernel_state(process.pid);
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
