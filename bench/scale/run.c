// SPDX-License-Identifier: BSD-2-Clause
// A run of few small states that goes through every phase, with what each rank did in it counted.
//   run DIRECTORY COUNTS.csv
#include <anadrome/anadrome.h>
#include <anadrome/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "count.h"

enum { kSteps = 40, kStopAt = 24, kState = 512, kAdjoint = 8 };
static double state[kState], adjoint[kAdjoint];
static int rank, ranks;
static int steps_count;  ///< as phases: of one run only

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "scale: rank %d: %s: %s\n", rank, what, anadrome_last_error());
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

static anadrome_run* opened(const char* directory, const char* const* options) {
  anadrome_run* run = NULL;
  require(anadrome_open(MPI_COMM_WORLD, &run) == ANADROME_OK, "open");
  require(anadrome_set(run, "directory", directory) == ANADROME_OK, "directory");
  for (; *options; options += 2)
    require(anadrome_set(run, options[0], options[1]) == ANADROME_OK, options[0]);
  require(anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, state, kState) ==
              ANADROME_OK,
          "field");
  require(anadrome_add_field(run, "a", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, adjoint,
                             kAdjoint) == ANADROME_OK,
          "field");
  return run;
}

/// Until what is asked for is not to run steps forward; the phases of the forward sweep are
/// counted.
static anadrome_action forward(anadrome_run* run, int unknown, int stop_at) {
  anadrome_action action = {0};
  for (int step = 0;; ++step) {
    scale_phase(NULL);
    const anadrome_status status = anadrome_next(run, &action);
    if (step == stop_at) {
      require(status == ANADROME_STOPPED, "stop");
      scale_phase("commit");
      return action;
    }
    require(status == ANADROME_OK, "next");
    long made = scale_created();
    PMPI_Bcast(&made, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (action.kind != ANADROME_ADVANCE) {
      scale_phase(steps_count && action.kind == ANADROME_TURN ? "TURN" : NULL);
      return action;
    }
    scale_phase(!steps_count || step < 2 ? NULL : made > 0 ? "segment" : "anchor");
    state[0] = (double)action.last;
    if (unknown && action.last == kSteps)
      require(anadrome_finish_forward(run, kSteps) == ANADROME_OK, "finish");
    if (action.last == stop_at) require(anadrome_request_stop(run) == ANADROME_OK, "request");
  }
}

static void reverse(anadrome_run* run) {
  anadrome_action action = {0};
  do {
    scale_phase(NULL);
    require(anadrome_next(run, &action) == ANADROME_OK, "next");
    if (steps_count) scale_phase(action.kind == ANADROME_ADJOINT ? "adjoint" : "DONE");
    adjoint[0] += state[0];
  } while (action.kind != ANADROME_DONE);
}

static void begin(anadrome_run* run, int64_t steps, const char* phase) {
  scale_phase(NULL);
  require(anadrome_begin(run, steps) == ANADROME_OK, "begin");
  scale_phase(phase);
}

static void close_run(anadrome_run* run, const char* phase) {
  scale_phase(NULL);
  require(anadrome_close(&run) == ANADROME_OK, "close");
  scale_phase(phase);
}

/// The last rank's journal goes, and comes back.
static void lose_journal(const char* directory, int back) {
  char here[512], aside[512];
  snprintf(here, sizeof here, "%s/anadrome/journal-%06d", directory, ranks - 1);
  snprintf(aside, sizeof aside, "%s/aside", directory);
  PMPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) require(rename(back ? aside : here, back ? here : aside) == 0, "move a journal");
  PMPI_Barrier(MPI_COMM_WORLD);
}

#define EVERY_ANCHOR "schedule", "async", "interval", "1", "audit", "off", "memory", "256KiB"
#define IN_MEMORY "schedule", "revolve", "audit", "off"
#define RESUMES EVERY_ANCHOR, "resume", "on", "checkpoint_interval", "1000000"

/// Of one rank no journal is alone: that is a new run.
static void count_lost(const char* directory, const char* const* options) {
  lose_journal(directory, 0);
  anadrome_run* const run = opened(directory, options);
  scale_phase(NULL);
  require(anadrome_begin(run, ANADROME_STEPS_UNKNOWN) == ANADROME_ERR_ARGUMENT,
          "begin without a journal");
  scale_phase("resume (journal missing)");
  close_run(run, NULL);
  lose_journal(directory, 1);
}

static void count_resumed(const char* directory) {
  const char* const options[] = {RESUMES, NULL};
  steps_count = 1;
  scale_phase(NULL);
  anadrome_run* run = opened(directory, options);
  scale_phase("open");
  begin(run, ANADROME_STEPS_UNKNOWN, "begin");
  forward(run, 1, kStopAt);
  close_run(run, "close (left)");
  if (ranks > 1) count_lost(directory, options);
  run = opened(directory, options);
  begin(run, ANADROME_STEPS_UNKNOWN, "resume");
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  int64_t step = 0;
  require(anadrome_resumed(run, &phase, &step) == ANADROME_OK && phase == ANADROME_PHASE_FORWARD,
          "resumed");
  forward(run, 1, kSteps + 1);
  reverse(run);
  close_run(run, "close");
  steps_count = 0;
}

static void count_whole(const char* directory, const char* const* options, const char* begun,
                        const char* closed) {
  anadrome_run* run = opened(directory, options);
  begin(run, ANADROME_STEPS_UNKNOWN, begun);
  forward(run, 1, kSteps + 1);
  reverse(run);
  close_run(run, closed);
}

static void count_watched(const char* directory) {
  const char* const options[] = {IN_MEMORY, "watchdog", "2", NULL};
  anadrome_run* run = opened(directory, options);
  begin(run, kSteps, "begin (watchdog)");
  PMPI_Barrier(MPI_COMM_WORLD);
  scale_watched("watchdog period", 4);
  PMPI_Barrier(MPI_COMM_WORLD);
  close_run(run, "close (watchdog)");
}

static void count_traced(const char* directory) {
  char file[512];
  snprintf(file, sizeof file, "%s/trace.json", directory);
  const char* const options[] = {IN_MEMORY, "trace", file, NULL};
  anadrome_run* run = opened(directory, options);
  begin(run, kSteps, NULL);
  anadrome_action action = forward(run, 0, kSteps + 1);
  while (action.kind != ANADROME_DONE) {
    scale_phase(NULL);
    require(anadrome_next(run, &action) == ANADROME_OK, "next");
  }
  scale_phase("DONE (trace)");
  close_run(run, NULL);
}

/// Objects that do not fit in memory.
static void count_store(const char* directory) {
  enum { kObjects = 64, kValues = 4096 };
  char options[512];
  static double values[kValues];
  const anadrome_part part = {"u", ANADROME_FLOAT64, kValues, values};
  snprintf(options, sizeof options, "memory=256KiB directory=%s", directory);
  anadrome_store* store = NULL;
  require(anadrome_store_open(MPI_COMM_WORLD, options, &store) == ANADROME_OK, "store_open");
  for (int key = 0; key < kObjects; ++key)
    require(anadrome_store_put(store, key, 1, &part) == ANADROME_OK, "store_put");
  require(anadrome_store_sync(store) == ANADROME_OK, "store_sync");
  scale_phase(NULL);
  require(anadrome_store_close(&store) == ANADROME_OK, "store_close");
  scale_phase("close of a store");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) PMPI_Abort(MPI_COMM_WORLD, 2);
  const char* const by_rank[] = {EVERY_ANCHOR, "layout", "rank", NULL};
  const char* const kept[] = {EVERY_ANCHOR, "keep", "on", NULL};
  count_resumed(argv[1]);
  count_whole(argv[1], by_rank, "begin (layout=rank)", "close (layout=rank)");
  count_whole(argv[1], kept, "begin (keep)", "close (keep)");
  count_watched(argv[1]);
  count_traced(argv[1]);
  count_store(argv[1]);
  scale_report(argv[2]);
  MPI_Finalize();
  return 0;
}
