/* The heat equation u_t = div(kappa grad u) + f on the unit square, u = 0 on the walls: its fields
 * and the objective. README.md has the mathematics. Knows nothing about anadrome. */
#ifndef HEAT_MODEL_H
#define HEAT_MODEL_H

#include "heat_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a step is done. */
typedef enum heat_integrator {
  HEAT_EULER, /**< explicit Euler */
  HEAT_RK4    /**< the classical Runge-Kutta method */
} heat_integrator;

enum { HEAT_RK4_STAGES = 4, HEAT_RK4_SCRATCH = 6 };

/** The stages of a step: the states at which it takes a slope. The first is x_k. */
int heat_stages(heat_integrator integrator);
/** As on the command line. */
const char* heat_integrator_name(heat_integrator integrator);

/** dt / h^2 times a conductivity on the cell faces. */
typedef struct heat_faces {
  double* x; /**< ny rows of nx + 1 */
  double* y; /**< ny + 1 rows of nx */
} heat_faces;

typedef struct heat_model {
  heat_grid grid;
  heat_integrator integrator;
  double hx, hy, dt;
  int64_t work;           /**< how often the arithmetic of a step is done; 1 is enough */
  double* u;              /**< the state: x_k */
  double* lambda;         /**< the adjoint state: lambda_k; after the last adjoint step dJ/du_0 */
  double* gradient_kappa; /**< dJ/dkappa, summed up by the adjoint steps */
  double objective;       /**< at the latest turn */
  int hot_spot;           /**< u_0 and the source are 0 but near one place */
  double* tape;           /**< the stages of one step, field after field; NULL: none is wanted */
  double* source;
  double* target;
  heat_faces faces;
  heat_halo u_halo, lambda_halo;
  double* rows[4];                   /**< scratch: one row and its two neighbours in x, each */
  double* scratch[HEAT_RK4_SCRATCH]; /**< fields for a Runge-Kutta step; NULL with Euler */
} heat_model;

/** Set up the model problem on the ranks of `comm`. Collective. NULL on every rank if one lacks
 * memory. */
heat_model* heat_model_create(MPI_Comm comm, int64_t cells_x, int64_t cells_y, int64_t work,
                              heat_integrator integrator);
/** Take u_0 and a source that are 0 but near one place: heat reaches a row of cells more in each
 * step. Local. */
void heat_model_use_hot_spot(heat_model* model);
/** Allocate `tape`. Collective. Returns 0, or -1 on every rank if one lacks memory. */
int heat_model_add_tape(heat_model* model);
/** Collective. NULL is allowed. */
void heat_model_free(heat_model* model);

/** A smooth function on the unit square. */
typedef double (*heat_function)(double x, double y);
double heat_conductivity(double x, double y);
double heat_initial_state(double x, double y);
/** Put u_0 of this model into `field`. */
void heat_fill_initial_state(const heat_model* model, double* field);

/** Put function(x, y) at the cell centres into `field`. The bits do not depend on the
 * decomposition. */
void heat_fill(const heat_grid* grid, heat_function function, double* field);

/** Put dt / h^2 times `conductivity` (arithmetic mean of two cells) on the faces. Collective. */
void heat_set_faces(heat_model* model, const double* conductivity, heat_faces* faces);
/** Allocate faces for this grid. Local. Returns 0, or -1 without memory. */
int heat_faces_create(heat_faces* faces, const heat_grid* grid);
void heat_faces_free(heat_faces* faces);

/** The objective at x_n in `u`, also in model->objective; sets lambda_n and clears the gradient.
 * Collective. */
double heat_turn(heat_model* model, const double* u);

#ifdef __cplusplus
}
#endif

#endif
