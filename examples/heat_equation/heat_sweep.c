#include "heat_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat_report.h"
#include "heat_step.h"

// Keeps at most HEAT_TIMED_STEPS times, spread evenly over however many steps there are.
static void note_time(heat_sweep* sweep, double seconds) {
  if (sweep->until_timed-- > 0) return;
  if (sweep->timed == HEAT_TIMED_STEPS) {
    sweep->timed = 0;
    for (size_t t = 0; t < HEAT_TIMED_STEPS; t += 2)
      sweep->seconds[sweep->timed++] = sweep->seconds[t];
    sweep->stride *= 2;
  }
  sweep->seconds[sweep->timed++] = seconds;
  sweep->until_timed = sweep->stride - 1;
}

static int in_order(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double heat_sweep_median_step(heat_sweep* sweep) {
  if (sweep->timed == 0) return -1.0;
  qsort(sweep->seconds, sweep->timed, sizeof(double), in_order);
  const size_t middle = sweep->timed / 2;
  if (sweep->timed % 2 == 1) return sweep->seconds[middle];
  return 0.5 * (sweep->seconds[middle - 1] + sweep->seconds[middle]);
}

static void print_header_once(heat_sweep* sweep) {
  anadrome_stats stats = {.size = sizeof stats};
  if (!sweep->print_header) return;
  sweep->print_header = 0;
  if (anadrome_statistics(sweep->run, &stats) == ANADROME_OK)
    heat_print_header(&sweep->model->grid, sweep->options, &stats);
}

// Where the live state is.
static const double* state(const heat_sweep* sweep) {
  return sweep->options->zero_copy ? anadrome_now(sweep->run, sweep->field) : sweep->model->u;
}

// Where the next state goes.
static double* next_state(const heat_sweep* sweep) {
  return sweep->options->zero_copy ? anadrome_then(sweep->run, sweep->field) : sweep->model->u;
}

// Steps first .. last-1, or up to the end of the simulation; `record`: the last of them fills the
// tape. Returns the step reached.
static int64_t advance(heat_sweep* sweep, int64_t first, int64_t last, int record) {
  int64_t k = first;
  for (; k < last && k < sweep->options->steps; ++k) {
    const double start = MPI_Wtime();
    if (record && k + 1 == last)
      heat_record_step(sweep->model, k, state(sweep), next_state(sweep), sweep->model->tape);
    else
      heat_step(sweep->model, k, state(sweep), next_state(sweep));
    note_time(sweep, MPI_Wtime() - start);
  }
  return k;
}

// With a tape, its first field is x_k, and the state is not defined.
static void adjoint(heat_sweep* sweep, int64_t k) {
  heat_model* model = sweep->model;
  const double* u = model->tape != NULL ? model->tape : state(sweep);
  if (k == sweep->options->wrong_state) {
    double* wrong = model->tape != NULL ? model->tape : model->u;
    heat_step(model, k, u, wrong);
    u = wrong;
  }
  if (model->tape != NULL)
    heat_adjoint_of_tape(model, model->tape);
  else
    heat_adjoint_step(model, k, u);
}

static void fill_initial_state(heat_sweep* sweep) {
  heat_fill_initial_state(sweep->model, next_state(sweep));
}

// For whoever looks at the model after the sweep. With a tape, x_0 is not given back.
static void take_initial_state(heat_sweep* sweep) {
  const size_t bytes = heat_grid_cells(&sweep->model->grid) * sizeof(double);
  if (!sweep->options->zero_copy || sweep->options->tape) return;
  if (bytes > 0) memcpy(sweep->model->u, state(sweep), bytes);
}

static void fail_with_last_error(anadrome_run* run) {
  char why[256];  // the library's own text is valid only until the next call
  snprintf(why, sizeof why, "%s", anadrome_last_error());
  anadrome_fail(run, why);
}

// What was done when: seconds, seconds, kind, first step, last step.
static void log_action(const heat_sweep* sweep, const anadrome_action* action, double start) {
  if (sweep->log == NULL) return;
  const char* kind = "turn";
  if (action->kind == ANADROME_ADJOINT) kind = "adjoint";
  if (action->kind == ANADROME_ADVANCE) kind = action->again ? "again" : "advance";
  fprintf(sweep->log, "%.6f %.6f %s %lld %lld\n", start - sweep->log_start,
          MPI_Wtime() - sweep->log_start, kind, (long long)action->first, (long long)action->last);
}

// Does the sweep go on where another process was? Then its state and adjoint are in the model.
static int goes_on(heat_sweep* sweep) {
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  int64_t step = 0;
  anadrome_resumed(sweep->run, &phase, &step);
  if (phase == ANADROME_PHASE_IDLE) return 0;
  if (sweep->model->grid.rank == 0 && !sweep->options->quiet) {
    printf("going on in the %s sweep, at step %lld\n",
           phase == ANADROME_PHASE_FORWARD ? "forward" : "reverse", (long long)step);
    fflush(stdout);
  }
  return 1;
}

static anadrome_status sweep_with_actions(heat_sweep* sweep, int64_t steps) {
  anadrome_action action;
  anadrome_status status = anadrome_begin(sweep->run, steps);
  if (status != ANADROME_OK) return status;
  print_header_once(sweep);
  if (!goes_on(sweep)) fill_initial_state(sweep);
  while ((status = anadrome_next(sweep->run, &action)) == ANADROME_OK &&
         action.kind != ANADROME_DONE) {
    const double start = MPI_Wtime();
    switch (action.kind) {
      case ANADROME_ADVANCE: {
        const int64_t reached = advance(sweep, action.first, action.last, action.record);
        if (!sweep->finished && reached == sweep->options->steps) {
          sweep->finished = 1;
          status = anadrome_finish_forward(sweep->run, reached);
          // The loop goes on: all ranks learn of a failure at the next agreement point.
          if (status != ANADROME_OK) fail_with_last_error(sweep->run);
        }
        break;
      }
      case ANADROME_TURN:
        heat_turn(sweep->model, state(sweep));
        break;
      case ANADROME_ADJOINT:
        adjoint(sweep, action.first);
        break;
      default:  // DONE ends the loop
        break;
    }
    log_action(sweep, &action, start);
  }
  if (status == ANADROME_OK) take_initial_state(sweep);
  return status;
}

static int on_start(void* context) {
  fill_initial_state(context);
  return 0;
}

static int on_advance(void* context, int64_t first, int64_t last, int64_t* reached) {
  heat_sweep* sweep = context;
  print_header_once(sweep);
  *reached = advance(sweep, first, last, 0);
  return 0;
}

static int on_record(void* context, int64_t step, int64_t* reached) {
  heat_sweep* sweep = context;
  print_header_once(sweep);
  *reached = advance(sweep, step, step + 1, 1);
  return 0;
}

static int on_turn(void* context, int64_t steps) {
  heat_sweep* sweep = context;
  print_header_once(sweep);
  heat_turn(sweep->model, state(sweep));
  return steps == sweep->options->steps ? 0 : 1;
}

static int on_adjoint(void* context, int64_t step) {
  adjoint(context, step);
  return 0;
}

anadrome_status heat_sweep_do(heat_sweep* sweep, anadrome_run* run, heat_model* model,
                              const heat_options* options, int first_sweep) {
  const int64_t steps = options->steps_unknown ? ANADROME_STEPS_UNKNOWN : options->steps;
  sweep->run = run;
  sweep->model = model;
  sweep->options = options;
  sweep->print_header = first_sweep && !options->quiet;
  sweep->finished = !options->steps_unknown;
  if (first_sweep) {
    sweep->stride = 1;
    sweep->log_start = MPI_Wtime();
  }
  if (!options->callbacks) {
    const anadrome_status ended = sweep_with_actions(sweep, steps);
    sweep->objective = model->objective;
    return ended;
  }
  const anadrome_model callbacks = {.size = sizeof callbacks,
                                    .context = sweep,
                                    .start = on_start,
                                    .advance = on_advance,
                                    .record = on_record,
                                    .turn = on_turn,
                                    .adjoint = on_adjoint};
  const anadrome_status status = anadrome_solve(run, steps, &callbacks);
  if (status == ANADROME_OK) take_initial_state(sweep);
  sweep->objective = model->objective;
  return status;
}
