// SPDX-License-Identifier: BSD-2-Clause
/* A file with one JSON object: results of a run for other programs. */
#ifndef EXAMPLE_JSON_FILE_H
#define EXAMPLE_JSON_FILE_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One member and its comma: the last member is the caller's to write. */
void json_put_text(FILE* file, const char* key, const char* text);
void json_put_integer(FILE* file, const char* key, int64_t value);
/** JSON has no NaN and no infinity: they are null, and so is what is not `known`. */
void json_put_number(FILE* file, const char* key, int known, double value);
/** `value`: 1, 0, or negative for null. */
void json_put_truth(FILE* file, const char* key, int value);
/** The last member of an object: no comma. */
void json_put_last_numbers(FILE* file, const char* key, const double* values, int count);

#ifdef __cplusplus
}
#endif

#endif
