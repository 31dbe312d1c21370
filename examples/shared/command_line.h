// SPDX-License-Identifier: BSD-2-Clause
/* The command line of an example, from a table of its flags. Options of anadrome have flags of
 * their own names in every example; they are passed on as strings, which anadrome checks. */
#ifndef EXAMPLE_COMMAND_LINE_H
#define EXAMPLE_COMMAND_LINE_H

#include <anadrome/anadrome.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SETTINGS_MOST = 64, SETTING_KEY_BYTES = 64 };

/** One option for anadrome_set. */
typedef struct setting {
  char key[SETTING_KEY_BYTES];
  const char* value; /**< the caller's (argv); must outlive the settings */
} setting;

/** Start from zeros. */
typedef struct settings {
  setting list[SETTINGS_MOST];
  int count;
} settings;

/** Returns 0, or -1 if the key is empty or too long or there are too many settings. */
int settings_add(settings* all, const char* key, const char* value);

/** anadrome_set for each of them, up to the first that fails. */
anadrome_status settings_apply(const settings* all, anadrome_run* run);

typedef enum flag_kind {
  FLAG_SWITCH, /**< no value; sets an int to 1 */
  FLAG_COUNT,  /**< an int64_t not below `least` */
  FLAG_TEXT,   /**< a const char*, not empty */
  FLAG_OWN     /**< the example's own `parse` */
} flag_kind;

typedef struct flag {
  const char* name;
  flag_kind kind;
  size_t offset; /**< of the field in the example's options */
  int64_t least;
  const char* value_name; /**< NULL: the flag takes no value */
  const char* help;
  int (*parse)(const char* text, void* options); /**< FLAG_OWN: returns 0, or -1 for a bad value */
} flag;

typedef struct command_line {
  const char* program;
  const char* purpose; /**< for --help */
  const flag* flags;   /**< besides those of anadrome's options */
  size_t flag_count;
} command_line;

/** A decimal number up to `end`, without sign or space. Returns 0 or -1. */
int parse_count(const char* text, const char* end, int64_t* count);

/** Read `argv` into the example's `options` and into `library`. Returns 0, or -1 and one line in
 * `message`. */
int command_line_parse(const command_line* line, int argc, char** argv, void* options,
                       settings* library, char* message, size_t size);

/** Print the flags. */
void command_line_usage(const command_line* line, FILE* file);

#ifdef __cplusplus
}
#endif

#endif
