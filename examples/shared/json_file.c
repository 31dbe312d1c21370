#include "json_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

int json_open(MPI_Comm comm, const char* program, const char* name, FILE** file) {
  int fine = 1, rank;
  MPI_Comm_rank(comm, &rank);
  *file = NULL;
  if (rank == 0 && name != NULL) {
    *file = fopen(name, "w");
    fine = *file != NULL;
    if (!fine)
      fprintf(stderr, "%s: cannot write '%s' (--json): %s\n", program, name, strerror(errno));
  }
  MPI_Bcast(&fine, 1, MPI_INT, 0, comm);
  return fine;
}

int json_close(MPI_Comm comm, const char* program, const char* name, FILE* file) {
  int fine = 1;
  if (file != NULL) {
    fine = ferror(file) == 0;
    if (fclose(file) != 0) fine = 0;
    if (!fine)
      fprintf(stderr, "%s: could not write '%s' (--json): %s\n", program, name, strerror(errno));
  }
  MPI_Bcast(&fine, 1, MPI_INT, 0, comm);
  return fine;
}

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
