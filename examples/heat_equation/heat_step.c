#include "heat_step.h"

#include <string.h>

#include "heat_euler.h"
#include "heat_rk4.h"

void heat_step(heat_model* model, int64_t k, const double* u, double* next) {
  switch (model->integrator) {
    case HEAT_EULER:
      heat_euler_step(model, k, u, next);
      break;
    case HEAT_RK4:
      heat_rk4_step(model, k, u, next, NULL);
      break;
  }
}

void heat_record_step(heat_model* model, int64_t k, const double* u, double* next, double* tape) {
  const size_t cells = heat_grid_cells(&model->grid);
  switch (model->integrator) {
    case HEAT_EULER:  // its one stage is x_k; a rank without cells has no address
      if (cells > 0) memcpy(tape, u, cells * sizeof(double));
      heat_euler_step(model, k, u, next);
      break;
    case HEAT_RK4:
      heat_rk4_step(model, k, u, next, tape);
      break;
  }
}

void heat_adjoint_step(heat_model* model, int64_t k, const double* u) {
  switch (model->integrator) {
    case HEAT_EULER:
      heat_euler_adjoint_step(model, u);
      break;
    case HEAT_RK4:
      heat_rk4_adjoint_step(model, k, u);
      break;
  }
}

void heat_adjoint_of_tape(heat_model* model, const double* tape) {
  switch (model->integrator) {
    case HEAT_EULER:
      heat_euler_adjoint_step(model, tape);
      break;
    case HEAT_RK4:
      heat_rk4_adjoint_of_tape(model, tape);
      break;
  }
}

void heat_tangent_step(heat_model* model, int64_t k, const heat_faces* changed, double* du) {
  switch (model->integrator) {
    case HEAT_EULER:
      heat_euler_tangent_step(model, changed, du);
      break;
    case HEAT_RK4:
      heat_rk4_tangent_step(model, k, changed, du);
      break;
  }
}
