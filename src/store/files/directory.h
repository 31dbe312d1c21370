// SPDX-License-Identifier: BSD-2-Clause
// A directory that is held open: what is done in it is done there, whoever renames it, puts a
// symbolic link in its place, or changes the process's working directory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/files/file_system.h"

namespace anadrome::store {

/// A file as the directory lists it; a symbolic link is not followed.
struct FileStatus {
  bool regular = false;
  uid_t owner = 0;
  nlink_t names = 0;
  std::int64_t bytes = 0;
  std::int64_t allocated = 0;  ///< bytes on disk, of which holes have none
  std::int64_t changed = 0;    ///< in seconds since 1970
  bool may_be_read = false;    ///< by its owner
};

/// The same for a file, or a directory, whatever its name is.
struct FileId {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const FileId&) const = default;
};
FileId id_of(const File& file);  ///< throws ERR_IO

/// Copies hold the same directory.
class Directory {
 public:
  Directory() = default;
  /// Throws ERR_ARGUMENT if something else is at `path`, a symbolic link too; ERR_IO.
  static Directory open(const std::string& path);
  /// `name` in the directory `parent`, which may be reached by symbolic links. None if there is
  /// none. Throws as open does.
  static std::optional<Directory> find(const std::string& parent, const std::string& name);
  /// The same, made if it is not there; `made` says so. Throws as open does.
  static Directory make(const std::string& parent, const std::string& name, bool& made);
  /// None: `name` in this one is no directory, or a symbolic link. Throws ERR_IO.
  std::optional<Directory> below(const std::string& name) const;

  explicit operator bool() const { return held_ != nullptr; }
  /// As it was asked for: for messages.
  const std::string& path() const { return held_->file.path(); }
  std::string path_of(std::string_view name) const { return path() + "/" + std::string(name); }
  uid_t owner() const { return held_->owner; }
  const FileId& id() const { return held_->id; }

  /// Throws as File::open does.
  File open_file(const std::string& name, int flags, mode_t mode = 0600) const {
    return File::open_in(held_->file.get(), path(), name, flags, mode);
  }
  /// As FileSystem::open and unlink. Whose file it is, RunFiles says.
  int try_open(const std::string& name, int flags) const;
  int unlink(const std::string& name) const;
  /// None: there is no such file, or nobody can tell.
  std::optional<FileStatus> status(const std::string& name) const;
  /// There is no such file; false: there is, or nobody can tell.
  bool lacks(const std::string& name) const;
  /// Another file than this one, which is open, has that name; false: nobody can tell.
  bool has_another(const std::string& name, const File& file) const;
  /// Throws ERR_IO.
  std::vector<std::string> names() const;
  /// Afterwards what was made and removed in it lasts through a power loss. Throws ERR_IO.
  void sync() const;
  void make_private() const;
  /// Remove the directory itself, which is empty, from wherever it is; not another that has its
  /// name by now. As FileSystem::remove_directory.
  int remove() const;

 private:
  struct Held {
    File file;
    uid_t owner = 0;
    FileId id;
  };
  static Directory hold(File file);
  std::shared_ptr<const Held> held_;
};

/// Where a file is or is to be: its name in a directory that is held, or a path.
class FilePlace {
 public:
  FilePlace(Directory directory, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)) {}
  FilePlace(std::string path) : name_(std::move(path)) {}

  /// For messages, and for whoever knows no directories that are held.
  std::string path() const { return directory_ ? directory_.path_of(name_) : name_; }
  const std::string& name() const { return name_; }
  /// Throws as File::open does.
  File open(int flags, mode_t mode = 0600) const;
  /// As FileSystem::open and unlink.
  int try_open(int flags) const;
  int unlink() const;
  /// There is no such file; false: there is, or nobody can tell.
  bool lacks() const;

 private:
  Directory directory_;
  std::string name_;
};

}  // namespace anadrome::store
