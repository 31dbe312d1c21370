#include "heat_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef enum flag_kind {
  FLAG_SWITCH,      // no value; sets an int to 1
  FLAG_COUNT,       // a number not below `least`
  FLAG_GRID,        // NXxNY
  FLAG_TEXT,        // a string
  FLAG_LIBRARY,     // value of the anadrome option `key`
  FLAG_LIBRARY_ON,  // no value; anadrome option `key` = on
  FLAG_SET          // key=value for anadrome
} flag_kind;

typedef struct flag {
  const char* name;
  flag_kind kind;
  const char* key;  // of an anadrome option
  size_t offset;    // in heat_options
  int64_t least;
  const char* value_name;
  const char* help;
} flag;

#define FIELD(name) offsetof(heat_options, name)
static const flag flags[] = {
    {"grid", FLAG_GRID, NULL, 0, 0, "NXxNY", "cells of the unit square (256x256)"},
    {"steps", FLAG_COUNT, NULL, FIELD(steps), 0, "N", "time steps (200)"},
    {"memory", FLAG_LIBRARY, "memory", 0, 0, "SIZE", "memory for states per rank, e.g. 256MiB"},
    {"directory", FLAG_LIBRARY, "directory", 0, 0, "DIR", "where the state files go"},
    {"name", FLAG_LIBRARY, "name", 0, 0, "NAME", "the run's own directory in DIR"},
    {"schedule", FLAG_LIBRARY, "schedule", 0, 0, "S", "auto, store_all, revolve, async"},
    {"layout", FLAG_LIBRARY, "layout", 0, 0, "L", "shared, node, rank"},
    {"interval", FLAG_LIBRARY, "interval", 0, 0, "I", "steps between states on disk, or auto"},
    {"transport", FLAG_LIBRARY, "transport", 0, 0, "T", "direct, mpio"},
    {"direct", FLAG_LIBRARY, "direct", 0, 0, "D", "O_DIRECT: auto, on, off"},
    {"set", FLAG_SET, NULL, 0, 0, "KEY=VALUE", "any other option of anadrome (repeatable)"},
    {"progress", FLAG_LIBRARY_ON, "progress", 0, 0, NULL, "show a progress line"},
    {"keep", FLAG_LIBRARY_ON, "keep", 0, 0, NULL, "keep the state files"},
    {"steps-unknown", FLAG_SWITCH, NULL, FIELD(steps_unknown), 0, NULL,
     "tell anadrome the number of steps only at the end"},
    {"zero-copy", FLAG_SWITCH, NULL, FIELD(zero_copy), 0, NULL,
     "leave the memory of the state to anadrome (an exchanged field)"},
    {"callbacks", FLAG_SWITCH, NULL, FIELD(callbacks), 0, NULL,
     "use anadrome_solve, not anadrome_next"},
    {"repeat", FLAG_COUNT, NULL, FIELD(repeat), 1, "R",
     "sweeps with one run object; same gradient bits each (1)"},
    {"work", FLAG_COUNT, NULL, FIELD(work), 1, "W", "do the arithmetic of each step W times (1)"},
    {"verify", FLAG_SWITCH, NULL, FIELD(verify), 0, NULL,
     "compare bitwise with a gradient computed without anadrome"},
    {"taylor", FLAG_SWITCH, NULL, FIELD(taylor), 0, NULL, "Taylor remainder test of the gradient"},
    {"dot-test", FLAG_SWITCH, NULL, FIELD(dot_test), 0, NULL,
     "test the adjoint steps against tangent steps"},
    {"json", FLAG_TEXT, NULL, FIELD(json_file), 0, "FILE", "write the results to FILE"},
    {"log", FLAG_TEXT, NULL, FIELD(log_file), 0, "FILE",
     "write every action of rank 0: start, end (s), kind, first, last"},
    {"quiet", FLAG_SWITCH, NULL, FIELD(quiet), 0, NULL, "print nothing but errors"},
    {"help", FLAG_SWITCH, NULL, FIELD(help), 0, NULL, "print this"},
};
static const size_t flag_count = sizeof flags / sizeof flags[0];

void heat_options_init(heat_options* options) {
  memset(options, 0, sizeof *options);
  options->cells_x = options->cells_y = 256;
  options->steps = 200;
  options->repeat = 1;
  options->work = 1;
  options->wrong_state = -1;
}

static int add_setting(heat_options* options, const char* key, size_t length, const char* value) {
  if (options->setting_count == HEAT_MAX_SETTINGS || length == 0 || length >= HEAT_MAX_KEY)
    return -1;
  heat_setting* setting = &options->settings[options->setting_count++];
  memcpy(setting->key, key, length);
  setting->key[length] = '\0';
  setting->value = value;
  return 0;
}

int heat_options_set(heat_options* options, const char* key, const char* value) {
  return add_setting(options, key, strlen(key), value);
}

// A decimal number up to `end`, without sign or space.
static int parse_count(const char* text, const char* end, int64_t* count) {
  char* stop;
  if (*text < '0' || *text > '9') return -1;
  errno = 0;
  const long long number = strtoll(text, &stop, 10);
  if (errno != 0 || stop != end) return -1;
  *count = number;
  return 0;
}

static int parse_grid(const char* text, heat_options* options) {
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

static int takes_value(const flag* entry) { return entry->value_name != NULL; }

static int apply_flag(heat_options* options, const flag* entry, const char* value) {
  char* field = (char*)options + entry->offset;
  const char* equals;
  int64_t count;
  switch (entry->kind) {
    case FLAG_SWITCH:
      memcpy(field, &(int){1}, sizeof(int));
      return 0;
    case FLAG_COUNT:
      if (parse_count(value, value + strlen(value), &count) != 0 || count < entry->least) return -1;
      memcpy(field, &count, sizeof count);
      return 0;
    case FLAG_GRID:
      return parse_grid(value, options);
    case FLAG_TEXT:
      if (*value == '\0') return -1;
      memcpy(field, &value, sizeof value);
      return 0;
    case FLAG_LIBRARY:
      return heat_options_set(options, entry->key, value);
    case FLAG_LIBRARY_ON:
      return heat_options_set(options, entry->key, "on");
    case FLAG_SET:
      equals = strchr(value, '=');
      return equals == NULL ? -1
                            : add_setting(options, value, (size_t)(equals - value), equals + 1);
  }
  return -1;
}

static const flag* find_flag(const char* name, size_t length) {
  for (size_t f = 0; f < flag_count; ++f)
    if (strlen(flags[f].name) == length && strncmp(flags[f].name, name, length) == 0)
      return &flags[f];
  return NULL;
}

int heat_options_parse(heat_options* options, int argc, char** argv, char* message, size_t size) {
  for (int a = 1; a < argc; ++a) {
    const char* word = argv[a];
    if (strncmp(word, "--", 2) != 0) {
      snprintf(message, size, "unexpected argument '%s'", word);
      return -1;
    }
    const char* name = word + 2;
    const size_t length = strcspn(name, "=");
    const flag* entry = find_flag(name, length);
    if (entry == NULL) {
      snprintf(message, size, "unknown flag '--%.*s'", (int)length, name);
      return -1;
    }
    const char* value = name[length] == '=' ? name + length + 1 : NULL;
    if (!takes_value(entry) && value != NULL) {
      snprintf(message, size, "flag '--%s' takes no value", entry->name);
      return -1;
    }
    if (takes_value(entry) && value == NULL) {
      if (++a == argc) {
        snprintf(message, size, "flag '--%s' needs a value (%s)", entry->name, entry->value_name);
        return -1;
      }
      value = argv[a];
    }
    if (apply_flag(options, entry, value) == 0) continue;
    if (options->setting_count == HEAT_MAX_SETTINGS)
      snprintf(message, size, "more than %d options for anadrome", (int)HEAT_MAX_SETTINGS);
    else
      snprintf(message, size, "bad value '%s' of flag '--%s' (%s)", value, entry->name,
               entry->value_name);
    return -1;
  }
  return 0;
}

void heat_options_usage(FILE* file) {
  fprintf(
      file,
      "heat_equation: the gradient of a heat-equation problem, with its states kept by anadrome\n"
      "usage: mpirun -n RANKS heat_equation [flags]\n");
  for (size_t f = 0; f < flag_count; ++f) {
    char head[64];
    snprintf(head, sizeof head, "--%s %s", flags[f].name,
             takes_value(&flags[f]) ? flags[f].value_name : "");
    fprintf(file, "  %-20s %s\n", head, flags[f].help);
  }
  fprintf(file, "exit code: 0 fine, 1 wrong gradient, 2 usage, 3 anadrome reported an error\n");
}
