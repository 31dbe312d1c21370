// SPDX-License-Identifier: BSD-2-Clause
#include "lorenz_run.h"

#include <stdio.h>
#include <string.h>

#include "lorenz_report.h"
#include "lorenz_sweep.h"

static anadrome_status set_options(anadrome_run* run, const lorenz_options* options) {
  const anadrome_status status = options->quiet ? ANADROME_OK : anadrome_set(run, "report", "-");
  return status == ANADROME_OK ? settings_apply(&options->library, run) : status;
}

static void sweep_repeatedly(MPI_Comm comm, lorenz_sweep* sweep, int64_t repeat,
                             lorenz_result* result) {
  for (int64_t r = 0; r < repeat && result->end.exit_code == EXAMPLE_FINE; ++r) {
    const int fine =
        outcome_is_fine(&result->end, comm, lorenz_sweep_do(sweep), EXAMPLE_LIBRARY_ERROR);
    result->stats.size = sizeof result->stats;
    anadrome_statistics(sweep->run, &result->stats);
    if (!fine) return;
    const lorenz_outcome total = lorenz_sum(comm, &sweep->outcome);
    if (r > 0 && lorenz_differences(&total, &result->total) > 0)
      outcome_end_with(&result->end, EXAMPLE_WRONG,
                       "two sweeps of one run gave different gradients");
    result->total = total;
    result->have_gradient = 1;
  }
}

static void gradient_with_anadrome(MPI_Comm comm, const lorenz_options* options,
                                   lorenz_sweep* sweep, lorenz_result* result) {
  if (!outcome_is_fine(&result->end, comm, anadrome_open(comm, &sweep->run), EXAMPLE_LIBRARY_ERROR))
    return;
  if (outcome_is_fine(&result->end, comm, set_options(sweep->run, options), EXAMPLE_USAGE) &&
      outcome_is_fine(&result->end, comm, lorenz_sweep_register(sweep), EXAMPLE_LIBRARY_ERROR)) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && !options->quiet) lorenz_print_problem(sweep->problem, options, result->ranks);
    sweep_repeatedly(comm, sweep, options->repeat, result);
  }
  outcome_is_fine(&result->end, comm, anadrome_close(&sweep->run), EXAMPLE_LIBRARY_ERROR);
}

static void verify(MPI_Comm comm, const lorenz_sweep* sweep, lorenz_result* result) {
  lorenz_outcome plain;
  double seconds = lorenz_plain(sweep->problem, &plain);
  double least = seconds;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, comm);
  if (least < 0.0) {
    outcome_end_with(&result->end, EXAMPLE_USAGE,
                     "--verify keeps every state in memory, which does not suffice");
    return;
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  result->seconds_plain = seconds;
  result->differing = lorenz_differences(&plain, &sweep->outcome);
  // After the adjoint sweep the registered array holds x_0.
  if (memcmp(&sweep->u, &sweep->problem->control.start, sizeof sweep->u) != 0) ++result->differing;
  MPI_Allreduce(MPI_IN_PLACE, &result->differing, 1, MPI_INT64_T, MPI_SUM, comm);
  result->verified = result->differing == 0;
  if (!result->verified)
    outcome_end_with(&result->end, EXAMPLE_WRONG,
                     "the gradient is wrong: %lld values differ from the run with every state kept",
                     (long long)result->differing);
}

static void check(MPI_Comm comm, const lorenz_options* options, const lorenz_sweep* sweep,
                  lorenz_result* result) {
  if (options->verify) verify(comm, sweep, result);
  if (options->taylor) {
    lorenz_taylor_test(comm, sweep->problem, &result->total, &result->taylor);
    result->have_taylor = 1;
    if (!result->taylor.passed)
      outcome_end_with(&result->end, EXAMPLE_WRONG, "the Taylor test failed");
  }
  if (options->dot_test) {
    result->dot_test_error = lorenz_dot_test(comm, sweep->problem);
    if (!(result->dot_test_error <= 1e-12))
      outcome_end_with(&result->end, EXAMPLE_WRONG,
                       "the dot-product test failed: relative error %.3g", result->dot_test_error);
  }
}

int lorenz_run(MPI_Comm comm, const lorenz_options* options, lorenz_result* result) {
  int rank;
  lorenz_problem problem;
  memset(result, 0, sizeof *result);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &result->ranks);
  result->verified = -1;
  result->dot_test_error = result->seconds_plain = -1.0;
  lorenz_problem_init(&problem, options->steps, rank);
  lorenz_sweep sweep = {.problem = &problem,
                        .steps_unknown = options->steps_unknown,
                        .callbacks = options->callbacks};
  gradient_with_anadrome(comm, options, &sweep, result);
  outcome_reduce_statistics(comm, &result->stats, &result->all);
  if (result->end.exit_code == EXAMPLE_FINE) check(comm, options, &sweep, result);
  if (rank == 0 && !options->quiet) lorenz_print_results(options, result);
  return result->end.exit_code;
}
