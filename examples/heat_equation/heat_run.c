#include "heat_run.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat_field.h"
#include "heat_memory.h"
#include "heat_reached.h"
#include "heat_report.h"
#include "heat_sweep.h"
#include "outcome.h"

static void end_with(heat_result* result, int exit_code, const char* format, ...) {
  if (result->exit_code != HEAT_FINE) return;  // the first reason counts
  va_list values;
  result->exit_code = exit_code;
  va_start(values, format);
  vsnprintf(result->message, sizeof result->message, format, values);
  va_end(values);
}

// Called at once, while anadrome_last_error() is still about `status`.
static void library_failed(MPI_Comm comm, anadrome_status status, int exit_code,
                           heat_result* result) {
  char message[sizeof result->message];
  result->status = outcome_of_failure(comm, status, message, sizeof message);
  end_with(result, exit_code, "%s", message);
}

// What must not change between two processes of one run, besides what anadrome sees itself.
static anadrome_status set_resume(anadrome_run* run, const heat_options* options) {
  char problem[160];
  snprintf(problem, sizeof problem, "heat equation, %lldx%lld cells, %s%s",
           (long long)options->cells_x, (long long)options->cells_y,
           heat_integrator_name(options->integrator), options->adaptive ? ", hot spot" : "");
  const anadrome_status status = anadrome_set(run, "problem", problem);
  return status == ANADROME_OK ? anadrome_set(run, "resume", "on") : status;
}

static anadrome_status set_options(anadrome_run* run, const heat_options* options) {
  anadrome_status status = ANADROME_OK;
  if (!options->quiet) status = anadrome_set(run, "report", "-");
  if (options->resume && status == ANADROME_OK) status = set_resume(run, options);
  return status == ANADROME_OK ? settings_apply(&options->library, run) : status;
}

// A tape field for every stage.
static anadrome_status add_tape(anadrome_run* run, const heat_model* model) {
  static const char* const names[HEAT_RK4_STAGES] = {"Y1", "Y2", "Y3", "Y4"};
  const size_t cells = heat_grid_cells(&model->grid);
  anadrome_status status = ANADROME_OK;
  for (int s = 0; s < heat_stages(model->integrator) && status == ANADROME_OK; ++s) {
    status = anadrome_add_field(run, names[s], ANADROME_ROLE_TAPE, ANADROME_FLOAT64,
                                model->tape + (size_t)s * cells, cells);
  }
  return status;
}

// What the adjoint sweep has so far: never computed again, so a run that goes on gets it back.
static anadrome_status add_adjoint(anadrome_run* run, heat_model* model) {
  const size_t cells = heat_grid_cells(&model->grid);
  const struct {
    const char* name;
    double* values;
    size_t count;
  } fields[] = {{"lambda", model->lambda, cells},
                {"gradient_kappa", model->gradient_kappa, cells},
                {"objective", &model->objective, 1}};
  anadrome_status status = ANADROME_OK;
  for (size_t f = 0; f < sizeof fields / sizeof fields[0] && status == ANADROME_OK; ++f) {
    status = anadrome_add_field(run, fields[f].name, ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64,
                                fields[f].values, fields[f].count);
  }
  return status;
}

static anadrome_status add_state(anadrome_run* run, heat_model* model, const heat_options* options,
                                 int* field) {
  const size_t cells = heat_grid_cells(&model->grid);
  if (options->adaptive)
    return anadrome_add_varying(run, "u", ANADROME_ROLE_STATE, heat_reached_most(&model->grid),
                                heat_reached_bytes, heat_reached_pack, heat_reached_unpack, model);
  if (options->zero_copy)
    return anadrome_add_exchanged(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, cells, field);
  return anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, model->u, cells);
}

// anadrome_set and anadrome_add_field are local: a failure on one rank must become everyone's.
static int prepare(MPI_Comm comm, anadrome_run* run, heat_model* model, const heat_options* options,
                   int* field, heat_result* result) {
  anadrome_status status = set_options(run, options);
  int worst = (int)status;
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm);
  if (worst != ANADROME_OK) {
    // An option that anadrome does not know, or a bad value, is the user's mistake.
    library_failed(comm, status, worst == ANADROME_ERR_ARGUMENT ? HEAT_USAGE : HEAT_LIBRARY_ERROR,
                   result);
    return -1;
  }
  status = add_state(run, model, options, field);
  if (status == ANADROME_OK && model->tape != NULL) status = add_tape(run, model);
  if (status == ANADROME_OK && options->resume) status = add_adjoint(run, model);
  worst = (int)status;
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm);
  if (worst == ANADROME_OK) return 0;
  library_failed(comm, status, HEAT_LIBRARY_ERROR, result);
  return -1;
}

static void keep_gradient(const heat_model* model, double objective, heat_result* result) {
  uint64_t hash = 0;
  const double kappa = heat_sum_of_squares(&model->grid, model->gradient_kappa);
  const double state = heat_sum_of_squares(&model->grid, model->lambda);
  if (heat_hash(&model->grid, model->gradient_kappa, model->lambda, &hash) != 0) {
    end_with(result, HEAT_USAGE, "no memory for a row of the grid on rank 0");
    return;
  }
  if (result->have_gradient && (hash != result->gradient_hash || objective != result->objective))
    end_with(result, HEAT_WRONG, "two sweeps of one run gave different gradients");
  result->have_gradient = 1;
  result->objective = objective;
  result->norm_kappa = sqrt(kappa);
  result->norm_state = sqrt(state);
  result->gradient_norm = sqrt(kappa + state);
  result->gradient_hash = hash;
}

static void sweep_repeatedly(MPI_Comm comm, anadrome_run* run, heat_model* model,
                             const heat_options* options, int field, heat_result* result) {
  heat_sweep* sweep = calloc(1, sizeof *sweep);
  int ready = sweep != NULL;
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm);
  if (!ready) end_with(result, HEAT_USAGE, "no memory left");
  if (ready) sweep->field = field;
  if (ready && options->log_file != NULL && model->grid.rank == 0) {
    sweep->log = fopen(options->log_file, "w");
    ready = sweep->log != NULL;
  }
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm);
  if (!ready) end_with(result, HEAT_USAGE, "cannot write '%s' (--log)", options->log_file);
  for (int64_t r = 0; r < options->repeat && result->exit_code == HEAT_FINE; ++r) {
    const anadrome_status status = heat_sweep_do(sweep, run, model, options, r == 0);
    result->stats.size = sizeof result->stats;
    if (status != ANADROME_OK) {
      library_failed(comm, status, status == ANADROME_STOPPED ? HEAT_STOPPED : HEAT_LIBRARY_ERROR,
                     result);
      anadrome_statistics(run, &result->stats);
      break;
    }
    anadrome_statistics(run, &result->stats);
    keep_gradient(model, sweep->objective, result);
  }
  result->seconds_step_median = ready ? heat_sweep_median_step(sweep) : -1.0;
  MPI_Allreduce(MPI_IN_PLACE, &result->seconds_step_median, 1, MPI_DOUBLE, MPI_MAX, comm);
  if (sweep != NULL && sweep->log != NULL) fclose(sweep->log);
  free(sweep);
}

static anadrome_run* run_to_stop;

static void on_signal(int number) {
  (void)number;
  anadrome_request_stop(run_to_stop);
}

// What a batch system sends before the time is up: the sweep ends at its next anchor.
static void listen_for_stop(anadrome_run* run) {
  static const int signals[] = {SIGTERM, SIGUSR1};
  struct sigaction action = {0};
  run_to_stop = run;
  action.sa_handler = run != NULL ? on_signal : SIG_DFL;
  for (size_t s = 0; s < sizeof signals / sizeof signals[0]; ++s)
    sigaction(signals[s], &action, NULL);
}

static void gradient_with_anadrome(MPI_Comm comm, heat_model* model, const heat_options* options,
                                   heat_result* result) {
  anadrome_run* run = NULL;
  const int64_t resident = heat_memory_start();
  anadrome_status status = anadrome_open(comm, &run);
  if (status != ANADROME_OK) {
    library_failed(comm, status, HEAT_LIBRARY_ERROR, result);
    return;
  }
  int field = -1;
  if (options->resume) listen_for_stop(run);
  if (prepare(comm, run, model, options, &field, result) == 0)
    sweep_repeatedly(comm, run, model, options, field, result);
  listen_for_stop(NULL);
  const int64_t peak = heat_memory_peak();
  int64_t growth = resident < 0 || peak < 0 ? INT64_MAX : peak > resident ? peak - resident : 0;
  MPI_Allreduce(MPI_IN_PLACE, &growth, 1, MPI_INT64_T, MPI_MAX, comm);
  result->rss_growth_bytes = growth == INT64_MAX ? -1 : growth;
  status = anadrome_close(&run);
  int worst = (int)status;
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm);
  if (worst != ANADROME_OK && result->exit_code == HEAT_FINE)
    library_failed(comm, status, HEAT_LIBRARY_ERROR, result);
}

static void check(MPI_Comm comm, heat_model* model, const heat_options* options,
                  heat_result* result) {
  const int64_t steps = options->steps;
  if (options->verify) {
    if (heat_verify(model, comm, steps, result->objective, &result->difference) != 0) {
      end_with(result, HEAT_USAGE, "--verify keeps every stage in memory, which does not suffice");
      return;
    }
    result->verified = result->difference.values == 0;
    if (!result->verified)
      end_with(
          result, HEAT_WRONG,
          "the gradient is wrong: %lld values differ from the run with every state kept, by up "
          "to %.3g",
          (long long)result->difference.values, result->difference.largest);
  }
  if (options->taylor) {
    if (heat_taylor_test(model, comm, steps, result->objective, &result->taylor) != 0) {
      end_with(result, HEAT_USAGE, "no memory left for --taylor");
      return;
    }
    result->have_taylor = 1;
    if (!result->taylor.passed) end_with(result, HEAT_WRONG, "the Taylor test failed");
  }
  if (options->dot_test) {
    if (heat_dot_test(comm, options->cells_x, options->cells_y, options->integrator, steps,
                      &result->dot_test_error) != 0) {
      end_with(result, HEAT_USAGE, "no memory left for --dot-test");
      return;
    }
    if (!(result->dot_test_error <= 1e-12))
      end_with(result, HEAT_WRONG, "the dot-product test failed: relative error %.3g",
               result->dot_test_error);
  }
}

int heat_run(MPI_Comm comm, const heat_options* options, heat_result* result) {
  memset(result, 0, sizeof *result);
  MPI_Comm_size(comm, &result->ranks);
  result->verified = -1;
  result->dot_test_error = -1.0;
  result->seconds_step_median = -1.0;
  result->rss_growth_bytes = -1;
  if (options->adaptive && options->zero_copy) {
    end_with(result, HEAT_USAGE, "a state that is exchanged (--zero-copy) is not --adaptive");
    return result->exit_code;
  }
  heat_model* model = heat_model_create(comm, options->cells_x, options->cells_y, options->work,
                                        options->integrator);
  if (model == NULL || (options->tape && heat_model_add_tape(model) != 0)) {
    heat_model_free(model);
    end_with(result, HEAT_USAGE, "no memory for a grid of %lldx%lld cells",
             (long long)options->cells_x, (long long)options->cells_y);
    return result->exit_code;
  }
  if (options->adaptive) heat_model_use_hot_spot(model);
  gradient_with_anadrome(comm, model, options, result);
  outcome_reduce_statistics(comm, &result->stats, &result->all);
  if (result->exit_code == HEAT_FINE) check(comm, model, options, result);
  if (!options->quiet) heat_print_results(&model->grid, result);
  heat_model_free(model);
  return result->exit_code;
}
