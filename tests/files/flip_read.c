// SPDX-License-Identifier: BSD-2-Clause
/* For LD_PRELOAD: one wrong restore. Flips one bit of one value in what the FLIP_READ-th large
 * pread from a segment reads (or "all": every one), on rank FLIP_RANK only (default 0). Says so in
 * the file FLIP_REPORT. There are no asynchronous transfers, which it would not see. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { LARGE = 4096 };

static int is_chosen_rank(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  const char* chosen = getenv("FLIP_RANK");
  return rank != NULL && strcmp(rank, chosen != NULL ? chosen : "0") == 0;
}

static int is_segment(int file) {
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  return readlink(link, path, sizeof path - 1) > 0 && strstr(path, "/segment-") != NULL;
}

static void flip(int file_read, void* bytes, ssize_t count) {
  static atomic_int seen;
  const char *which = getenv("FLIP_READ"), *report = getenv("FLIP_REPORT");
  if (count < LARGE || which == NULL || report == NULL || !is_chosen_rank() ||
      !is_segment(file_read))
    return;
  const int number = atomic_fetch_add(&seen, 1) + 1;
  if (strcmp(which, "all") != 0 && number != atoi(which)) return;
  /* Some bits below the leading ones of a double's mantissa. */
  ((unsigned char*)bytes)[count / 16 / 8 * 8 + 5] ^= 0x10;
  const int file = open(report, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, "flipped\n", 8) != 8) abort();
  close(file);
}

typedef ssize_t (*pread_function)(int, void*, size_t, off64_t);

static ssize_t read_and_flip(const char* name, int file, void* bytes, size_t size, off64_t offset) {
  pread_function next;
  void* found = dlsym(RTLD_NEXT, name);
  memcpy(&next, &found, sizeof next);
  const ssize_t count = next(file, bytes, size, offset);
  flip(file, bytes, count);
  return count;
}

ssize_t pread(int file, void* bytes, size_t size, off_t offset) {
  return read_and_flip("pread", file, bytes, size, offset);
}

ssize_t pread64(int file, void* bytes, size_t size, off64_t offset) {
  return read_and_flip("pread64", file, bytes, size, offset);
}

typedef long (*syscall_function)(long, ...);

long syscall(long number, ...) {
  if (number == SYS_io_setup) {
    errno = ENOSYS;
    return -1;
  }
  long words[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; ++i) words[i] = va_arg(arguments, long);
  va_end(arguments);
  syscall_function next;
  void* found = dlsym(RTLD_NEXT, "syscall");
  memcpy(&next, &found, sizeof next);
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
