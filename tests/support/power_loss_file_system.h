// SPDX-License-Identifier: BSD-2-Clause
// A file system whose power fails: what was not synced is kept, lost or torn, in any order.
//
// Until then everything is done on the real file system at once, and undone later as far as chance
// says: writes and lengths until their file is synced; entries of a directory (files and
// directories made or removed) until the directory is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "forwarding_file_system.h"

namespace anadrome::test {

class PowerLossFileSystem final : public ForwardingFileSystem {
 public:
  /// Files below `root` are lost; `grave`, an empty directory beside it, holds removed files.
  PowerLossFileSystem(std::string root, std::string grave);

  /// The power fails before operation number `at` (from 1): it and all later ones do nothing, and
  /// say EIO. 0: it does not fail.
  void fail_before(std::int64_t at);
  /// The power is back: call this when no file is open any more.
  void lose_what_was_not_synced(std::uint64_t seed);

  int open(const std::string& path, int flags, mode_t mode) override;
  int close(int descriptor) override;
  ssize_t write(int descriptor, const void* bytes, std::size_t count, off_t offset) override;
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override;
  void start(store::FileTransfer& transfer) override { FileSystem::start(transfer); }
  int allocate(int descriptor, off_t offset, off_t length) override;
  int truncate(int descriptor, off_t length) override;
  int sync(int descriptor) override;
  int lock(int descriptor) override;
  int make_directory(const std::string& path, mode_t mode) override;
  int remove_directory(const std::string& path) override;
  int unlink(const std::string& path) override;

 private:
  enum class Kind { kWrite, kLength, kCreate, kUnlink, kMakeDirectory, kRemoveDirectory };
  struct Change {
    Kind kind;
    std::size_t file = 0;   ///< in files_, unless a directory is made or removed
    std::string path = {};  ///< of an entry
    off_t offset = 0, length_before = 0, length_after = 0;
    std::vector<std::byte> before = {}, after = {};  ///< bytes from `offset` on
  };
  struct OpenFile {
    bool directory = false;
    std::size_t file = 0;
    std::string path;
  };

  /// Counts an operation; false: the power is off.
  bool has_power();
  bool is_below_root(const std::string& path) const { return path.rfind(root_ + "/", 0) == 0; }
  std::size_t file_at(const std::string& path);
  const OpenFile* tracked(int descriptor) const;
  int change_length(int descriptor, off_t length, bool allocates);
  std::string grave_of(std::size_t file) const { return grave_ + "/" + std::to_string(file); }
  void move(std::size_t file, const std::string& to);
  void undo(const Change& change);
  void redo_bytes(const Change& change, std::mt19937_64& random);
  void redo_entry(const Change& change);

  const std::string root_, grave_;
  mutable std::mutex mutex_;  // guards all of the below
  std::int64_t at_ = 0, operations_ = 0;
  bool off_ = false;
  std::vector<std::string> files_;  ///< where each file is now
  std::map<std::string, std::size_t> by_path_;
  std::map<int, OpenFile> open_;
  std::vector<Change> changes_;  ///< not synced, the oldest first
};

}  // namespace anadrome::test
