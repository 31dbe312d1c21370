// SPDX-License-Identifier: BSD-2-Clause
// What POSIX does not have: by linux.cpp, or without it by posix.cpp. CMake takes one of them
// (ANADROME_PORTABLE); nothing else of Linux's own is anywhere in src.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace anadrome::platform {

/// posix.cpp: the system is not asked what other systems have no answer to.
extern const bool kPortable;

// ---- files ----

/// Flags of open, 0 where there is none: leave the page cache out; a directory to go through alone.
extern const int kDirect, kPass;

/// Transfers that the system goes on with by itself, of the calling thread. False: it does not (a
/// kernel or a container without that, too many of them). `room` stays in place until it is done.
using TransferRoom = std::array<std::byte, 64>;
bool start_transfer(TransferRoom& room, void* whose, bool write, int descriptor, void* bytes,
                    std::size_t count, off_t offset);
/// Waits for one that was started.
struct FinishedTransfer {
  void* whose;
  ssize_t result;  ///< a negative errno
};
FinishedTransfer wait_for_transfer();

/// Reserves these bytes of a file; a negative errno.
int allocate(int descriptor, off_t offset, off_t length);
/// These bytes become zeros that take no room, where that can be had.
void punch(int descriptor, off_t offset, off_t length);
/// What the system has of these bytes in memory need not stay there; length 0: of all behind.
void drop_cached(int descriptor, off_t offset, off_t length);
/// The system begins to write what it has of these bytes.
void begin_writing(int descriptor, off_t offset, off_t length);
/// Is this a file system in memory? False where nobody can tell.
bool in_memory(const char* path);

/// The next bytes from `from` on that may be other than zeros; begin < 0: there are none.
struct Extent {
  off_t begin, end;
};
Extent next_data(int descriptor, off_t from, off_t length);

/// Makes a file for a short time, in memory if possible, that `path` opens and that may become so
/// long; a negative errno.
int make_scratch(std::string& path, off_t length);
void remove_scratch(const std::string& path);
/// What opens the file again that `descriptor` has open, wherever it is now; in `room`.
const char* path_of_open(int descriptor, std::span<char> room);
/// Where an open directory is by now; "": nobody can tell.
std::string path_now(int directory);

// ---- processes and processors ----

/// Whose numbers of processes mean the same, since one boot; "": unknown.
std::string machine();
struct Process {
  char letter = '\0';      ///< of proc(5); '\0': there is no such process
  std::int64_t start = 0;  ///< ticks after boot; 0: unknown
};
Process process(std::int64_t pid);
/// A bit for each processor that the calling thread may run on; false: unknown.
bool allowed_processors(std::span<std::uint64_t> bits);
void name_thread(pthread_t thread, const char* name);

// ---- memory ----

/// The flag of mmap for memory of which much may stay untouched; 0: there is none.
extern const int kNoReserve;
void use_huge_pages(void* memory, std::size_t bytes);
/// The pages are given back; what is read there next is zeros.
void give_back(void* memory, std::size_t bytes);
/// The pages are there from now on; false: at first use.
bool populate(void* memory, std::size_t bytes);

}  // namespace anadrome::platform
