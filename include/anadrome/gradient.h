// SPDX-License-Identifier: BSD-2-Clause
/** @file gradient.h
 * A check of a hand-written adjoint: Taylor tests of the gradient of a whole sweep, and dot-product
 * tests of the adjoint of single steps. The conventions are those of anadrome.h. */
#ifndef ANADROME_GRADIENT_H
#define ANADROME_GRADIENT_H

#include <anadrome/anadrome.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The most seeds that a check takes. */
#define ANADROME_MOST_SEEDS 8

/** What anadrome_check_gradient is given beside the model: functions of the controls m, whose
 * gradient the adjoint computes, and of directions dm. Set `size = sizeof(anadrome_gradient)` first
 * and the rest to zero: the struct may grow, and zero is the default of every number. The same on
 * all ranks. A callback that returns non-zero ends the check: ANADROME_ERR_PEER on all ranks. */
typedef struct anadrome_gradient {
  size_t size;   /**< sizeof(anadrome_gradient) */
  void* context; /**< handed to every callback of this struct */
  /** Set the controls to m + epsilon dm. dm is the direction of number `seed` = 1, 2, ..: the same
   * at every call, of the size of m; random numbers seeded by `seed` do. `epsilon` 0 gives m back,
   * bit for bit. Called before the model's `start`; without `start` the arrays hold x_0 of m, and
   * x_0 of the new controls on return. Required. */
  int (*perturb)(void* context, int64_t seed, double epsilon);
  /** The objective J of the forward sweep that is at its end: the whole one, the same number on all
   * ranks. Called after the model's `turn`, and once after a reverse sweep, which must not change
   * it; the arrays hold x_n. Required. */
  int (*objective)(void* context, double* objective);
  /** The derivative of J in the direction of number `seed`, <gradient, dm>: summed over all ranks,
   * the same number on each. Called after the adjoint of step 0. Required. */
  int (*derivative)(void* context, int64_t seed, double* derivative);
  /** For the dot products: set to zero, in the arrays of all fields of `pairs`, what is part of an
   * array and of no state, such as halos that a step fetches before it reads them. NULL: nothing
   * is. */
  int (*mask)(void* context);
  /** Which field of role ADJOINT is the adjoint variable of which field of role STATE:
   * "u=lambda v=mu". NULL or "": dot products are not tested. */
  const char* pairs;
  int64_t seeds;  /**< directions, 1 to ANADROME_MOST_SEEDS; 0: three */
  double epsilon; /**< the largest perturbation; 0: 0.01, with states in single precision 0.1 */
  int64_t product_steps; /**< how many steps are tested, from the first to the last one at equal
                              distances; 0: 32 */
  const char* report;    /**< where rank 0 writes a report: "-" (standard output) or a file; NULL:
                              nowhere */
} anadrome_gradient;

/** What a test says. */
typedef enum anadrome_verdict ANADROME_AS_INT {
  ANADROME_VERDICT_NONE = 0,     /**< it was not made */
  ANADROME_VERDICT_RIGHT = 1,    /**< the gradient is right */
  ANADROME_VERDICT_WRONG = 2,    /**< it is not */
  ANADROME_VERDICT_UNDECIDED = 3 /**< round-off, or a kink, hides the answer */
} anadrome_verdict;

/** What a wrong gradient looks like. */
typedef enum anadrome_mismatch ANADROME_AS_INT {
  ANADROME_MISMATCH_NONE = 0,       /**< nothing is wrong */
  ANADROME_MISMATCH_SIGN = 1,       /**< a wrong sign: the ratio is -1 */
  ANADROME_MISMATCH_FACTOR = 2,     /**< a factor: the ratio is the same in every direction */
  ANADROME_MISMATCH_TERM = 3,       /**< a term that is missing or wrong: the ratio differs */
  ANADROME_MISMATCH_STATE = 4,      /**< the adjoint of a step reads another state than x_k */
  ANADROME_MISMATCH_NOT_FINITE = 5, /**< a NaN or an infinity */
  ANADROME_MISMATCH_OBJECTIVE = 6 /**< the same controls give another objective: `perturb` does not
                                     give m back, or a step reads what no field and no control is */
} anadrome_mismatch;

/** What anadrome_check_gradient found, the same on all ranks. Set
 * `size = sizeof(anadrome_gradient_check)` first: the struct may grow. */
typedef struct anadrome_gradient_check {
  size_t size;            /**< sizeof(anadrome_gradient_check), set by the caller */
  int32_t verdict;        /**< an anadrome_verdict: of both tests. RIGHT if neither is WRONG and the
                               Taylor test is RIGHT */
  int32_t taylor_verdict; /**< an anadrome_verdict: of the Taylor tests */
  int32_t product_verdict; /**< an anadrome_verdict: of the dot products */
  int32_t mismatch;        /**< an anadrome_mismatch */
  double objective;        /**< J(m) */
  int64_t seeds;           /**< directions that were tested */
  double derivative[8];    /**< by seed (the first one at 0): what `derivative` returned */
  double ratio[8];         /**< by seed: that over the derivative by differences of J; 1 if right */
  double slope[8]; /**< by seed: d log |J(m + e dm) - J(m) - e dJ| / d log e, for the smallest e
                        whose remainder is not round-off: 2, or more, if the gradient is right, 1 if
                        it is wrong; 0: every remainder is round-off, or none is finite */
  double first_slope[8]; /**< by seed: the same of |J(m + e dm) - J(m)|: 1, or 2 at an optimum */
  double resolution;     /**< the Taylor tests would have seen a relative error as small as that */
  int64_t products;      /**< steps whose dot products were tested */
  int64_t failing_products; /**< how many of them failed */
  int64_t failing_step;     /**< the first of them; -1: none */
  double product_mismatch;  /**< |<w, F' v> - <F'^T w, v>| over their size: of the failing step, or
                                 the largest of any */
  double forward_product;   /**< of the failing step: <w, F' v> */
  double adjoint_product;   /**< of the failing step: <F'^T w, v> */
  char message[512];        /**< what was found, in a sentence: of the failing step also an element
                                 of an adjoint variable that is wrong, where one is found */
} anadrome_gradient_check;

/** Check the gradient that the model's adjoint computes. Call it in place of anadrome_solve, with
 * the same `steps` (a number: not ANADROME_STEPS_UNKNOWN) and the same model: the fields hold what
 * they would hold then. What the adjoint adds to (gradients) is a field of role ADJOINT, or is set
 * to zero by `turn`. Collective.
 *
 * 1. One sweep with the run's own options, forward and reverse, gives J(m) and its derivatives.
 * 2. Taylor tests: `perturb`, and the forward steps without a schedule, give J(m + e dm) for
 * falling e. J(m + e dm) - J(m) falls with e, and less e dJ with e^2, if dJ is right.
 * 3. Dot products, of the steps and fields asked for: F' v by central differences of the model's
 *    step in a random direction v, F'^T w by its adjoint step, called with `pairs` set to random w;
 *    <w, F' v> = <F'^T w, v> if the adjoint of this step is right. What it adds without w (the
 *    derivative of a running cost) is taken off. Complex numbers count as pairs of real ones.
 *    Fields of role ADJOINT that are in no pair (accumulators) are left out, and fields of role
 *    STATE in no pair are not varied; the report says which.
 *
 * A wrong gradient is no failure of the call: it is what `check` says, in a verdict, a message, and
 * the first failing step. Afterwards all fields that are arrays or packed hold what they held at
 * the call, and `perturb` was called with epsilon 0; begin or solve may follow. Beside
 * `memory` it takes a copy of the state and adjoint fields, and some ten of the state while dot
 * products are tested. Errors: those of solve; ERR_ARGUMENT (a callback is missing; a pair that is
 * none; the objective differs between ranks or is not finite), ERR_ORDER (a sweep is under way),
 * ERR_UNSUPPORTED (resume=on).
 * @pre Fields are registered; no sweep is under way. @post None is. */
ANADROME_API anadrome_status anadrome_check_gradient(anadrome_run* run, int64_t steps,
                                                     const anadrome_model* model,
                                                     const anadrome_gradient* gradient,
                                                     anadrome_gradient_check* check);

#ifdef __cplusplus
}
#endif

#endif
