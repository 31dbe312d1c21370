// SPDX-License-Identifier: BSD-2-Clause
#include "outcome.h"

#include <stdarg.h>

#include "json_file.h"

void outcome_end_with(outcome* end, int exit_code, const char* format, ...) {
  if (end->exit_code != EXAMPLE_FINE) return;  // the first reason counts
  va_list values;
  end->exit_code = exit_code;
  va_start(values, format);
  vsnprintf(end->message, sizeof end->message, format, values);
  va_end(values);
}

int outcome_is_fine(outcome* end, MPI_Comm comm, anadrome_status status, int exit_code) {
  struct {
    int weight, rank;
  } own, chosen;
  char message[sizeof end->message];
  int code = (int)status;
  MPI_Comm_rank(comm, &own.rank);
  own.weight = status == ANADROME_OK ? 2 : status == ANADROME_ERR_PEER ? 1 : 0;
  snprintf(message, sizeof message, "%s: %s", anadrome_status_name(status), anadrome_last_error());
  MPI_Allreduce(&own, &chosen, 1, MPI_2INT, MPI_MINLOC, comm);
  if (chosen.weight == 2) return 1;
  MPI_Bcast(message, sizeof message, MPI_CHAR, chosen.rank, comm);
  MPI_Bcast(&code, 1, MPI_INT, chosen.rank, comm);
  if (end->exit_code == EXAMPLE_FINE) end->status = (anadrome_status)code;
  if (exit_code == EXAMPLE_USAGE && code != ANADROME_ERR_ARGUMENT)
    exit_code = EXAMPLE_LIBRARY_ERROR;
  if (code == ANADROME_STOPPED) exit_code = EXAMPLE_STOPPED;
  outcome_end_with(end, exit_code, "%s", message);
  return 0;
}

void outcome_reduce_statistics(MPI_Comm comm, const anadrome_stats* stats, anadrome_stats* all) {
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

void outcome_put_statistics(FILE* file, const anadrome_stats* all, int64_t steps) {
  json_put_text(file, "schedule", all->schedule);
  json_put_text(file, "layout", all->layout);
  json_put_text(file, "transport", all->transport);
  json_put_integer(file, "direct_io", all->direct_io);
  json_put_integer(file, "memory_bytes", all->memory_bytes);
  json_put_integer(file, "peak_library_bytes", all->peak_library_bytes);
  json_put_integer(file, "interval", all->interval);
  json_put_integer(file, "slots", all->slots);
  json_put_integer(file, "checkpoint_slots", all->checkpoint_slots);
  json_put_integer(file, "prefetch_depth", all->prefetch_depth);
  json_put_integer(file, "anchors", all->anchors);
  json_put_integer(file, "states_per_write", all->states_per_write);
  json_put_integer(file, "forward_steps_taken", all->forward_steps_taken);
  json_put_integer(file, "forward_steps_planned", all->forward_steps_planned);
  json_put_number(file, "recompute_factor", steps > 0,
                  (double)all->forward_steps_taken / (double)(steps > 0 ? steps : 1));
  json_put_integer(file, "bytes_written", all->bytes_written);
  json_put_integer(file, "bytes_read", all->bytes_read);
  json_put_number(file, "seconds_total", 1, all->seconds_total);
  json_put_number(file, "seconds_forward", 1, all->seconds_forward);
  json_put_number(file, "seconds_adjoint", 1, all->seconds_adjoint);
  json_put_number(file, "seconds_stalled_write", 1, all->seconds_stalled_write);
  json_put_number(file, "seconds_stalled_read", 1, all->seconds_stalled_read);
  json_put_number(file, "seconds_copying", 1, all->seconds_copying);
  json_put_number(file, "seconds_agreeing", 1, all->seconds_agreeing);
  json_put_number(file, "seconds_writing", 1, all->seconds_writing);
  json_put_number(file, "seconds_reading", 1, all->seconds_reading);
  json_put_number(file, "seconds_checksums", 1, all->seconds_checksums);
}
