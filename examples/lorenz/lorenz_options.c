// SPDX-License-Identifier: BSD-2-Clause
#include "lorenz_options.h"

#include <string.h>

#define FIELD(name) offsetof(lorenz_options, name)
static const flag flags[] = {
    {"steps", FLAG_COUNT, FIELD(steps), 0, "N", "time steps (10000000)", NULL},
    {"steps-unknown", FLAG_SWITCH, FIELD(steps_unknown), 0, NULL,
     "tell anadrome the number of steps only at the end", NULL},
    {"callbacks", FLAG_SWITCH, FIELD(callbacks), 0, NULL, "use anadrome_solve, not anadrome_next",
     NULL},
    {"repeat", FLAG_COUNT, FIELD(repeat), 1, "R",
     "sweeps with one run object; same gradient bits each (1)", NULL},
    {"verify", FLAG_SWITCH, FIELD(verify), 0, NULL,
     "compare bitwise with a gradient computed without anadrome", NULL},
    {"taylor", FLAG_SWITCH, FIELD(taylor), 0, NULL, "Taylor remainder test of the gradient", NULL},
    {"dot-test", FLAG_SWITCH, FIELD(dot_test), 0, NULL,
     "test the adjoint steps against tangent steps", NULL},
    {"json", FLAG_TEXT, FIELD(json_file), 0, "FILE", "write the results to FILE", NULL},
    {"quiet", FLAG_SWITCH, FIELD(quiet), 0, NULL, "print nothing but errors", NULL},
    {"help", FLAG_SWITCH, FIELD(help), 0, NULL, "print this", NULL},
};
const command_line lorenz_command_line = {
    "lorenz", "the gradient of a Lorenz-63 trajectory of many steps, each rank its own", flags,
    sizeof flags / sizeof flags[0]};

void lorenz_options_init(lorenz_options* options) {
  memset(options, 0, sizeof *options);
  options->steps = 10000000;
  options->repeat = 1;
}
