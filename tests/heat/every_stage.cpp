// SPDX-License-Identifier: BSD-2-Clause
#include "every_stage.h"

#include <vector>

namespace anadrome::test {

std::uint64_t gradient_of_every_stage(heat_model* model, std::int64_t steps) {
  const std::size_t size =
      heat_grid_cells(&model->grid) * static_cast<std::size_t>(model->integrator);
  std::vector<std::vector<double>> tapes(static_cast<std::size_t>(steps),
                                         std::vector<double>(size + 1));
  for (std::int64_t k = 0; k < steps; ++k)
    heat_step(model, k, model->u, model->u, tapes[static_cast<std::size_t>(k)].data());
  heat_turn(model, model->u);
  for (std::int64_t k = steps - 1; k >= 0; --k)
    heat_adjoint_step(model, k, nullptr, tapes[static_cast<std::size_t>(k)].data());
  return heat_hash(&model->grid, model->gradient_kappa, model->lambda);
}

}  // namespace anadrome::test
