// SPDX-License-Identifier: BSD-2-Clause
#include "count.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

enum Quantity {
  kOpen,
  kCreate,
  kUnlink,
  kRename,
  kStat,
  kSync,
  kNames,
  kReadBytes,
  kWrittenBytes,
  kMessages,
  kMessageBytes,
  kCollectives,
  kCommunicators,
  kHeap,
  kQuantities
};
constexpr std::array<const char*, kQuantities> kNamesOf = {
    "open",          "create",      "unlink",        "rename",        "stat",
    "sync",          "names",       "read_bytes",    "written_bytes", "messages",
    "message_bytes", "collectives", "communicators", "heap"};

using Counts = std::array<std::atomic<long>, kQuantities>;
// The watch thread works when its time has come, beside whatever the others do.
Counts counted{}, watch_counted{};
std::atomic<long> live_heap{0}, most_heap{0}, beats{0};
long heap_at_start = 0;

struct Phase {
  const char* name;
  std::array<long, kQuantities> most;
};
std::array<Phase, 64> phases;
int known = 0;

thread_local const bool is_main = ::getpid() == ::gettid();

// By its name, which it has from who started it: perhaps a little later.
bool find_whether_watch() {
  char name[16] = "", process[16] = "";
  FILE* const file = std::fopen("/proc/self/comm", "r");
  const bool found = file != nullptr && std::fscanf(file, "%15s", process) == 1;
  if (file != nullptr) std::fclose(file);
  constexpr int kTries = 200;
  for (int i = 0; i < kTries && found; ++i) {
    ::prctl(PR_GET_NAME, name);
    if (std::strcmp(name, process) != 0) break;
    ::usleep(1000);
  }
  return std::strcmp(name, "anadrome-watch") == 0;
}
bool is_watch() {
  if (is_main) return false;
  thread_local const bool watch = find_whether_watch();
  return watch;
}

void add(Quantity quantity, long count = 1) {
  (is_watch() ? watch_counted : counted)[quantity] += count;
}

// The I/O thread moves states whenever the disk is ready: only what the caller's thread moves
// belongs to a phase.
void add_bytes(Quantity quantity, long bytes) {
  if (is_main && bytes > 0) counted[quantity] += bytes;
  if (quantity == kWrittenBytes && is_watch()) ++beats;
}

template <class Function>
Function* behind(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#define BEHIND(name) static const auto next = behind<decltype(::name)>(#name)

void count_open(int flags) { add((flags & O_CREAT) != 0 ? kCreate : kOpen); }

void take(void* memory) {
  const long now = live_heap += static_cast<long>(::malloc_usable_size(memory));
  long most = most_heap;
  while (most < now && !most_heap.compare_exchange_weak(most, now)) {
  }
}

void keep(const char* name, const std::array<long, kQuantities>& values) {
  int i = 0;
  while (i < known && std::strcmp(phases[static_cast<std::size_t>(i)].name, name) != 0) ++i;
  if (i == static_cast<int>(phases.size())) std::abort();
  Phase& phase = phases[static_cast<std::size_t>(i)];
  if (i == known) phase = {name, values}, ++known;
  for (std::size_t q = 0; q < kQuantities; ++q)
    if (phase.most[q] < values[q]) phase.most[q] = values[q];
}

long bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<long>(count) * size;
}
void count_message(int count, MPI_Datatype type) {
  add(kMessages);
  add(kMessageBytes, bytes_of(count, type));
}
void count_collective(long bytes) {
  add(kCollectives);
  add(kMessageBytes, bytes);
}
// What a root takes from, or gives to, each rank.
long all_at_root(int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  return bytes_of(count, type) * (rank == root ? size : 1);
}

}  // namespace

// ---- the file system ----

extern "C" {

int open(const char* path, int flags, ...) {
  BEHIND(open);
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  count_open(flags);
  return next(path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  BEHIND(openat);
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  count_open(flags);
  return next(directory, path, flags, mode);
}
int mkdirat(int directory, const char* path, mode_t mode) {
  BEHIND(mkdirat);
  add(kCreate);
  return next(directory, path, mode);
}
int unlinkat(int directory, const char* path, int flags) {
  BEHIND(unlinkat);
  add(kUnlink);
  return next(directory, path, flags);
}
int unlink(const char* path) {
  BEHIND(unlink);
  add(kUnlink);
  return next(path);
}
int rename(const char* from, const char* to) {
  BEHIND(rename);
  add(kRename);
  return next(from, to);
}
int fstat(int file, struct stat* status) {
  BEHIND(fstat);
  add(kStat);
  return next(file, status);
}
int fstatat(int directory, const char* path, struct stat* status, int flags) {
  BEHIND(fstatat);
  add(kStat);
  return next(directory, path, status, flags);
}
int stat(const char* path, struct stat* status) {
  BEHIND(stat);
  add(kStat);
  return next(path, status);
}
int access(const char* path, int mode) {
  BEHIND(access);
  add(kStat);
  return next(path, mode);
}
int fsync(int file) {
  BEHIND(fsync);
  add(kSync);
  return next(file);
}
int fdatasync(int file) {
  BEHIND(fdatasync);
  add(kSync);
  return next(file);
}
struct dirent* readdir(DIR* directory) {
  BEHIND(readdir);
  add(kNames);
  return next(directory);
}
ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
  BEHIND(pread);
  const ssize_t done = next(file, bytes, count, offset);
  add_bytes(kReadBytes, done);
  return done;
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  BEHIND(pwrite);
  const ssize_t done = next(file, bytes, count, offset);
  add_bytes(kWrittenBytes, done);
  return done;
}

// ---- MPI ----

int MPI_Send(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  count_message(count, type);
  return PMPI_Send(bytes, count, type, to, tag, comm);
}
int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count_message(count, type);
  return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
int MPI_Recv(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  count_message(count, type);
  return PMPI_Recv(bytes, count, type, from, tag, comm, status);
}
int MPI_Irecv(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count_message(count, type);
  return PMPI_Irecv(bytes, count, type, from, tag, comm, request);
}
int MPI_Bcast(void* bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  count_collective(bytes_of(count, type));
  return PMPI_Bcast(bytes, count, type, root, comm);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  count_collective(bytes_of(count, type));
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  count_collective(bytes_of(count, type));
  return PMPI_Reduce(from, to, count, type, op, root, comm);
}
int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count_collective(bytes_of(count, type));
  return PMPI_Exscan(from, to, count, type, op, comm);
}
int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
               MPI_Datatype to_type, int root, MPI_Comm comm) {
  count_collective(all_at_root(count, type, root, comm));
  return PMPI_Gather(from, count, type, to, to_count, to_type, root, comm);
}
int MPI_Barrier(MPI_Comm comm) {
  count_collective(0);
  return PMPI_Barrier(comm);
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  count_collective(0);
  return PMPI_Ibarrier(comm, request);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  add(kCommunicators);
  return PMPI_Comm_dup(comm, made);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  add(kCommunicators);
  return PMPI_Comm_split(comm, color, key, made);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  add(kCommunicators);
  return PMPI_Comm_split_type(comm, type, key, info, made);
}

// ---- the phases ----

void scale_phase(const char* phase) {
  std::array<long, kQuantities> values;
  for (std::size_t q = 0; q < kQuantities; ++q) values[q] = counted[q].exchange(0);
  if (known == 0 && phase == nullptr) heap_at_start = live_heap;
  values[kHeap] = most_heap.exchange(live_heap) - heap_at_start;
  if (phase != nullptr) keep(phase, values);
}

long scale_created(void) { return counted[kCreate]; }

void scale_watched(const char* phase, long wanted) {
  beats = 0;
  for (std::atomic<long>& count : watch_counted) count = 0;
  while (beats < wanted) ::usleep(1000);
  std::array<long, kQuantities> values;
  // A beat more or less is under way.
  for (std::size_t q = 0; q < kQuantities; ++q) values[q] = (watch_counted[q] + beats / 2) / beats;
  values[kHeap] = most_heap.exchange(live_heap) - heap_at_start;
  keep(phase, values);
}

void scale_report(const char* path) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* const file = rank == 0 ? std::fopen(path, "w") : nullptr;
  if (rank == 0 && file == nullptr) PMPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) std::fputs("phase,quantity,rank_0,another,all\n", file);
  for (int i = 0; i < known; ++i) {
    const Phase& phase = phases[static_cast<std::size_t>(i)];
    for (std::size_t q = 0; q < kQuantities; ++q) {
      const long mine = phase.most[q], other = rank == 0 ? 0 : mine;
      long another = 0, all = 0;
      PMPI_Reduce(&other, &another, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
      PMPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank == 0)
        std::fprintf(file, "%s,%s,%ld,%ld,%ld\n", phase.name, kNamesOf[q], mine, another, all);
    }
  }
  if (rank == 0) std::fclose(file);
}

}  // extern "C"

// ---- the heap of C++, which is the library's: MPI and HDF5 are C ----

void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  take(memory);
  return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  if (memory != nullptr) take(memory);
  return memory;
}
void operator delete(void* memory) noexcept {
  live_heap -= static_cast<long>(::malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }
