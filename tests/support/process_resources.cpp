// SPDX-License-Identifier: BSD-2-Clause
#include "process_resources.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace anadrome::test {
namespace {

namespace fs = std::filesystem;

// Whether the kernel is not done with ending this thread, or was while we looked. The kernel wakes
// pthread_join before it takes the thread out of /proc, and sets PF_EXITING before both.
bool is_ending(const fs::path& thread) {
  std::ifstream file(thread / "stat");
  std::string line;
  if (!std::getline(file, line)) return true;
  // The name, in brackets, may hold anything; after it: state, five numbers, flags.
  std::istringstream after_name(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 6; ++i) after_name >> skipped;
  constexpr std::uint64_t kExiting = 0x4;
  std::uint64_t flags = 0;
  after_name >> flags;
  return (flags & kExiting) != 0;
}

}  // namespace

Resources Resources::now() {
  Resources resources;
  resources.descriptors = std::distance(fs::directory_iterator("/proc/self/fd"), {});
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    if (!is_ending(thread.path())) ++resources.threads;
  }
  return resources;
}

}  // namespace anadrome::test
