// SPDX-License-Identifier: BSD-2-Clause
#include "power_loss_file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace anadrome::test {
namespace {

namespace fs = std::filesystem;

off_t length_of(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? status.st_size : 0;
}

// A file by its path or by a link of /proc, without O_DIRECT.
class Hand {
 public:
  explicit Hand(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
  explicit Hand(int descriptor) : Hand("/proc/self/fd/" + std::to_string(descriptor)) {}
  ~Hand() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;

  std::vector<std::byte> read(off_t offset, std::size_t count) const {
    std::vector<std::byte> bytes(count);
    const ssize_t got = ::pread(descriptor_, bytes.data(), count, offset);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  void write(off_t offset, const std::byte* bytes, std::size_t count) const {
    if (::pwrite(descriptor_, bytes, count, offset) < 0) std::perror("power loss: write");
  }
  void set_length(off_t length) const {
    if (::ftruncate(descriptor_, length) != 0) std::perror("power loss: truncate");
  }
  off_t length() const { return length_of(descriptor_); }

 private:
  int descriptor_;
};

std::string parent_of(const std::string& path) { return fs::path(path).parent_path(); }

}  // namespace

PowerLossFileSystem::PowerLossFileSystem(std::string root, std::string grave)
    : root_(std::move(root)), grave_(std::move(grave)) {}

void PowerLossFileSystem::fail_before(std::int64_t at) {
  const std::lock_guard lock(mutex_);
  at_ = at;
  operations_ = 0;
  off_ = false;
  changes_.clear();
}

bool PowerLossFileSystem::has_power() {
  if (++operations_ == at_) off_ = true;
  return !off_;
}

std::size_t PowerLossFileSystem::file_at(const std::string& path) {
  const auto [found, fresh] = by_path_.try_emplace(path, files_.size());
  if (fresh) files_.push_back(path);
  return found->second;
}

const PowerLossFileSystem::OpenFile* PowerLossFileSystem::tracked(int descriptor) const {
  const auto found = open_.find(descriptor);
  return found != open_.end() && !found->second.directory ? &found->second : nullptr;
}

int PowerLossFileSystem::open(const std::string& path, int flags, mode_t mode) {
  const std::lock_guard lock(mutex_);
  if (!is_below_root(path) && path != root_) return real_.open(path, flags, mode);
  if (!has_power()) return -EIO;
  struct stat status {};
  const bool existed = ::lstat(path.c_str(), &status) == 0;
  const int descriptor = real_.open(path, flags, mode);
  if (descriptor < 0) return descriptor;
  OpenFile file = {existed && S_ISDIR(status.st_mode), 0, path};
  if (!file.directory) {
    file.file = file_at(path);
    if (!existed) changes_.push_back({.kind = Kind::kCreate, .file = file.file, .path = path});
  }
  open_[descriptor] = file;
  return descriptor;
}

int PowerLossFileSystem::close(int descriptor) {
  const std::lock_guard lock(mutex_);
  open_.erase(descriptor);
  return real_.close(descriptor);
}

ssize_t PowerLossFileSystem::write(int descriptor, const void* bytes, std::size_t count,
                                   off_t offset) {
  const std::lock_guard lock(mutex_);
  const OpenFile* file = tracked(descriptor);
  if (file == nullptr) return real_.write(descriptor, bytes, count, offset);
  if (!has_power()) return -EIO;
  Change change = {.kind = Kind::kWrite, .file = file->file, .path = file->path, .offset = offset};
  change.length_before = length_of(descriptor);
  change.before = Hand(descriptor).read(offset, count);
  const ssize_t written = real_.write(descriptor, bytes, count, offset);
  if (written <= 0) return written;
  const auto* from = static_cast<const std::byte*>(bytes);
  change.after.assign(from, from + written);
  change.length_after = length_of(descriptor);
  changes_.push_back(std::move(change));
  return written;
}

ssize_t PowerLossFileSystem::read(int descriptor, void* bytes, std::size_t count, off_t offset) {
  const std::lock_guard lock(mutex_);
  if (tracked(descriptor) != nullptr && !has_power()) return -EIO;
  return real_.read(descriptor, bytes, count, offset);
}

int PowerLossFileSystem::change_length(int descriptor, off_t length, bool allocates) {
  const OpenFile* file = tracked(descriptor);
  Change change = {.kind = Kind::kLength, .path = {}};
  if (file != nullptr) {
    if (!has_power()) return -EIO;
    change.file = file->file;
    change.length_before = length_of(descriptor);
    change.length_after = length;
    change.offset = length;
    if (length < change.length_before) {
      change.before =
          Hand(descriptor).read(length, static_cast<std::size_t>(change.length_before - length));
    }
  }
  const int status =
      allocates ? real_.allocate(descriptor, 0, length) : real_.truncate(descriptor, length);
  if (status < 0 || file == nullptr) return status;
  if (!allocates || length > change.length_before) changes_.push_back(std::move(change));
  return status;
}

int PowerLossFileSystem::allocate(int descriptor, off_t offset, off_t length) {
  const std::lock_guard lock(mutex_);
  return change_length(descriptor, offset + length, true);
}

int PowerLossFileSystem::truncate(int descriptor, off_t length) {
  const std::lock_guard lock(mutex_);
  return change_length(descriptor, length, false);
}

int PowerLossFileSystem::sync(int descriptor) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(descriptor);
  if (found == open_.end()) return real_.sync(descriptor);
  if (!has_power()) return -EIO;
  const OpenFile& synced = found->second;
  std::erase_if(changes_, [&](const Change& change) {
    const bool bytes = change.kind == Kind::kWrite || change.kind == Kind::kLength;
    if (synced.directory) return !bytes && parent_of(change.path) == synced.path;
    return bytes && change.file == synced.file;
  });
  return 0;
}

int PowerLossFileSystem::lock(int descriptor) {
  const std::lock_guard lock(mutex_);
  if (tracked(descriptor) != nullptr && !has_power()) return -EIO;
  return real_.lock(descriptor);
}

int PowerLossFileSystem::make_directory(const std::string& path, mode_t mode) {
  const std::lock_guard lock(mutex_);
  if (!is_below_root(path)) return real_.make_directory(path, mode);
  if (!has_power()) return -EIO;
  const int made = real_.make_directory(path, mode);
  if (made == 0) changes_.push_back({.kind = Kind::kMakeDirectory, .path = path});
  return made;
}

int PowerLossFileSystem::remove_directory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!is_below_root(path)) return real_.remove_directory(path);
  if (!has_power()) return -EIO;
  const int removed = real_.remove_directory(path);
  if (removed == 0) changes_.push_back({.kind = Kind::kRemoveDirectory, .path = path});
  return removed;
}

int PowerLossFileSystem::unlink(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!is_below_root(path)) return real_.unlink(path);
  if (!has_power()) return -EIO;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return -errno;
  const std::size_t file = file_at(path);
  by_path_.erase(path);
  move(file, grave_of(file));
  changes_.push_back({.kind = Kind::kUnlink, .file = file, .path = path});
  return 0;
}

void PowerLossFileSystem::move(std::size_t file, const std::string& to) {
  std::error_code failed;
  fs::rename(files_[file], to, failed);
  if (!failed) files_[file] = to;
}

void PowerLossFileSystem::undo(const Change& change) {
  std::error_code failed;
  switch (change.kind) {
    case Kind::kWrite:
    case Kind::kLength: {
      const Hand hand(files_[change.file]);
      hand.set_length(change.length_before);
      hand.write(change.offset, change.before.data(), change.before.size());
      return;
    }
    case Kind::kCreate:
      move(change.file, grave_of(change.file));
      return;
    case Kind::kUnlink:
      move(change.file, change.path);
      return;
    case Kind::kMakeDirectory:  // with whatever was synced in it: nobody finds it
      for (std::size_t file = 0; file < files_.size(); ++file) {
        if (parent_of(files_[file]) == change.path) move(file, grave_of(file));
      }
      fs::remove_all(change.path, failed);
      return;
    case Kind::kRemoveDirectory:
      fs::create_directory(change.path, failed);
      fs::permissions(change.path, fs::perms::owner_all, failed);
      return;
  }
}

// All of it, or whole sectors of it from its beginning or to its end, or only its length.
void PowerLossFileSystem::redo_bytes(const Change& change, std::mt19937_64& random) {
  const Hand hand(files_[change.file]);
  if (change.kind == Kind::kLength) {
    hand.set_length(change.length_after);
    return;
  }
  constexpr std::size_t kBlock = 512;
  const std::size_t count = change.after.size(), sectors = (count + kBlock - 1) / kBlock;
  std::size_t from = 0, end = count;
  switch (random() % 4) {
    case 0:
      end = std::min(count, random() % (sectors + 1) * kBlock);
      break;
    case 1:
      from = std::min(count, random() % (sectors + 1) * kBlock);
      break;
    case 2:
      if (random() % 2 == 0) end = 0;
      break;
    default:
      break;
  }
  if (hand.length() < change.length_after && end < count) hand.set_length(change.length_after);
  hand.write(change.offset + static_cast<off_t>(from), change.after.data() + from, end - from);
}

void PowerLossFileSystem::redo_entry(const Change& change) {
  std::error_code failed;
  switch (change.kind) {
    case Kind::kCreate:
      move(change.file, change.path);
      return;
    case Kind::kUnlink:
      if (files_[change.file] == change.path) move(change.file, grave_of(change.file));
      return;
    case Kind::kMakeDirectory:
      fs::create_directory(change.path, failed);
      fs::permissions(change.path, fs::perms::owner_all, failed);
      return;
    case Kind::kRemoveDirectory:
      fs::remove(change.path, failed);  // unless a file in it is still there
      return;
    default:
      return;
  }
}

void PowerLossFileSystem::lose_what_was_not_synced(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed);
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) undo(*change);
  // Some disks lose much, others little; and what they keep they write in their own order.
  const std::uint64_t kept_of_ten = random() % 11;
  std::vector<const Change*> bytes;
  for (const Change& change : changes_) {
    if (random() % 10 >= kept_of_ten) continue;
    if (change.kind == Kind::kWrite || change.kind == Kind::kLength) {
      bytes.push_back(&change);
    } else {
      redo_entry(change);
    }
  }
  std::shuffle(bytes.begin(), bytes.end(), random);
  for (const Change* change : bytes) redo_bytes(*change, random);
  changes_.clear();
  off_ = false;
  at_ = 0;
}

}  // namespace anadrome::test
