#include "heat_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "json_file.h"
#include "outcome.h"

static void print_bytes(char* text, size_t size, double bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024.0 && unit < 5) {
    bytes /= 1024.0;
    ++unit;
  }
  snprintf(text, size, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

void heat_print_header(const heat_grid* grid, const heat_options* options,
                       const anadrome_stats* stats) {
  if (grid->rank != 0) return;
  const double state = (double)grid->cells_x * (double)grid->cells_y * sizeof(double);
  const double states = state * (double)options->steps;
  const double memory = (double)stats->memory_bytes * grid->ranks;
  char one[32], every[32], tape[32], budget[32];
  print_bytes(one, sizeof one, state);
  print_bytes(every, sizeof every, states);
  print_bytes(tape, sizeof tape, state * heat_stages(options->integrator));
  print_bytes(budget, sizeof budget, (double)stats->memory_bytes);
  printf("heat equation: %" PRId64 "x%" PRId64 " cells, %" PRId64
         " step%s%s%s, %d rank%s (%dx%d blocks)\n",
         grid->cells_x, grid->cells_y, options->steps, options->steps == 1 ? "" : "s",
         options->integrator == HEAT_RK4 ? " of four stages" : "",
         options->steps_unknown ? " (not told to anadrome)" : "", grid->ranks,
         grid->ranks == 1 ? "" : "s", grid->blocks_x, grid->blocks_y);
  printf("one state: %s on all ranks; %" PRId64 " of them: %s\n", one, options->steps, every);
  if (options->tape) printf("one tape: %s on all ranks\n", tape);
  printf("memory for states: %s per rank: the states take %.3g times the memory budget\n", budget,
         memory > 0.0 ? states / memory : 0.0);
  fflush(stdout);
}

void heat_print_results(const heat_grid* grid, const heat_result* result) {
  if (grid->rank != 0 || !result->have_gradient) return;
  printf("objective          %.17g\n", result->objective);
  printf("gradient norm      %.17g  (kappa %.6e, u_0 %.6e)\n", result->gradient_norm,
         result->norm_kappa, result->norm_state);
  printf("gradient hash      %016" PRIx64 "\n", result->gradient_hash);
  if (result->verified >= 0)
    printf("verify             %s\n",
           result->verified ? "same bits as with every state kept" : "DIFFERENT");
  if (result->verified == 0)
    printf("                   %" PRId64 " values differ, by up to %.3g\n",
           result->difference.values, result->difference.largest);
  if (result->have_taylor) {
    printf("taylor slopes     ");
    for (int s = 0; s < result->taylor.slope_count; ++s) printf(" %.4f", result->taylor.slopes[s]);
    printf("  %s\n", result->taylor.passed ? "passed" : "FAILED");
  }
  if (result->dot_test_error >= 0.0)
    printf("dot-product test   relative error %.2e\n", result->dot_test_error);
  fflush(stdout);
}

void heat_write_json(FILE* file, const heat_options* options, const heat_result* result) {
  const int have = result->have_gradient;
  char text[64];
  fprintf(file, "{\n");
  json_put_integer(file, "exit_code", result->exit_code);
  if (result->exit_code != HEAT_FINE) json_put_text(file, "error", result->message);
  snprintf(text, sizeof text, "%" PRId64 "x%" PRId64, options->cells_x, options->cells_y);
  json_put_text(file, "grid", text);
  json_put_integer(file, "steps", options->steps);
  json_put_text(file, "integrator", heat_integrator_name(options->integrator));
  json_put_truth(file, "tape", options->tape);
  json_put_integer(file, "ranks", result->ranks);
  json_put_integer(file, "state_bytes",
                   options->cells_x * options->cells_y * (int64_t)sizeof(double));
  outcome_put_statistics(file, &result->all, options->steps);
  json_put_number(file, "seconds_step_median", result->seconds_step_median >= 0.0,
                  result->seconds_step_median);
  if (result->rss_growth_bytes >= 0)
    json_put_integer(file, "rss_growth_bytes", result->rss_growth_bytes);
  else
    json_put_number(file, "rss_growth_bytes", 0, 0.0);
  json_put_number(file, "objective", have, result->objective);
  json_put_number(file, "gradient_norm", have, result->gradient_norm);
  json_put_number(file, "gradient_norm_kappa", have, result->norm_kappa);
  json_put_number(file, "gradient_norm_u0", have, result->norm_state);
  snprintf(text, sizeof text, "%016" PRIx64, result->gradient_hash);
  if (have)
    json_put_text(file, "gradient_hash", text);
  else
    json_put_number(file, "gradient_hash", 0, 0.0);
  json_put_number(file, "dot_test_error", result->dot_test_error >= 0.0, result->dot_test_error);
  json_put_truth(file, "verified", result->verified);
  json_put_last_numbers(file, "taylor_slopes", result->taylor.slopes,
                        result->have_taylor ? result->taylor.slope_count : 0);
  fprintf(file, "}\n");
}
