// SPDX-License-Identifier: BSD-2-Clause
#include "lorenz_report.h"

#include <inttypes.h>

#include "json_file.h"
#include "outcome.h"

void lorenz_print_problem(const lorenz_problem* problem, const lorenz_options* options, int ranks) {
  const double steps = (double)problem->steps, mebibyte = 1048576.0;
  printf("lorenz: %" PRId64 " step%s of %g, time %g%s, %d rank%s\n", problem->steps,
         problem->steps == 1 ? "" : "s", problem->dt, steps * problem->dt,
         options->steps_unknown ? " (not told to anadrome)" : "", ranks, ranks == 1 ? "" : "s");
  printf("one state: %zu bytes per rank; %" PRId64 " of them: %.1f MiB\n", sizeof(lorenz_state),
         problem->steps, steps * (double)sizeof(lorenz_state) / mebibyte);
  fflush(stdout);
}

static double nanoseconds(double seconds, int64_t steps) {
  return 1e9 * seconds / (double)(steps > 0 ? steps : 1);
}

void lorenz_print_results(const lorenz_options* options, const lorenz_result* result) {
  const lorenz_control* g = &result->total.gradient;
  if (!result->have_gradient) return;
  printf("objective          %.17g\n", result->total.objective);
  printf("gradient           sigma %.17g, rho %.17g, beta %.17g\n", g->parameters.sigma,
         g->parameters.rho, g->parameters.beta);
  printf("                   x_0 %.17g, y_0 %.17g, z_0 %.17g\n", g->start.x, g->start.y,
         g->start.z);
  if (result->verified >= 0)
    printf("verify             %s\n",
           result->verified ? "same bits as with every state kept" : "DIFFERENT");
  if (result->have_taylor) {
    printf("taylor slopes     ");
    for (int s = 0; s < result->taylor.slope_count; ++s) printf(" %.4f", result->taylor.slopes[s]);
    printf("  %s\n", result->taylor.passed ? "passed" : "FAILED");
  }
  if (result->dot_test_error >= 0.0)
    printf("dot-product test   relative error %.2e\n", result->dot_test_error);
  const double run = nanoseconds(result->all.seconds_total, options->steps);
  printf("time per step      %.1f ns", run);
  if (result->seconds_plain >= 0.0)
    printf("; %.1f ns with every state in an array, without anadrome",
           nanoseconds(result->seconds_plain, options->steps));
  printf("\n");
  fflush(stdout);
}

void lorenz_write_json(FILE* file, const lorenz_options* options, const lorenz_result* result) {
  const lorenz_control* g = &result->total.gradient;
  const int have = result->have_gradient;
  fprintf(file, "{\n");
  json_put_integer(file, "exit_code", result->end.exit_code);
  if (result->end.exit_code != EXAMPLE_FINE) json_put_text(file, "error", result->end.message);
  json_put_integer(file, "steps", options->steps);
  json_put_integer(file, "ranks", result->ranks);
  json_put_integer(file, "state_bytes", (int64_t)sizeof(lorenz_state) * result->ranks);
  outcome_put_statistics(file, &result->all, options->steps);
  json_put_number(file, "nanoseconds_per_step", have && options->steps > 0,
                  nanoseconds(result->all.seconds_total, options->steps));
  json_put_number(file, "nanoseconds_per_step_plain",
                  result->seconds_plain >= 0.0 && options->steps > 0,
                  nanoseconds(result->seconds_plain, options->steps));
  json_put_number(file, "objective", have, result->total.objective);
  json_put_number(file, "gradient_sigma", have, g->parameters.sigma);
  json_put_number(file, "gradient_rho", have, g->parameters.rho);
  json_put_number(file, "gradient_beta", have, g->parameters.beta);
  json_put_number(file, "gradient_x0", have, g->start.x);
  json_put_number(file, "gradient_y0", have, g->start.y);
  json_put_number(file, "gradient_z0", have, g->start.z);
  json_put_number(file, "dot_test_error", result->dot_test_error >= 0.0, result->dot_test_error);
  json_put_truth(file, "verified", result->verified);
  json_put_last_numbers(file, "taylor_slopes", result->taylor.slopes,
                        result->have_taylor ? result->taylor.slope_count : 0);
  fprintf(file, "}\n");
}
