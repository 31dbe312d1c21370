/* The gradient of the heat example as the C example computes it, with every state kept in an array
 * and no library between: kappa part, then u_0 part, row by row, as raw doubles. heat_reference NX
 * NY STEPS FILE */
#include <stdio.h>
#include <stdlib.h>

#include "heat_euler.h"
#include "heat_model.h"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  MPI_Init(&argc, &argv);
  const int64_t nx = atoll(argv[1]), ny = atoll(argv[2]), steps = atoll(argv[3]);
  const size_t cells = (size_t)(nx * ny);
  heat_model* model = heat_model_create(MPI_COMM_SELF, nx, ny, 1, HEAT_EULER);
  double** states = malloc(((size_t)steps + 1) * sizeof *states);
  FILE* file = fopen(argv[4], "wb");
  if (model == NULL || states == NULL || file == NULL) return 2;
  states[0] = model->u;
  for (int64_t k = 0; k < steps; ++k) {
    states[k + 1] = malloc(cells * sizeof(double));
    if (states[k + 1] == NULL) return 2;
    heat_euler_step(model, k, states[k], states[k + 1]);
  }
  const double objective = heat_turn(model, states[steps]);
  for (int64_t k = steps - 1; k >= 0; --k) heat_euler_adjoint_step(model, states[k]);
  fwrite(model->gradient_kappa, sizeof(double), cells, file);
  fwrite(model->lambda, sizeof(double), cells, file);
  const int failed = fclose(file) != 0;
  printf("objective      %.15e\n", objective);
  for (int64_t k = 1; k <= steps; ++k) free(states[k]);
  free(states);
  heat_model_free(model);
  MPI_Finalize();
  return failed;
}
