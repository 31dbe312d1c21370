#include "heat_options.h"

#include <limits.h>
#include <string.h>

static int parse_grid(const char* text, void* into) {
  heat_options* options = into;
  const char* cross = strchr(text, 'x');
  int64_t nx, ny;
  if (cross == NULL || parse_count(text, cross, &nx) != 0 ||
      parse_count(cross + 1, cross + 1 + strlen(cross + 1), &ny) != 0)
    return -1;
  // MPI counts a row in an int; 2^48 cells are more than a machine holds, and their bytes fit in 64
  // bits.
  if (nx < 1 || ny < 1 || nx > INT_MAX || ny > INT_MAX || nx > ((int64_t)1 << 48) / ny) return -1;
  options->cells_x = nx;
  options->cells_y = ny;
  return 0;
}

static int parse_integrator(const char* text, void* into) {
  heat_options* options = into;
  for (int i = HEAT_EULER; i <= HEAT_RK4; ++i) {
    if (strcmp(text, heat_integrator_name((heat_integrator)i)) != 0) continue;
    options->integrator = (heat_integrator)i;
    return 0;
  }
  return -1;
}

#define FIELD(name) offsetof(heat_options, name)
static const flag flags[] = {
    {"grid", FLAG_OWN, 0, 0, "NXxNY", "cells of the unit square (256x256)", parse_grid},
    {"steps", FLAG_COUNT, FIELD(steps), 0, "N", "time steps (200)", NULL},
    {"integrator", FLAG_OWN, 0, 0, "euler|rk4", "how a step is done (euler)", parse_integrator},
    {"tape", FLAG_SWITCH, FIELD(tape), 0, NULL,
     "hand the stages of a step to anadrome (tape fields)", NULL},
    {"steps-unknown", FLAG_SWITCH, FIELD(steps_unknown), 0, NULL,
     "tell anadrome the number of steps only at the end", NULL},
    {"zero-copy", FLAG_SWITCH, FIELD(zero_copy), 0, NULL,
     "leave the memory of the state to anadrome (an exchanged field)", NULL},
    {"adaptive", FLAG_SWITCH, FIELD(adaptive), 0, NULL,
     "a hot spot that spreads; of a state only the cells that heat has reached are kept", NULL},
    {"callbacks", FLAG_SWITCH, FIELD(callbacks), 0, NULL, "use anadrome_solve, not anadrome_next",
     NULL},
    {"repeat", FLAG_COUNT, FIELD(repeat), 1, "R",
     "sweeps with one run object; same gradient bits each (1)", NULL},
    {"work", FLAG_COUNT, FIELD(work), 1, "W", "do the arithmetic of each step W times (1)", NULL},
    {"resume", FLAG_SWITCH, FIELD(resume), 0, NULL,
     "go on where the same command was stopped (SIGTERM, SIGUSR1) or killed", NULL},
    {"verify", FLAG_SWITCH, FIELD(verify), 0, NULL,
     "compare bitwise with a gradient computed without anadrome", NULL},
    {"taylor", FLAG_SWITCH, FIELD(taylor), 0, NULL, "Taylor remainder test of the gradient", NULL},
    {"dot-test", FLAG_SWITCH, FIELD(dot_test), 0, NULL,
     "test the adjoint steps against tangent steps", NULL},
    {"json", FLAG_TEXT, FIELD(json_file), 0, "FILE", "write the results to FILE", NULL},
    {"log", FLAG_TEXT, FIELD(log_file), 0, "FILE",
     "write every action of rank 0: start, end (s), kind, first, last", NULL},
    {"quiet", FLAG_SWITCH, FIELD(quiet), 0, NULL, "print nothing but errors", NULL},
    {"help", FLAG_SWITCH, FIELD(help), 0, NULL, "print this", NULL},
};
static const command_line line = {
    "heat_equation", "the gradient of a heat-equation problem, with its states kept by anadrome",
    flags, sizeof flags / sizeof flags[0]};

void heat_options_init(heat_options* options) {
  memset(options, 0, sizeof *options);
  options->cells_x = options->cells_y = 256;
  options->steps = 200;
  options->repeat = 1;
  options->work = 1;
  options->wrong_state = -1;
}

int heat_options_set(heat_options* options, const char* key, const char* value) {
  return settings_add(&options->library, key, value);
}

int heat_options_parse(heat_options* options, int argc, char** argv, char* message, size_t size) {
  return command_line_parse(&line, argc, argv, options, &options->library, message, size);
}

void heat_options_usage(FILE* file) { command_line_usage(&line, file); }
