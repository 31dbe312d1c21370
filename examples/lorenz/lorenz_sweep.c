// SPDX-License-Identifier: BSD-2-Clause
#include "lorenz_sweep.h"

#include <stdio.h>

#include "lorenz_step.h"

// A state is all that a step needs to go on. The sum of the objective is not part of it: it belongs
// to the whole sweep, and a step that is done again must not be counted twice.
static void advance(lorenz_sweep* sweep, int64_t first, int64_t last, int again) {
  const lorenz_problem* problem = sweep->problem;
  lorenz_state u = sweep->u;  // in registers: anadrome looks at its array only between actions
  if (again) {
    for (int64_t k = first; k < last; ++k) u = lorenz_step(problem, u);
  } else {
    double z_sum = sweep->z_sum;
    for (int64_t k = first; k < last; ++k) {
      z_sum += u.z;
      u = lorenz_step(problem, u);
    }
    sweep->z_sum = z_sum;
    sweep->summed = last;
  }
  sweep->u = u;
}

// The end of an advance that may reach beyond the end of the simulation.
static int64_t end_of(const lorenz_sweep* sweep, int64_t last) {
  return last < sweep->problem->steps ? last : sweep->problem->steps;
}

static void turn(lorenz_sweep* sweep) {
  sweep->of_last = lorenz_turn(sweep->problem, sweep->u, &sweep->outcome.gradient);
}

static void adjoint(lorenz_sweep* sweep) {
  lorenz_adjoint_step(sweep->problem, sweep->u, &sweep->outcome.gradient);
}

// The loop goes on after a failure: all ranks learn of it at the next agreement point.
static void finish(anadrome_run* run, int64_t steps) {
  char why[256];  // the library's own text is valid only until the next call
  if (anadrome_finish_forward(run, steps) == ANADROME_OK) return;
  snprintf(why, sizeof why, "%s", anadrome_last_error());
  anadrome_fail(run, why);
}

static anadrome_status sweep_with_actions(lorenz_sweep* sweep, int64_t steps) {
  anadrome_run* run = sweep->run;
  anadrome_action action;
  anadrome_status status = anadrome_begin(run, steps);
  if (status != ANADROME_OK) return status;
  while ((status = anadrome_next(run, &action)) == ANADROME_OK && action.kind != ANADROME_DONE) {
    switch (action.kind) {
      case ANADROME_ADVANCE: {
        const int64_t last = end_of(sweep, action.last);
        advance(sweep, action.first, last, action.again);
        if (steps == ANADROME_STEPS_UNKNOWN && !action.again && last == sweep->problem->steps)
          finish(run, last);
        break;
      }
      case ANADROME_TURN:
        turn(sweep);
        break;
      case ANADROME_ADJOINT:
        adjoint(sweep);
        break;
      default:  // DONE ends the loop
        break;
    }
  }
  return status;
}

// A callback is not told whether its steps were run before; it can tell by their numbers.
static int on_advance(void* context, int64_t first, int64_t last, int64_t* reached) {
  lorenz_sweep* sweep = context;
  *reached = end_of(sweep, last);
  advance(sweep, first, *reached, first < sweep->summed);
  return 0;
}

static int on_turn(void* context, int64_t steps) {
  lorenz_sweep* sweep = context;
  turn(sweep);
  return steps == sweep->problem->steps ? 0 : 1;
}

static int on_adjoint(void* context, int64_t step) {
  (void)step;
  adjoint(context);
  return 0;
}

anadrome_status lorenz_sweep_register(lorenz_sweep* sweep) {
  _Static_assert(sizeof(lorenz_state) == 3 * sizeof(double), "a state is three doubles");
  return anadrome_add_field(sweep->run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &sweep->u, 3);
}

static anadrome_status sweep_with_callbacks(lorenz_sweep* sweep, int64_t steps) {
  const anadrome_model callbacks = {.size = sizeof callbacks,
                                    .context = sweep,
                                    .advance = on_advance,
                                    .turn = on_turn,
                                    .adjoint = on_adjoint};
  return anadrome_solve(sweep->run, steps, &callbacks);
}

anadrome_status lorenz_sweep_do(lorenz_sweep* sweep) {
  const int64_t steps = sweep->steps_unknown ? ANADROME_STEPS_UNKNOWN : sweep->problem->steps;
  sweep->u = sweep->problem->control.start;
  sweep->z_sum = 0.0;
  sweep->summed = 0;
  const anadrome_status status =
      sweep->callbacks ? sweep_with_callbacks(sweep, steps) : sweep_with_actions(sweep, steps);
  if (status == ANADROME_OK)
    sweep->outcome.objective = lorenz_objective(sweep->problem, sweep->of_last, sweep->z_sum);
  return status;
}
