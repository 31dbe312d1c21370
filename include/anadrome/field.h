// SPDX-License-Identifier: BSD-2-Clause
/** @file field.h
 * What a registered field is: its purpose, its elements, and the functions of a field that is no
 * array. No MPI needed. */
#ifndef ANADROME_FIELD_H
#define ANADROME_FIELD_H

#include <stddef.h>

#include <anadrome/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a registered field is for. */
typedef enum anadrome_role ANADROME_AS_INT {
  ANADROME_ROLE_STATE = 0, /**< what a step needs to go on: x_k, all of it */
  ANADROME_ROLE_TAPE =
      1, /**< everything the adjoint of one step needs, filled by a recorded step */
  ANADROME_ROLE_ADJOINT = 2 /**< adjoint variables and accumulators: never recomputed */
} anadrome_role;

/** Element type of a field. Complex types are pairs (real, imaginary). */
typedef enum anadrome_type ANADROME_AS_INT {
  ANADROME_FLOAT32 = 0,
  ANADROME_FLOAT64 = 1,
  ANADROME_COMPLEX64 = 2,
  ANADROME_COMPLEX128 = 3,
  ANADROME_INT32 = 4,
  ANADROME_INT64 = 5,
  ANADROME_BYTE = 6
} anadrome_type;

/** Write the field into `buffer`, `bytes` long. Non-zero: failure, as if anadrome_fail had been
 * called. */
typedef int (*anadrome_pack_fn)(void* context, void* buffer, size_t bytes);
/** Read the field from `buffer`, `bytes` long. Non-zero: failure, as if anadrome_fail had been
 * called. */
typedef int (*anadrome_unpack_fn)(void* context, const void* buffer, size_t bytes);
/** How many bytes a field of changing size takes at this moment on this rank. */
typedef size_t (*anadrome_size_fn)(void* context);

#ifdef __cplusplus
}
#endif

#endif
