// SPDX-License-Identifier: BSD-2-Clause
#include "store/run_files.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <regex>

#include "store/file_system.h"

namespace anadrome::store {

namespace {

bool is_numbered(std::string_view name, std::string_view start,
                 std::string_view digits = "0123456789") {
  return name.starts_with(start) && name.size() > start.size() &&
         name.find_first_not_of(digits, start.size()) == std::string_view::npos;
}

// segment-00000.h5, segment-copy-rank-000003.h5, objects-rank-000000.h5; .new: see
// DiskSpace::repack. A user's segment-left.h5 is none.
bool is_state_file(std::string_view name) {
  static const std::regex pattern(
      "(segment-([0-9]+|copy)(-[a-z]+-[0-9]+)?|objects-rank-[0-9]+)\\.h5(\\.new)?");
  return std::regex_match(name.begin(), name.end(), pattern);
}

}  // namespace

bool is_journal(std::string_view name) { return is_numbered(name, "journal-"); }

bool is_heartbeat_file(std::string_view name) {
  return is_numbered(name, kHeartbeatStem, "0123456789abcdef");
}

bool is_run_file(const std::string& name) {
  const std::string_view text = name;
  return text == kLockName || text == "states.h5" || is_journal(text) ||
         is_numbered(text, "adjoint-") || is_heartbeat_file(text) || is_state_file(text);
}

std::vector<std::string> files_in(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(path.c_str()), ::closedir);
  if (!listing) throw_errno(-errno, "list", path);
  errno = 0;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  if (errno != 0) throw_errno(-errno, "list", path);
  std::partition(names.begin(), names.end(), is_journal);
  return names;
}

}  // namespace anadrome::store
