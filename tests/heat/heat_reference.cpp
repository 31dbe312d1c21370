// SPDX-License-Identifier: BSD-2-Clause
// heat_reference NXxNY STEPS euler|rk4|hot_spot [FILE]
//
// Prints the hash of the gradient with every stage of every step kept in an array, and writes both
// parts of the gradient, kappa's and u_0's, row by row as raw doubles into FILE. On one rank.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "every_stage.h"

int main(int argc, char** argv) {
  long long cells_x = 0, cells_y = 0;
  if (argc < 4 || std::sscanf(argv[1], "%lldx%lld", &cells_x, &cells_y) != 2) return 2;
  const std::string_view problem = argv[3];
  MPI_Init(&argc, &argv);
  heat_model* model = heat_model_create(MPI_COMM_SELF, cells_x, cells_y, 1,
                                        problem == "rk4" ? HEAT_RK4 : HEAT_EULER);
  if (model == nullptr) return 2;
  if (problem == "hot_spot") heat_model_use_hot_spot(model);
  const std::uint64_t hash = anadrome::test::gradient_of_every_stage(model, std::atoll(argv[2]));
  std::printf("%016" PRIx64 "\n", hash);
  std::FILE* file = argc > 4 ? std::fopen(argv[4], "wb") : nullptr;
  if (argc > 4 && file == nullptr) return 2;
  if (file != nullptr) {
    const std::size_t cells = heat_grid_cells(&model->grid);
    std::fwrite(model->gradient_kappa, sizeof(double), cells, file);
    std::fwrite(model->lambda, sizeof(double), cells, file);
    if (std::fclose(file) != 0) return 2;
  }
  heat_model_free(model);
  MPI_Finalize();
  return 0;
}
