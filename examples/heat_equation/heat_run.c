// SPDX-License-Identifier: BSD-2-Clause
// One whole job, and its calls of anadrome.
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "heat.h"

typedef struct job {
  MPI_Comm comm;
  const heat_options* options;
  heat_result* result;
  heat_model* model;
  anadrome_run* run;
  int field;  // of the state in anadrome, if it is exchanged
} job;

static int is_fine(job* j, anadrome_status status, int exit_code) {
  return outcome_is_fine(&j->result->end, j->comm, status, exit_code);
}

static anadrome_status set_options(const job* j) {
  const heat_options* o = j->options;
  char problem[160];  // what must not change between two processes of one run
  snprintf(problem, sizeof problem, "heat equation, %" PRId64 "x%" PRId64 " cells, %d stages%s",
           o->cells_x, o->cells_y, (int)o->integrator, o->adaptive ? ", hot spot" : "");
  anadrome_status status = o->quiet ? ANADROME_OK : anadrome_set(j->run, "report", "-");
  if (status == ANADROME_OK && o->resume) status = anadrome_set(j->run, "problem", problem);
  if (status == ANADROME_OK && o->resume) status = anadrome_set(j->run, "resume", "on");
  return status == ANADROME_OK ? settings_apply(&o->library, j->run) : status;
}

static anadrome_status add_fields(job* j) {
  heat_model* m = j->model;
  const heat_options* o = j->options;
  const size_t cells = heat_grid_cells(&m->grid);
  const struct {
    int wanted;
    anadrome_role role;
    const char* name;
    double* values;
    size_t count;
  } fields[] = {
      {!o->adaptive && !o->zero_copy, ANADROME_ROLE_STATE, "u", m->u, cells},
      {o->tape, ANADROME_ROLE_TAPE, "stages", m->tape, (size_t)m->integrator * cells},
      // The sums of the adjoint sweep so far: never computed again, so who goes on gets them back.
      {o->resume, ANADROME_ROLE_ADJOINT, "lambda", m->lambda, cells},
      {o->resume, ANADROME_ROLE_ADJOINT, "gradient_kappa", m->gradient_kappa, cells},
      {o->resume, ANADROME_ROLE_ADJOINT, "objective", &m->objective, 1},
  };
  anadrome_status status = ANADROME_OK;
  if (o->adaptive)
    status = anadrome_add_varying(j->run, "u", ANADROME_ROLE_STATE, heat_reached_most(&m->grid),
                                  heat_reached_bytes, heat_reached_pack, heat_reached_unpack, m);
  else if (o->zero_copy)
    status = anadrome_add_exchanged(j->run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, cells,
                                    &j->field);
  for (size_t f = 0; f < sizeof fields / sizeof fields[0]; ++f)
    if (fields[f].wanted && status == ANADROME_OK)
      status = anadrome_add_field(j->run, fields[f].name, fields[f].role, ANADROME_FLOAT64,
                                  fields[f].values, fields[f].count);
  return status;
}

static void print_header(const job* j) {
  const heat_options* o = j->options;
  const double mebibyte = 1048576.0, state = (double)o->cells_x * (double)o->cells_y * 8.0;
  anadrome_stats stats = {.size = sizeof stats};
  anadrome_statistics(j->run, &stats);
  const double memory = (double)stats.memory_bytes, states = state * (double)o->steps;
  const int ranks = j->model->grid.ranks;
  printf("heat equation: %" PRId64 "x%" PRId64 " cells, %" PRId64
         " steps, %d ranks\n"
         "one state: %.4g MiB on all ranks; all of them: %.4g MiB\n"
         "memory for states: %.4g MiB per rank: the states take %.3g times the memory budget\n",
         o->cells_x, o->cells_y, o->steps, ranks, state / mebibyte, states / mebibyte,
         memory / mebibyte, states / (memory * ranks));
  fflush(stdout);
}

// Where the live state is, and where the next one goes.
static const double* state(const job* j) {
  return j->options->zero_copy ? anadrome_now(j->run, j->field) : j->model->u;
}

static double* next_state(const job* j) {
  return j->options->zero_copy ? anadrome_then(j->run, j->field) : j->model->u;
}

// A sweep that goes on where another process was has its state and adjoint in the model.
static void start(const job* j) {
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  int64_t step = 0;
  anadrome_resumed(j->run, &phase, &step);
  if (phase == ANADROME_PHASE_IDLE)
    heat_fill_initial_state(j->model, next_state(j));
  else if (j->model->grid.rank == 0 && !j->options->quiet)
    printf("going on in the %s sweep, at step %" PRId64 "\n",
           phase == ANADROME_PHASE_FORWARD ? "forward" : "reverse", step);
}

// Steps first .. last-1, or up to the end of the simulation. Returns the step reached.
static int64_t advance(const job* j, const anadrome_action* a) {
  int64_t k = a->first;
  for (; k < a->last && k < j->options->steps; ++k) {
    double* tape = a->record && k + 1 == a->last ? j->model->tape : NULL;
    heat_step(j->model, k, state(j), next_state(j), tape);
  }
  return k;
}

// Seconds, seconds, kind, first step, last step.
static void log_action(const job* j, const anadrome_action* a, double from, double to) {
  const char* kind = a->again ? "again" : "advance";
  if (a->kind == ANADROME_TURN) kind = "turn";
  if (a->kind == ANADROME_ADJOINT) kind = "adjoint";
  fprintf(j->options->log, "%.6f %.6f %s %" PRId64 " %" PRId64 "\n", from, to, kind, a->first,
          a->last);
}

// One sweep forward and one back, as anadrome asks for it.
static anadrome_status sweep(const job* j, int first_sweep) {
  const double begin = MPI_Wtime();
  const int64_t steps = j->options->steps;
  int told = !j->options->steps_unknown;
  anadrome_action a;
  anadrome_status status = anadrome_begin(j->run, told ? steps : ANADROME_STEPS_UNKNOWN);
  if (status != ANADROME_OK) return status;
  if (first_sweep && j->model->grid.rank == 0 && !j->options->quiet) print_header(j);
  start(j);
  while (status == ANADROME_OK && (status = anadrome_next(j->run, &a)) == ANADROME_OK) {
    const double since = MPI_Wtime();
    if (a.kind == ANADROME_DONE) break;
    if (a.kind == ANADROME_ADVANCE) {
      const int64_t reached = advance(j, &a);
      if (!told && reached == steps) status = anadrome_finish_forward(j->run, reached);
      told = told || reached == steps;
    } else if (a.kind == ANADROME_TURN) {
      heat_turn(j->model, state(j));
    } else {  // with tape fields the state is not defined here
      heat_adjoint_step(j->model, a.first, state(j), j->model->tape);
    }
    if (j->options->log != NULL) log_action(j, &a, since - begin, MPI_Wtime() - begin);
  }
  return status;
}

static void keep_gradient(job* j) {
  const heat_model* m = j->model;
  heat_result* r = j->result;
  const uint64_t hash = heat_hash(&m->grid, m->gradient_kappa, m->lambda);
  if (r->have_gradient && (hash != r->gradient_hash || m->objective != r->objective))
    outcome_end_with(&r->end, EXAMPLE_WRONG, "two sweeps of one run gave different gradients");
  r->have_gradient = 1;
  r->objective = m->objective;
  r->square_kappa = heat_sum_of_squares(&m->grid, m->gradient_kappa);
  r->square_u0 = heat_sum_of_squares(&m->grid, m->lambda);
  r->gradient_hash = hash;
}

static anadrome_run* run_to_stop;

// The signal that a batch system sends before the time is up: the sweep ends at its next anchor.
static void on_signal(int number) {
  (void)number;
  anadrome_request_stop(run_to_stop);
}

static void listen(void (*handler)(int)) {
  signal(SIGTERM, handler);
  signal(SIGUSR1, handler);
}

static void gradient_with_anadrome(job* j) {
  if (!is_fine(j, anadrome_open(j->comm, &j->run), EXAMPLE_LIBRARY_ERROR)) return;
  run_to_stop = j->run;
  if (j->options->resume) listen(on_signal);
  if (is_fine(j, set_options(j), EXAMPLE_USAGE) &&
      is_fine(j, add_fields(j), EXAMPLE_LIBRARY_ERROR)) {
    for (int64_t r = 0; r < j->options->repeat && j->result->end.exit_code == EXAMPLE_FINE; ++r) {
      const int fine = is_fine(j, sweep(j, r == 0), EXAMPLE_LIBRARY_ERROR);
      anadrome_statistics(j->run, &j->result->stats);
      if (fine) keep_gradient(j);
    }
  }
  if (j->options->resume) listen(SIG_DFL);
  is_fine(j, anadrome_close(&j->run), EXAMPLE_LIBRARY_ERROR);
}

const heat_options heat_defaults = {
    .cells_x = 256, .cells_y = 256, .steps = 200, .repeat = 1, .work = 1, .integrator = HEAT_EULER};

int heat_run(MPI_Comm comm, const heat_options* o, heat_result* r) {
  *r = (heat_result){.stats = {.size = sizeof r->stats}};
  job j = {.comm = comm, .options = o, .result = r};
  j.model = heat_model_create(comm, o->cells_x, o->cells_y, o->work, o->integrator);
  if (j.model == NULL || (o->tape && heat_model_add_tape(j.model) != 0))
    outcome_end_with(&r->end, EXAMPLE_USAGE, "no memory for so many cells");
  if (o->adaptive && o->zero_copy)
    outcome_end_with(&r->end, EXAMPLE_USAGE, "an exchanged state (--zero-copy) is not --adaptive");
  if (r->end.exit_code == EXAMPLE_FINE && o->adaptive) heat_model_use_hot_spot(j.model);
  if (r->end.exit_code == EXAMPLE_FINE) gradient_with_anadrome(&j);
  outcome_reduce_statistics(comm, &r->stats, &r->all);
  if (r->have_gradient && j.model->grid.rank == 0 && !o->quiet)
    printf(
        "objective          %.17g\n"
        "gradient norm      %.17g  (kappa %.6e, u_0 %.6e)\n"
        "gradient hash      %016" PRIx64 "\n",
        r->objective, sqrt(r->square_kappa + r->square_u0), sqrt(r->square_kappa),
        sqrt(r->square_u0), r->gradient_hash);
  heat_model_free(j.model);
  return r->end.exit_code;
}
