// SPDX-License-Identifier: BSD-2-Clause
#include "command_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct library_flag {
  const char* name;        // of the option, too
  const char* value_name;  // NULL: no value; the option is set to `on`
  const char* help;
} library_flag;

static const library_flag library_flags[] = {
    {"memory", "SIZE", "memory for states per rank, e.g. 256MiB"},
    {"directory", "DIR", "where the state files go"},
    {"name", "NAME", "the run's own directory in DIR"},
    {"schedule", "S", "auto, store_all, revolve, async, ... (docs/options.md)"},
    {"layout", "L", "shared, node, rank"},
    {"interval", "I", "steps between states on disk, or auto"},
    {"transport", "T", "auto, direct, buffered, mpio"},
    {"progress", NULL, "show a progress line"},
    {"trace", "FILE", "write what every rank did when to FILE, for anadrome timeline"},
    {"keep", NULL, "keep the state files"},
    {"set", "KEY=VALUE", "any other option of anadrome (repeatable)"},
};
static const size_t library_flag_count = sizeof library_flags / sizeof library_flags[0];

static int add_setting(settings* all, const char* key, size_t length, const char* value) {
  if (all->count == SETTINGS_MOST || length == 0 || length >= SETTING_KEY_BYTES) return -1;
  setting* added = &all->list[all->count++];
  memcpy(added->key, key, length);
  added->key[length] = '\0';
  added->value = value;
  return 0;
}

int settings_add(settings* all, const char* key, const char* value) {
  return add_setting(all, key, strlen(key), value);
}

anadrome_status settings_apply(const settings* all, anadrome_run* run) {
  anadrome_status status = ANADROME_OK;
  for (int s = 0; s < all->count && status == ANADROME_OK; ++s)
    status = anadrome_set(run, all->list[s].key, all->list[s].value);
  return status;
}

int parse_count(const char* text, const char* end, int64_t* count) {
  char* stop;
  if (*text < '0' || *text > '9') return -1;
  errno = 0;
  const long long number = strtoll(text, &stop, 10);
  if (errno != 0 || stop != end) return -1;
  *count = number;
  return 0;
}

static int apply_flag(const flag* entry, const char* value, void* options) {
  char* field = (char*)options + entry->offset;
  int64_t count;
  switch (entry->kind) {
    case FLAG_SWITCH:
      memcpy(field, &(int){1}, sizeof(int));
      return 0;
    case FLAG_COUNT:
      if (parse_count(value, value + strlen(value), &count) != 0 || count < entry->least) return -1;
      memcpy(field, &count, sizeof count);
      return 0;
    case FLAG_TEXT:
      if (*value == '\0') return -1;
      memcpy(field, &value, sizeof value);
      return 0;
    case FLAG_OWN:
      return entry->parse(value, options);
  }
  return -1;
}

static int apply_library_flag(const library_flag* entry, const char* value, settings* library) {
  if (strcmp(entry->name, "set") != 0)
    return settings_add(library, entry->name, value != NULL ? value : "on");
  const char* equals = strchr(value, '=');
  if (equals == NULL) return -1;
  return add_setting(library, value, (size_t)(equals - value), equals + 1);
}

static int is_name(const char* name, const char* word, size_t length) {
  return strlen(name) == length && strncmp(name, word, length) == 0;
}

static const flag* find_flag(const command_line* line, const char* word, size_t length) {
  for (size_t f = 0; f < line->flag_count; ++f)
    if (is_name(line->flags[f].name, word, length)) return &line->flags[f];
  return NULL;
}

static const library_flag* find_library_flag(const char* word, size_t length) {
  for (size_t f = 0; f < library_flag_count; ++f)
    if (is_name(library_flags[f].name, word, length)) return &library_flags[f];
  return NULL;
}

int command_line_parse(const command_line* line, int argc, char** argv, void* options,
                       settings* library, char* message, size_t size) {
  for (int a = 1; a < argc; ++a) {
    const char* word = argv[a];
    if (strncmp(word, "--", 2) != 0) {
      snprintf(message, size, "unexpected argument '%s'", word);
      return -1;
    }
    const char* name = word + 2;
    const int length = (int)strcspn(name, "=");
    const flag* own = find_flag(line, name, (size_t)length);
    const library_flag* other = own == NULL ? find_library_flag(name, (size_t)length) : NULL;
    if (own == NULL && other == NULL) {
      snprintf(message, size, "unknown flag '--%.*s'", length, name);
      return -1;
    }
    const char* value_name = own != NULL ? own->value_name : other->value_name;
    const char* value = name[length] == '=' ? name + length + 1 : NULL;
    if (value_name == NULL && value != NULL) {
      snprintf(message, size, "flag '--%.*s' takes no value", length, name);
      return -1;
    }
    if (value_name != NULL && value == NULL) {
      if (++a == argc) {
        snprintf(message, size, "flag '--%.*s' needs a value (%s)", length, name, value_name);
        return -1;
      }
      value = argv[a];
    }
    const int full = other != NULL && library->count == SETTINGS_MOST;
    if ((own != NULL ? apply_flag(own, value, options)
                     : apply_library_flag(other, value, library)) == 0)
      continue;
    if (full)
      snprintf(message, size, "more than %d options for anadrome", (int)SETTINGS_MOST);
    else
      snprintf(message, size, "bad value '%s' of flag '--%.*s' (%s)", value, length, name,
               value_name);
    return -1;
  }
  return 0;
}

static void print_flag(FILE* file, const char* name, const char* value_name, const char* help) {
  char head[64];
  snprintf(head, sizeof head, "--%s %s", name, value_name != NULL ? value_name : "");
  fprintf(file, "  %-20s %s\n", head, help);
}

void command_line_usage(const command_line* line, FILE* file) {
  fprintf(file, "%s: %s\nusage: mpirun -n RANKS %s [flags]\n", line->program, line->purpose,
          line->program);
  for (size_t f = 0; f < line->flag_count; ++f)
    print_flag(file, line->flags[f].name, line->flags[f].value_name, line->flags[f].help);
  fprintf(file, "options of anadrome:\n");
  for (size_t f = 0; f < library_flag_count; ++f)
    print_flag(file, library_flags[f].name, library_flags[f].value_name, library_flags[f].help);
  fprintf(file, "exit code: 0 fine, 1 wrong gradient, 2 usage, 3 anadrome reported an error\n");
}
