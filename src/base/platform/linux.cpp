// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <new>
#include <string_view>

#include "base/platform/platform.h"

namespace anadrome::platform {
namespace {

// The kernel's queue for transfers of one thread.
class Queue {
 public:
  Queue() {
    constexpr unsigned kDepth = 8;
    if (::syscall(SYS_io_setup, kDepth, &context_) != 0) context_ = 0;
  }
  ~Queue() {
    if (context_ != 0) ::syscall(SYS_io_destroy, context_);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  aio_context_t context() const { return context_; }

 private:
  aio_context_t context_ = 0;
};

aio_context_t queue() {
  thread_local const Queue queue;
  return queue.context();
}

// The text of one of the kernel's own files, which are no run's: "" if there is none.
std::string text_of(const std::string& path) {
  std::array<char, 1024> text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  return {text.data(), text.data() + std::max<ssize_t>(got, 0)};
}

std::string link_of(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return {target.data(), target.data() + std::max<ssize_t>(length, 0)};
}

std::string descriptor_link(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace

const bool kPortable = false;
const int kDirect = O_DIRECT, kPass = O_PATH, kNoReserve = MAP_NORESERVE;

bool start_transfer(TransferRoom& room, void* whose, bool write, int descriptor, void* bytes,
                    std::size_t count, off_t offset) {
  if (queue() == 0) return false;
  static_assert(sizeof(iocb) == sizeof room);
  iocb& request = *new (room.data()) iocb{};
  request.aio_data = reinterpret_cast<std::uintptr_t>(whose);
  request.aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
  request.aio_fildes = static_cast<std::uint32_t>(descriptor);
  request.aio_buf = reinterpret_cast<std::uintptr_t>(bytes);
  request.aio_nbytes = count;
  request.aio_offset = offset;
  iocb* requests[] = {&request};
  return ::syscall(SYS_io_submit, queue(), 1L, requests) == 1;
}

FinishedTransfer wait_for_transfer() {
  io_event event;
  while (::syscall(SYS_io_getevents, queue(), 1L, 1L, &event, nullptr) != 1) {
  }  // a signal
  return {reinterpret_cast<void*>(event.data), static_cast<ssize_t>(event.res)};
}

// Not posix_fallocate: where the file system cannot, that one writes page by page.
int allocate(int descriptor, off_t offset, off_t length) {
  int status;
  do {
    status = ::fallocate(descriptor, 0, offset, length);
  } while (status < 0 && errno == EINTR);
  return status < 0 ? -errno : 0;
}

void punch(int descriptor, off_t offset, off_t length) {
  (void)::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

void drop_cached(int descriptor, off_t offset, off_t length) {
  ::posix_fadvise(descriptor, offset, length, POSIX_FADV_DONTNEED);
}

void begin_writing(int descriptor, off_t offset, off_t length) {
  ::sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

bool in_memory(const char* path) {
  struct statfs about {};
  if (::statfs(path, &about) != 0) return false;
  const auto type = static_cast<std::uint32_t>(about.f_type);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

Extent next_data(int descriptor, off_t from, off_t /*length*/) {
  const off_t begin = ::lseek(descriptor, from, SEEK_DATA);
  if (begin < 0) return {-1, -1};  // ENXIO: only a hole is left
  return {begin, ::lseek(descriptor, begin, SEEK_HOLE)};
}

int make_scratch(std::string& path, off_t /*length*/) {
  path.resize(32);  // first: it may lack the memory
  const int made = ::memfd_create("anadrome-skeleton", MFD_CLOEXEC);
  if (made < 0) return -errno;
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", made);
  return made;
}

void remove_scratch(const std::string& /*path*/) {}  // it has no name

const char* path_of_open(int descriptor, std::span<char> room) {
  std::snprintf(room.data(), room.size(), "/proc/self/fd/%d", descriptor);
  return room.data();
}

std::string path_now(int directory) { return link_of(descriptor_link(directory)); }

std::string machine() {
  std::string boot = text_of("/proc/sys/kernel/random/boot_id");
  boot.resize(boot.find('\n') < boot.size() ? boot.find('\n') : boot.size());
  const std::string space = link_of("/proc/self/ns/pid");
  return boot.empty() || space.empty() ? "" : boot + "/" + space;
}

// proc(5): the name in parentheses may hold anything; of what follows it, the first field is the
// state and the twentieth the start time.
Process process(std::int64_t pid) {
  Process found;
  const std::string text = text_of("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return found;
  std::string_view rest = std::string_view(text).substr(name_end + 2);
  found.letter = rest.front();
  constexpr int kBeforeStart = 19;
  for (int i = 0; i < kBeforeStart; ++i) {
    const auto blank = rest.find(' ');
    if (blank == std::string_view::npos) return {};
    rest.remove_prefix(blank + 1);
  }
  std::from_chars(rest.data(), rest.data() + rest.size(), found.start);
  return found;
}

bool allowed_processors(std::span<std::uint64_t> bits) {
  return sched_getaffinity(0, bits.size_bytes(), reinterpret_cast<cpu_set_t*>(bits.data())) == 0;
}

void name_thread(pthread_t thread, const char* name) { pthread_setname_np(thread, name); }

void use_huge_pages(void* memory, std::size_t bytes) { ::madvise(memory, bytes, MADV_HUGEPAGE); }

void give_back(void* memory, std::size_t bytes) { ::madvise(memory, bytes, MADV_DONTNEED); }

// Not all kernels can.
bool populate(void* memory, std::size_t bytes) {
  return ::madvise(memory, bytes, MADV_POPULATE_WRITE) == 0;
}

}  // namespace anadrome::platform
