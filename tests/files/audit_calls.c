// SPDX-License-Identifier: BSD-2-Clause
/* An auditor for the dynamic linker (LD_AUDIT): counts the calls of MPI and HDF5 functions through
 * any object's PLT, by whether the process's main thread or another one makes them, and the
 * transfers of the I/O thread. Writes the counts to <AUDIT_REPORT>.<pid> at the end. It lives in a
 * linker namespace of its own and uses system calls only. x86-64. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char io_thread[] = "anadrome-io";

enum { LIBRARY = 1, OTHER = 2 }; /* cookies: who calls */
static atomic_long main_calls, main_calls_of_library, io_calls, other_calls, io_transfers;
static char first_offender[128];

static int is_audited(const char* name) {
  return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0 ||
         strncmp(name, "H5", 2) == 0;
}

static int is_transfer(const char* name) {
  return strcmp(name, "syscall") == 0 || /* io_submit and its kin */
         strcmp(name, "pwrite") == 0 || strcmp(name, "pread") == 0 ||
         strcmp(name, "pwrite64") == 0 || strcmp(name, "pread64") == 0;
}

unsigned int la_version(unsigned int version) {
  (void)version;
  return LAV_CURRENT;
}

unsigned int la_objopen(struct link_map* map, Lmid_t namespace_id, uintptr_t* cookie) {
  (void)namespace_id;
  *cookie = strstr(map->l_name, "libanadrome.so") != NULL ? LIBRARY : OTHER;
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned int index, uintptr_t* from, uintptr_t* to,
                       unsigned int* flags, const char* name) {
  (void)index, (void)from, (void)to;
  *flags |= LA_SYMB_NOPLTEXIT;
  if (!is_audited(name) && !is_transfer(name)) *flags |= LA_SYMB_NOPLTENTER;
  return symbol->st_value;
}

static void note(const char* name, uintptr_t caller) {
  char thread[16] = "";
  if (syscall(SYS_gettid) == syscall(SYS_getpid)) {
    if (is_transfer(name)) return;
    atomic_fetch_add(&main_calls, 1);
    if (caller == LIBRARY) atomic_fetch_add(&main_calls_of_library, 1);
    return;
  }
  syscall(SYS_prctl, PR_GET_NAME, thread, 0, 0, 0);
  const int io = strcmp(thread, io_thread) == 0;
  if (is_transfer(name)) {
    if (io) atomic_fetch_add(&io_transfers, 1);
    return;
  }
  if (atomic_fetch_add(io ? &io_calls : &other_calls, 1) == 0)
    strncpy(first_offender, name, sizeof first_offender - 1);
}

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym* symbol, unsigned int index, uintptr_t* from,
                                  uintptr_t* to, La_x86_64_regs* registers, unsigned int* flags,
                                  const char* name, long* frame_size) {
  (void)index, (void)to, (void)registers, (void)flags, (void)frame_size;
  note(name, *from);
  return symbol->st_value;
}

__attribute__((destructor)) static void report(void) {
  char text[512], path[4096];
  const char* base = getenv("AUDIT_REPORT");
  if (base == NULL || atomic_load(&main_calls) == 0) return;
  snprintf(path, sizeof path, "%s.%ld", base, syscall(SYS_getpid));
  const int length = snprintf(
      text, sizeof text,
      "{\"main\": %ld, \"main_from_library\": %ld, \"io_thread\": %ld, \"other_threads\": %ld,"
      " \"io_transfers\": %ld, \"first_offender\": \"%s\"}\n",
      main_calls, main_calls_of_library, io_calls, other_calls, io_transfers, first_offender);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, text, (size_t)length) != length) _exit(99);
  close(file);
}
