// SPDX-License-Identifier: BSD-2-Clause
#include "json_file.h"

#include <inttypes.h>
#include <math.h>

void json_put_text(FILE* file, const char* key, const char* text) {
  fprintf(file, "  \"%s\": \"", key);
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < 0x20)
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fprintf(file, "\",\n");
}

void json_put_integer(FILE* file, const char* key, int64_t value) {
  fprintf(file, "  \"%s\": %" PRId64 ",\n", key, value);
}

void json_put_number(FILE* file, const char* key, int known, double value) {
  if (known && isfinite(value))
    fprintf(file, "  \"%s\": %.17g,\n", key, value);
  else
    fprintf(file, "  \"%s\": null,\n", key);
}

void json_put_truth(FILE* file, const char* key, int value) {
  fprintf(file, "  \"%s\": %s,\n", key, value < 0 ? "null" : value ? "true" : "false");
}

void json_put_last_numbers(FILE* file, const char* key, const double* values, int count) {
  fprintf(file, "  \"%s\": [", key);
  for (int v = 0; v < count; ++v) fprintf(file, "%s%.17g", v > 0 ? ", " : "", values[v]);
  fprintf(file, "]\n");
}
