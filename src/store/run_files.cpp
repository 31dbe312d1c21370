// SPDX-License-Identifier: BSD-2-Clause
#include "store/run_files.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "store/file_system.h"

namespace anadrome::store {

namespace {

bool is_numbered(std::string_view name, std::string_view start,
                 std::string_view digits = "0123456789") {
  return name.starts_with(start) && name.size() > start.size() &&
         name.find_first_not_of(digits, start.size()) == std::string_view::npos;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// At least one of these characters.
bool take_some(std::string_view& text, std::string_view of) {
  const std::size_t end = std::min(text.find_first_not_of(of), text.size());
  text.remove_prefix(end);
  return end > 0;
}

// segment-00000.h5, segment-copy-rank-000003.h5, objects-rank-000000.h5. A user's segment-left.h5
// is none.
bool is_state_file(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789", kLetters = "abcdefghijklmnopqrstuvwxyz";
  if (take(name, "objects-rank-")) return take_some(name, kDigits) && name == ".h5";
  if (!take(name, "segment-")) return false;
  if (!take(name, "copy") && !take_some(name, kDigits)) return false;
  if (name == ".h5") return true;
  return take(name, "-") && take_some(name, kLetters) && take(name, "-") &&
         take_some(name, kDigits) && name == ".h5";
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
