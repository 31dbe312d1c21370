// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/resume/notes_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"

namespace anadrome::petsc {
namespace {

struct Head {
  std::uint64_t count = 0;
  std::int64_t kind = 0;
  Checksum sum;
};

Checksum sum_of(std::int64_t kind, std::span<const std::byte> bytes) {
  ChecksumStream stream;
  stream.add_value(kind);
  stream.add(bytes.data(), bytes.size());
  return stream.finish();
}

}  // namespace

std::span<const std::byte> Reading::take(std::size_t count) {
  if (count > left_.size()) throw Error(ANADROME_ERR_CORRUPT, "an entry of the notes is too short");
  const std::span<const std::byte> taken = left_.first(count);
  left_ = left_.subspan(count);
  return taken;
}

// Its first entry, if there is one, says that it is one: a file of the user's stays as it is, and
// nothing is written to another's.
bool NotesFile::is_one(const store::File& file) {
  struct stat about;
  if (::fstat(file.get(), &about) != 0 || about.st_uid != ::geteuid()) return false;
  if (about.st_size == 0) return about.st_nlink == 1;  // another name is a user's
  bool is_whole = false;
  (void)failure_from([&] {
    Head head;
    file.read_all(&head, sizeof head, 0);
    if (head.count > static_cast<std::uint64_t>(about.st_size)) return;
    Bytes body(head.count);
    file.read_all(body.data(), body.size(), sizeof head);
    is_whole = sum_of(head.kind, body) == head.sum;
  });
  return is_whole;
}

void NotesFile::open_own(const std::string& path) {
  file_ = store::File::open(path, O_RDWR | O_CREAT);
  if (is_one(file_)) return;
  file_.close();
  throw Error(ANADROME_ERR_ARGUMENT,
              path + " exists, and no run made it; set another name or directory");
}

void NotesFile::create(const std::string& path) {
  open_own(path);
  if (const int cut = store::file_system().truncate(file_.get(), 0); cut != 0) {
    store::throw_errno(cut, "cut", path);
  }
  held_.clear();
  ends_.clear();
  end_ = 0;
}

std::vector<Entry> NotesFile::open(const std::string& path) {
  std::vector<Entry> entries;
  open_own(path);
  held_.clear();
  ends_.clear();
  end_ = 0;
  struct stat about;
  if (::fstat(file_.get(), &about) != 0) {
    store::throw_errno(-errno, "look at", path);
  }
  Bytes all(static_cast<std::size_t>(about.st_size));
  if (!all.empty()) file_.read_all(all.data(), all.size(), 0);
  for (std::size_t at = 0; all.size() - at >= sizeof(Head);) {
    Head head;
    std::memcpy(&head, all.data() + at, sizeof head);
    if (head.count > all.size() - at - sizeof head) break;
    const std::span body(all.data() + at + sizeof head, head.count);
    if (!(sum_of(head.kind, body) == head.sum)) break;
    entries.push_back({head.kind, Bytes(body.begin(), body.end())});
    at += sizeof head + head.count;
    ends_.push_back(static_cast<off_t>(at));
  }
  end_ = ends_.empty() ? 0 : ends_.back();
  return entries;
}

void NotesFile::keep_first(std::size_t count) {
  end_ = count == 0 ? 0 : ends_[count - 1];
  if (const int result = store::file_system().truncate(file_.get(), end_); result != 0) {
    store::throw_errno(result, "cut", file_.path());
  }
  ends_.clear();
}

void NotesFile::add(std::int64_t kind, const Bytes& bytes) {
  put(held_, Head{bytes.size(), kind, sum_of(kind, bytes)});
  put(held_, std::span<const std::byte>(bytes));
}

void NotesFile::flush() {
  constexpr double kShare = 0.05;  // of the time, at most, for syncs
  if (!held_.empty()) {
    file_.write_all(held_.data(), held_.size(), end_);
    end_ += static_cast<off_t>(held_.size());
    held_.clear();
    unsynced_ = true;
  }
  if (unsynced_ && (now_seconds() - synced_) * kShare >= sync_takes_) sync();
}

void NotesFile::sync() {
  const double start = now_seconds();
  file_.sync();
  synced_ = now_seconds();
  sync_takes_ = synced_ - start;
  unsynced_ = false;
}

void NotesFile::remove() {
  if (!file_) return;
  const std::string path = file_.path();
  file_.close();
  remove_at(path);
}

void NotesFile::remove_at(const std::string& path) {
  (void)failure_from([&] {
    if (is_one(store::File::open(path, O_RDONLY))) store::file_system().unlink(path);
  });
}

}  // namespace anadrome::petsc
