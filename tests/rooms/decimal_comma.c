/* SPDX-License-Identifier: BSD-2-Clause */
/* decimal_comma DIRECTORY: a sweep in a program that follows LC_ALL, where the point is a comma.
 * Prints what the library says. */
#include <anadrome/anadrome.h>
#include <locale.h>
#include <stdio.h>

enum { CELLS = 4000, STEPS = 300 };
static double x[CELLS], lambda[CELLS];

int main(int argc, char** argv) {
  anadrome_run* run;
  anadrome_action a;
  MPI_Init(&argc, &argv);
  if (argc != 2 || setlocale(LC_ALL, "") == NULL || localeconv()->decimal_point[0] != ',') {
    fprintf(stderr, "there is no decimal comma\n");
    return 2;
  }
  anadrome_open(MPI_COMM_SELF, &run);
  const char* const options[][2] = {{"directory", argv[1]},  {"memory", "2.5MiB"},
                                    {"disk", "1.5GB"},       {"bandwidth_limit", "99.5GB/s"},
                                    {"schedule", "async"},   {"interval", "7"},
                                    {"report", "-"},         {"compress", "round"},
                                    {"tolerance", "1.5e-6"}, {"wait_for_lock", "0.5"},
                                    {"passes", "1"}};
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i)
    if (anadrome_set(run, options[i][0], options[i][1]) != ANADROME_OK)
      printf("refused: %s\n", anadrome_last_error());
  if (anadrome_set(run, "tolerance", "1,5") == ANADROME_OK) printf("a comma was taken\n");
  anadrome_set(run, "tolerance", "1.5e-6");
  anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x, CELLS);
  for (int i = 0; i < CELLS; ++i) x[i] = 0.1 + 1e-4 * i;
  anadrome_status status = anadrome_begin(run, STEPS);
  while (status == ANADROME_OK && (status = anadrome_next(run, &a)) == ANADROME_OK &&
         a.kind != ANADROME_DONE) {
    if (a.kind == ANADROME_ADVANCE)
      for (int64_t k = a.first; k < a.last; ++k)
        for (int i = 0; i < CELLS; ++i) x[i] += 1e-3 * (x[i] - x[i] * x[i]);
    for (int i = 0; i < CELLS; ++i) {
      if (a.kind == ANADROME_TURN) lambda[i] = x[i];
      if (a.kind == ANADROME_ADJOINT) lambda[i] *= 1 + 1e-3 * (1 - 2 * x[i]);
    }
  }
  if (status != ANADROME_OK) printf("failed: %s\n", anadrome_last_error());
  anadrome_close(&run);
  MPI_Finalize();
  return status == ANADROME_OK ? 0 : 1;
}
