// SPDX-License-Identifier: BSD-2-Clause
/** @file sketch.h
 * Gradients that are correlations in time, g = sum over t of x_t y_t at each point, with a few
 * arrays in place of all x_t. Going forward, x_t is pushed as soon as it is known; going backward,
 * y_t is correlated. What comes out has the mean g, and a variance that falls as one over the
 * number of arrays; it is estimated, too. No step is run again.
 *
 * It is right only where y_t is known without x_t: the step is linear in its state, as a wave's is,
 * or the adjoint reads nothing of it that is not kept elsewhere. The library cannot know that.
 *
 * Local, and no MPI needed: a rank gives its own part of the arrays. Random numbers are functions
 * of the seed and the step alone, so every rank has the same, and the bits do not depend on how
 * many ranks there are. A sketch is for one thread at a time. Sizes are in bytes, steps count from
 * 0.
 *
 * Sources: docs/theory-sketches.md. */
#ifndef ANADROME_SKETCH_H
#define ANADROME_SKETCH_H

#include <stdint.h>

#include <anadrome/export.h>
#include <anadrome/field.h>
#include <anadrome/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A sketch. */
typedef struct anadrome_sketch anadrome_sketch;

/** How x_t goes into the p arrays. Below are the variance of a point's gradient, with |x|^2 the sum
 * of x_t^2, x.y that of x_t y_t and N the number of steps, and the arrays that are changed by a
 * push. */
typedef enum anadrome_sketch_kind ANADROME_AS_INT {
  /** With a random sign to one of the arrays, drawn at random. One array. The variance is
   * (|x|^2 |y|^2 + (x.y)^2 - 2 sum x_t^2 y_t^2) / p. Take this one; the others are there to be
   * compared with. */
  ANADROME_SKETCH_COUNT = 0,
  /** Each array has one of the N steps, drawn at random, whichever others have. N is the number of
   * pushes: a step is pushed once. Few arrays. The variance is
   * (N sum x_t^2 y_t^2 - (x.y)^2) / p. */
  ANADROME_SKETCH_ROWS = 1,
  /** Array t has x_t: steps 0 to p - 1 only. One array. The variance is 0. For tests. */
  ANADROME_SKETCH_EXACT = 2
} anadrome_sketch_kind;

/** *bytes: what a sketch allocates. That is `arrays` arrays of `count` elements and up to four more
 * for the sums of the way back. Local. Errors: as create. */
ANADROME_API anadrome_status anadrome_sketch_bytes(int64_t count, anadrome_type type,
                                                   int64_t arrays, anadrome_sketch_kind kind,
                                                   int64_t* bytes);

/** Make a sketch of x_t and y_t of `count` points on this rank, which may be 0, of `type`
 * (ANADROME_FLOAT64 or ANADROME_FLOAT32), in p = `arrays` arrays. All its memory is allocated and
 * touched here. `type`, `arrays`, `seed` and `kind` are the same on all ranks. Another seed gives
 * other random numbers: sketches of one sum with different ones may be averaged. Local. Errors:
 * ERR_ARGUMENT (a negative count, no array, another type or kind, a size that overflows),
 * ERR_MEMORY (of the machine).
 * @post *sketch is a handle, or NULL on failure. */
ANADROME_API anadrome_status anadrome_sketch_create(int64_t count, anadrome_type type,
                                                    int64_t arrays, int64_t seed,
                                                    anadrome_sketch_kind kind,
                                                    anadrome_sketch** sketch);

/** Add x_t of step `step`: `count` elements, which are only read. In any order; it changes
 * round-off only. Local. Errors: ERR_ARGUMENT (NULL, a negative step; with EXACT a step from
 * `arrays` on), ERR_ORDER (correlate was called: what it added lacks this step). */
ANADROME_API anadrome_status anadrome_sketch_push(anadrome_sketch* sketch, int64_t step,
                                                  const void* x);

/** Multiply y_t of step `step`, `count` elements, which are only read, with what the sketch has of
 * x_t, and add it to the gradient. In any order; it changes round-off only. Local. Errors:
 * ERR_ARGUMENT (NULL, a negative step; with EXACT a step from `arrays` on), ERR_ORDER (nothing was
 * pushed). */
ANADROME_API anadrome_status anadrome_sketch_correlate(anadrome_sketch* sketch, int64_t step,
                                                       const void* y);

/** Write the gradient of all that was correlated so far to `gradient`: `count` elements of the
 * sketch's type, zeros if nothing was. Local. Errors: ERR_ARGUMENT (NULL). */
ANADROME_API anadrome_status anadrome_sketch_gradient(const anadrome_sketch* sketch,
                                                      void* gradient);

/** Write an estimate of the variance of each point's gradient to `variance`: `count` doubles,
 * whatever the sketch's type. Its mean is the variance, so single points may be below 0; summed
 * over all points, and over all ranks, it is the expected square of the gradient's error. Local.
 * Errors: ERR_ARGUMENT (NULL), ERR_UNSUPPORTED (one array says nothing about its variance; EXACT
 * can do with one). */
ANADROME_API anadrome_status anadrome_sketch_variance(const anadrome_sketch* sketch,
                                                      double* variance);

/** Free the sketch and set *sketch to NULL. A NULL *sketch is gone already: OK. Local. */
ANADROME_API anadrome_status anadrome_sketch_destroy(anadrome_sketch** sketch);

#ifdef __cplusplus
}
#endif

#endif
