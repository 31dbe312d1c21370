// SPDX-License-Identifier: BSD-2-Clause
/* A stream in a program that knows no MPI: neither its header nor MPI_Init. */
#include <anadrome/schedule.h>
#include <stdio.h>

int main(void) {
  anadrome_schedule* schedule;
  anadrome_schedule_action action;
  int64_t live = 0, adjoints = 0, memory[5] = {0};
  anadrome_status status = anadrome_schedule_open("schedule=revolve steps=100 slots=5", &schedule);
  do {
    if (status == ANADROME_OK) status = anadrome_schedule_next(schedule, &action);
    if (status != ANADROME_OK) {
      fprintf(stderr, "%s: %s\n", anadrome_status_name(status), anadrome_last_error());
      return 1;
    }
    if (action.kind == ANADROME_SCHEDULE_ADVANCE) live = action.last;
    if (action.kind == ANADROME_SCHEDULE_KEEP) memory[action.slot] = live;
    if (action.kind == ANADROME_SCHEDULE_RESTORE) live = memory[action.slot];
    if (action.kind == ANADROME_SCHEDULE_ADJOINT && live == action.first) ++adjoints;
  } while (action.kind != ANADROME_SCHEDULE_DONE);
  anadrome_schedule_close(&schedule);
  printf("%d adjoints\n", (int)adjoints);
  return adjoints == 100 ? 0 : 1;
}
