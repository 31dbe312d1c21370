// SPDX-License-Identifier: BSD-2-Clause
/* The command line of lorenz. */
#ifndef LORENZ_OPTIONS_H
#define LORENZ_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "command_line.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lorenz_options {
  int64_t steps;
  int64_t repeat;    /**< sweeps with one run object */
  int steps_unknown; /**< tell anadrome the number of steps only when they are done */
  int callbacks;     /**< anadrome_solve instead of a loop over anadrome_next */
  int verify, taylor, dot_test;
  int quiet, help;
  const char* json_file; /**< NULL: none */
  settings library;      /**< options of anadrome */
} lorenz_options;

/** The defaults. */
void lorenz_options_init(lorenz_options* options);

extern const command_line lorenz_command_line;

#ifdef __cplusplus
}
#endif

#endif
