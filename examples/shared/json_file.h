/* A file with one JSON object: results of a run for other programs. */
#ifndef EXAMPLE_JSON_FILE_H
#define EXAMPLE_JSON_FILE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Open `name` on rank 0; NULL: no file. Before the work, so that a wrong name is found at once.
 * Returns 1, or 0 on every rank after one line of `program` on rank 0's standard error.
 * Collective. */
int json_open(MPI_Comm comm, const char* program, const char* name, FILE** file);

/** Close it. Returns as json_open; 0 if the file did not take all that was put. Collective. */
int json_close(MPI_Comm comm, const char* program, const char* name, FILE* file);

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
