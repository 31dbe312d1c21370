/* The command line of heat_equation. */
#ifndef HEAT_OPTIONS_H
#define HEAT_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "command_line.h"
#include "heat_model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heat_options {
  int64_t cells_x, cells_y;
  int64_t steps;
  int steps_unknown; /**< tell anadrome the number of steps only when they are done */
  heat_integrator integrator;
  int tape;       /**< the stages of a step are tape fields */
  int64_t repeat; /**< sweeps with one run object */
  int64_t work;   /**< factor on the arithmetic of a step */
  int zero_copy;  /**< the state is an exchanged field */
  int adaptive;   /**< a hot spot, of whose states only the cells that heat has reached are kept */
  int callbacks;  /**< anadrome_solve instead of a loop over anadrome_next */
  int resume;     /**< go on where an earlier process was stopped */
  int verify, taylor, dot_test;
  int quiet, help;
  const char* json_file; /**< NULL: none */
  const char* log_file;  /**< NULL: none */
  settings library;      /**< options of anadrome */
  int64_t
      wrong_state; /**< for tests: this step's adjoint gets x_{k+1} for x_k; -1: none. No flag. */
} heat_options;

/** The defaults. */
void heat_options_init(heat_options* options);

/** Add an option for anadrome. Returns 0, or -1 if the key is too long or there are too many. */
int heat_options_set(heat_options* options, const char* key, const char* value);

/** Read the command line. Returns 0, or -1 and one line in `message`. */
int heat_options_parse(heat_options* options, int argc, char** argv, char* message, size_t size);

/** Print the flags. */
void heat_options_usage(FILE* file);

#ifdef __cplusplus
}
#endif

#endif
