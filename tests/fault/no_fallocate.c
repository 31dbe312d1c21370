// SPDX-License-Identifier: BSD-2-Clause
/* For LD_PRELOAD: a file system that cannot reserve space. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

static int unsupported(void) {
  errno = EOPNOTSUPP;
  return -1;
}

int fallocate(int file, int mode, off_t offset, off_t length) {
  (void)file, (void)mode, (void)offset, (void)length;
  return unsupported();
}

int fallocate64(int file, int mode, off64_t offset, off64_t length) {
  (void)file, (void)mode, (void)offset, (void)length;
  return unsupported();
}
