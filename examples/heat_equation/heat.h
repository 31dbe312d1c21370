// SPDX-License-Identifier: BSD-2-Clause
/* The heat equation u_t = div(kappa grad u) + f on the unit square, u = 0 on the walls, and the
 * gradient of an objective at its end. README.md has the mathematics. */
#ifndef HEAT_H
#define HEAT_H

#include <anadrome/anadrome.h>

#include "command_line.h"
#include "outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The cells, cut into one strip of whole rows per rank. Fields are row-major, x fastest, without a
 * halo. */
typedef struct heat_grid {
  MPI_Comm comm;
  int rank, ranks;
  int64_t cells_x, cells_y;
  int64_t first_y;  /**< the first row of this rank's strip */
  size_t nx, ny;    /**< the strip: ny rows of nx = cells_x; the last ranks may have no row */
  int south, north; /**< the neighbours; MPI_PROC_NULL: a wall of the square */
} heat_grid;

heat_grid heat_grid_of(MPI_Comm comm, int64_t cells_x, int64_t cells_y);
/** The number of cells of this rank. */
size_t heat_grid_cells(const heat_grid* grid);
/** function(x, y) at the centres of the cells. */
void heat_fill(const heat_grid* grid, double function(double x, double y), double* field);
/** Fetch the rows south and north of this strip into `halo`, one after the other. Behind a wall
 * lies wall_sign times the row inside: -1 makes the field vanish there, +1 continues it evenly.
 * Collective. */
void heat_exchange(const heat_grid* grid, const double* field, double wall_sign, double* halo);
/** Over all ranks, with the same bits for every number of them; NaN if a value is not finite.
 * Collective. */
double heat_sum_of_squares(const heat_grid* grid, const double* field);
/** The XXH3-64 of all rows of `first` and then all rows of `second`. Collective. */
uint64_t heat_hash(const heat_grid* grid, const double* first, const double* second);

/** How a step is done: explicit Euler or the classical Runge-Kutta method. The value is the number
 * of stages, the states at which a step takes a slope. The first stage of step k is x_k. */
typedef enum heat_integrator { HEAT_EULER = 1, HEAT_RK4 = 4 } heat_integrator;

typedef struct heat_model {
  heat_grid grid;
  heat_integrator integrator;
  double hx, hy, dt;
  int64_t work;           /**< how often the arithmetic of a step is done; 1 is enough */
  int hot_spot;           /**< u_0 and the source are 0 but near one place */
  double* u;              /**< the state: x_k */
  double* lambda;         /**< the adjoint state: lambda_k; after the last adjoint step dJ/du_0 */
  double* gradient_kappa; /**< dJ/dkappa, summed up by the adjoint steps */
  double objective;       /**< at the latest turn */
  double* tape;           /**< the stages of one step, field after field; NULL: none is wanted */
  double *source, *target;
  double *face_x, *face_y;    /**< dt / h^2 times kappa: ny rows of nx + 1, ny + 1 rows of nx */
  double *halo_u, *halo_l;    /**< scratch: two rows each */
  double* rows[4];            /**< scratch: one row and its two neighbours in x, each */
  double* stages;             /**< scratch for a Runge-Kutta step: as `tape` */
  double *sum, *mu, *next_mu; /**< scratch for a Runge-Kutta step */
  double* arrays[24];         /**< all of them, to be freed */
  int array_count, complete;
} heat_model;

/** Collective. NULL on every rank if one lacks memory. */
heat_model* heat_model_create(MPI_Comm comm, int64_t cells_x, int64_t cells_y, int64_t work,
                              heat_integrator integrator);
/** NULL is allowed. */
void heat_model_free(heat_model* model);
/** Take u_0 and a source that are 0 but near one place. */
void heat_model_use_hot_spot(heat_model* model);
/** Allocate `tape`. Collective. Returns 0, or -1 on every rank if one lacks memory. */
int heat_model_add_tape(heat_model* model);
double heat_conductivity(double x, double y);
/** Take other values than heat_conductivity's. Collective. */
void heat_set_conductivity(heat_model* model, const double* kappa);
/** Put u_0 of this model into `field`. */
void heat_fill_initial_state(const heat_model* model, double* field);

/** x_k in `u` -> x_{k+1} in `next`; both may be the same array. `tape` gets all that the adjoint of
 * the step needs, its stages; NULL: it is not wanted. Collective. */
void heat_step(heat_model* model, int64_t k, const double* u, double* next, double* tape);
/** The objective at x_n in `u`; sets lambda_n and clears the gradient. Collective. */
double heat_turn(heat_model* model, const double* u);
/** lambda_{k+1} -> lambda_k; adds the step's part of dJ/dkappa. With `tape` NULL from x_k in `u`,
 * the other stages being computed once more; otherwise from the step's tape alone, with the same
 * bits. Collective. */
void heat_adjoint_step(heat_model* model, int64_t k, const double* u, const double* tape);

/* Callbacks of anadrome_add_varying, the context is the model: of each row of a state, the cells
 * between the first and the last one that heat has reached. */
size_t heat_reached_most(const heat_grid* grid); /**< bytes of any state of this rank, at most */
size_t heat_reached_bytes(void* model);
int heat_reached_pack(void* model, void* buffer, size_t bytes);
int heat_reached_unpack(void* model, const void* buffer, size_t bytes);

/** The flags of README.md. */
typedef struct heat_options {
  int64_t cells_x, cells_y, steps, repeat, work;
  heat_integrator integrator;
  int tape, steps_unknown, zero_copy, adaptive, resume, quiet, help;
  const char *json_file, *log_file; /**< NULL: none */
  FILE* log;                        /**< a line per action, on rank 0; NULL: none */
  settings library;                 /**< options of anadrome */
} heat_options;

typedef struct heat_result {
  outcome end;       /**< how the job ended; the same on every rank */
  int have_gradient; /**< the next four are set */
  double objective;
  double square_kappa, square_u0; /**< of the norms of the gradient's two parts */
  uint64_t gradient_hash;
  anadrome_stats stats, all; /**< this rank's; all ranks' (outcome.h); of the last sweep */
} heat_result;

extern const heat_options heat_defaults;
/** Do one whole job: the gradient, with its states kept by anadrome. Prints, unless options->quiet,
 * on rank 0's standard output. Collective. Returns the exit code. */
int heat_run(MPI_Comm comm, const heat_options* options, heat_result* result);

#ifdef __cplusplus
}
#endif

#endif
