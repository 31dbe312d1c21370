#include "heat_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void heat_reduce_statistics(MPI_Comm comm, const anadrome_stats* stats, anadrome_stats* all) {
  *all = *stats;
  int64_t* sums[] = {&all->bytes_written, &all->bytes_read, &all->states_kept,
                     &all->states_restored};
  int64_t* sizes[] = {&all->state_bytes, &all->peak_library_bytes, &all->memory_bytes,
                      &all->forward_steps_taken};
  double* times[] = {
      &all->seconds_total,         &all->seconds_forward,      &all->seconds_adjoint,
      &all->seconds_stalled_write, &all->seconds_stalled_read, &all->seconds_copying,
      &all->seconds_agreeing,      &all->seconds_writing,      &all->seconds_reading,
      &all->seconds_checksums,     &all->seconds_step,         &all->seconds_adjoint_step,
      &all->seconds_write_state,   &all->seconds_read_state};
  for (size_t s = 0; s < sizeof sums / sizeof sums[0]; ++s)
    MPI_Allreduce(MPI_IN_PLACE, sums[s], 1, MPI_INT64_T, MPI_SUM, comm);
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
    MPI_Allreduce(MPI_IN_PLACE, sizes[s], 1, MPI_INT64_T, MPI_MAX, comm);
  for (size_t t = 0; t < sizeof times / sizeof times[0]; ++t)
    MPI_Allreduce(MPI_IN_PLACE, times[t], 1, MPI_DOUBLE, MPI_MAX, comm);
}

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
  char one[32], every[32], budget[32];
  print_bytes(one, sizeof one, state);
  print_bytes(every, sizeof every, states);
  print_bytes(budget, sizeof budget, (double)stats->memory_bytes);
  printf("heat equation: %" PRId64 "x%" PRId64 " cells, %" PRId64
         " step%s%s, %d rank%s (%dx%d blocks)\n",
         grid->cells_x, grid->cells_y, options->steps, options->steps == 1 ? "" : "s",
         options->steps_unknown ? " (not told to anadrome)" : "", grid->ranks,
         grid->ranks == 1 ? "" : "s", grid->blocks_x, grid->blocks_y);
  printf("one state: %s on all ranks; %" PRId64 " of them: %s\n", one, options->steps, every);
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

static void put_text(FILE* file, const char* key, const char* text) {
  fprintf(file, "  \"%s\": \"", key);
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(file, "\\%c", c);
    else if (c < 0x20)
      fprintf(file, "\\u%04x", c);
    else
      fputc(c, file);
  }
  fprintf(file, "\",\n");
}

static void put_integer(FILE* file, const char* key, int64_t value) {
  fprintf(file, "  \"%s\": %" PRId64 ",\n", key, value);
}

// JSON has no NaN and no infinity; `known` 0 is null, too.
static void put_number(FILE* file, const char* key, int known, double value) {
  if (known && isfinite(value))
    fprintf(file, "  \"%s\": %.17g,\n", key, value);
  else
    fprintf(file, "  \"%s\": null,\n", key);
}

static void put_statistics(FILE* file, const anadrome_stats* all, int64_t steps) {
  put_text(file, "schedule", all->schedule);
  put_text(file, "layout", all->layout);
  put_text(file, "transport", all->transport);
  put_integer(file, "direct_io", all->direct_io);
  put_integer(file, "memory_bytes", all->memory_bytes);
  put_integer(file, "peak_library_bytes", all->peak_library_bytes);
  put_integer(file, "interval", all->interval);
  put_integer(file, "slots", all->slots);
  put_integer(file, "checkpoint_slots", all->checkpoint_slots);
  put_integer(file, "prefetch_depth", all->prefetch_depth);
  put_integer(file, "anchors", all->anchors);
  put_integer(file, "states_per_write", all->states_per_write);
  put_integer(file, "forward_steps_taken", all->forward_steps_taken);
  put_integer(file, "forward_steps_planned", all->forward_steps_planned);
  put_number(file, "recompute_factor", steps > 0,
             (double)all->forward_steps_taken / (double)(steps > 0 ? steps : 1));
  put_integer(file, "bytes_written", all->bytes_written);
  put_integer(file, "bytes_read", all->bytes_read);
  put_number(file, "seconds_total", 1, all->seconds_total);
  put_number(file, "seconds_forward", 1, all->seconds_forward);
  put_number(file, "seconds_adjoint", 1, all->seconds_adjoint);
  put_number(file, "seconds_stalled_write", 1, all->seconds_stalled_write);
  put_number(file, "seconds_stalled_read", 1, all->seconds_stalled_read);
  put_number(file, "seconds_copying", 1, all->seconds_copying);
  put_number(file, "seconds_agreeing", 1, all->seconds_agreeing);
  put_number(file, "seconds_writing", 1, all->seconds_writing);
  put_number(file, "seconds_reading", 1, all->seconds_reading);
  put_number(file, "seconds_checksums", 1, all->seconds_checksums);
}

int heat_write_json(FILE* file, const heat_options* options, const heat_result* result) {
  const int have = result->have_gradient;
  char text[64];
  fprintf(file, "{\n");
  put_integer(file, "exit_code", result->exit_code);
  if (result->exit_code != HEAT_FINE) put_text(file, "error", result->message);
  snprintf(text, sizeof text, "%" PRId64 "x%" PRId64, options->cells_x, options->cells_y);
  put_text(file, "grid", text);
  put_integer(file, "steps", options->steps);
  put_integer(file, "ranks", result->ranks);
  put_integer(file, "state_bytes", options->cells_x * options->cells_y * (int64_t)sizeof(double));
  put_statistics(file, &result->all, options->steps);
  put_number(file, "seconds_step_median", result->seconds_step_median >= 0.0,
             result->seconds_step_median);
  if (result->rss_growth_bytes >= 0)
    put_integer(file, "rss_growth_bytes", result->rss_growth_bytes);
  else
    put_number(file, "rss_growth_bytes", 0, 0.0);
  put_number(file, "objective", have, result->objective);
  put_number(file, "gradient_norm", have, result->gradient_norm);
  put_number(file, "gradient_norm_kappa", have, result->norm_kappa);
  put_number(file, "gradient_norm_u0", have, result->norm_state);
  snprintf(text, sizeof text, "%016" PRIx64, result->gradient_hash);
  if (have)
    put_text(file, "gradient_hash", text);
  else
    put_number(file, "gradient_hash", 0, 0.0);
  put_number(file, "dot_test_error", result->dot_test_error >= 0.0, result->dot_test_error);
  fprintf(file, "  \"verified\": %s,\n",
          result->verified < 0 ? "null"
          : result->verified   ? "true"
                               : "false");
  fprintf(file, "  \"taylor_slopes\": [");
  for (int s = 0; result->have_taylor && s < result->taylor.slope_count; ++s)
    fprintf(file, "%s%.17g", s > 0 ? ", " : "", result->taylor.slopes[s]);
  fprintf(file, "]\n}\n");
  return ferror(file) ? -1 : 0;
}
