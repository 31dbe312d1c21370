// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/platform/platform.h"

namespace anadrome::platform {
namespace {

// POSIX leaves it open whether a system has posix_fallocate and posix_fadvise.
#if defined(_POSIX_ADVISORY_INFO) && _POSIX_ADVISORY_INFO > 0
int reserve(int descriptor, off_t offset, off_t length) {
  return -::posix_fallocate(descriptor, offset, length);
}
void forget(int descriptor, off_t offset, off_t length) {
  ::posix_fadvise(descriptor, offset, length, POSIX_FADV_DONTNEED);
}
#else
int reserve(int, off_t, off_t) { return -EOPNOTSUPP; }
void forget(int, off_t, off_t) {}
#endif

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// Of the descriptor `from`; nullptr: it may not be read.
Folder folder_at(int from, const char* name) {
  const int opened = ::openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  Folder folder(opened < 0 ? nullptr : ::fdopendir(opened));
  if (opened >= 0 && !folder) ::close(opened);
  return folder;
}

bool same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The name in `above` of what `inner` is; "": there is none. What is mounted there has another
// number in itself than in the list.
std::string name_in(DIR* above, dev_t device, const struct stat& inner) {
  while (const dirent* entry = ::readdir(above)) {
    std::string name = entry->d_name;
    if (name == "." || name == ".." || (device == inner.st_dev && entry->d_ino != inner.st_ino)) {
      continue;
    }
    struct stat status {};
    const int known = ::fstatat(::dirfd(above), name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
    if (known == 0 && same(status, inner)) return name;
  }
  return "";
}

}  // namespace

const bool kPortable = true;
const int kDirect = 0, kPass = 0, kNoReserve = 0;

// Transfers are synchronous.
bool start_transfer(TransferRoom&, void*, bool, int, void*, std::size_t, off_t) { return false; }
FinishedTransfer wait_for_transfer() { std::abort(); }  // none was started

int allocate(int descriptor, off_t offset, off_t length) {
  return reserve(descriptor, offset, length);
}
void punch(int, off_t, off_t) {}
void drop_cached(int descriptor, off_t offset, off_t length) { forget(descriptor, offset, length); }
void begin_writing(int, off_t, off_t) {}
bool in_memory(const char*) { return false; }

Extent next_data(int descriptor, off_t from, off_t length) {
  std::vector<char> bytes(std::size_t{1} << 16);
  while (from < length) {
    const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), from);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {from, length};  // whoever reads them learns why
    if (got == 0) break;
    const auto end = bytes.begin() + got;
    if (std::any_of(bytes.begin(), end, [](char byte) { return byte != 0; })) {
      return {from, from + got};
    }
    from += got;
  }
  return {-1, -1};
}

int make_scratch(std::string& path, off_t length) {
  const char* folder = std::getenv("TMPDIR");
  path = std::string(folder != nullptr ? folder : "/tmp") + "/anadrome-skeleton-XXXXXX";
  const int made = ::mkstemp(path.data());
  if (made < 0) return -errno;
  if (::fcntl(made, F_SETFD, FD_CLOEXEC) == 0 && ::ftruncate(made, length) == 0) return made;
  const int failed = errno;
  ::close(made);
  ::unlink(path.c_str());
  return -failed;
}

void remove_scratch(const std::string& path) { ::unlink(path.c_str()); }

// No POSIX, and in all systems: the BSDs have it, too.
const char* path_of_open(int descriptor, std::span<char> room) {
  std::snprintf(room.data(), room.size(), "/dev/fd/%d", descriptor);
  return room.data();
}

// From below: the name in each directory above.
std::string path_now(int directory) {
  std::string path;
  Folder here = folder_at(directory, ".");
  while (here) {
    Folder above = folder_at(::dirfd(here.get()), "..");
    struct stat inner {
    }, outer{};
    if (!above || ::fstat(::dirfd(here.get()), &inner) != 0 ||
        ::fstat(::dirfd(above.get()), &outer) != 0) {
      break;
    }
    if (same(inner, outer)) return path.empty() ? "/" : path;
    const std::string name = name_in(above.get(), outer.st_dev, inner);
    if (name.empty()) break;
    path.insert(0, "/" + name);
    here = std::move(above);
  }
  return "";
}

// Nothing tells two boots apart, nor two containers of one host's name.
std::string machine() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return "";
  return std::string(host.data()) + "/" + std::to_string(::gethostid());
}

// One that is stopped, or has ended and was not yet waited for, is there like any other; so is a
// later one that has its number.
Process process(std::int64_t pid) {
  const bool there = ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
  return {there ? 'R' : '\0', 0};
}

bool allowed_processors(std::span<std::uint64_t>) { return false; }
void name_thread(pthread_t, const char*) {}

void use_huge_pages(void*, std::size_t) {}
// What is mapped anew has no pages.
void give_back(void* memory, std::size_t bytes) {
  (void)::mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0);
}
bool populate(void*, std::size_t) { return false; }

}  // namespace anadrome::platform
