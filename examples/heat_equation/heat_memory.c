#include "heat_memory.h"

#include <stdio.h>
#include <string.h>

// A line such as "VmHWM:     1234 kB" of /proc/self/status, in bytes.
static int64_t status_bytes(const char* name) {
  const size_t length = strlen(name);
  long long kilobytes = -1;
  char line[256];
  FILE* file = fopen("/proc/self/status", "r");
  if (file == NULL) return -1;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, length) != 0) continue;
    if (sscanf(line + length, "%lld", &kilobytes) != 1) kilobytes = -1;
    break;
  }
  fclose(file);
  return kilobytes < 0 ? -1 : (int64_t)kilobytes * 1024;
}

int64_t heat_memory_start(void) {
  FILE* file = fopen("/proc/self/clear_refs", "w");
  if (file == NULL) return -1;
  const int written = fputs("5", file) >= 0;
  const int closed = fclose(file) == 0;
  return written && closed ? status_bytes("VmRSS:") : -1;
}

int64_t heat_memory_peak(void) { return status_bytes("VmHWM:"); }
