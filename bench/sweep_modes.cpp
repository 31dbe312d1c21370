// SPDX-License-Identifier: BSD-2-Clause
#include "sweep_modes.h"

#include <algorithm>

namespace bench {

void Problem::measure_states() {
  state_bytes.clear();
  std::copy(start.begin(), start.end(), model->u);
  model->work = 1;
  for (std::int64_t k = 0; k < steps; ++k) {
    state_bytes.push_back(static_cast<std::int64_t>(heat_reached_bytes(model)));
    heat_step(model, k, model->u, model->u, nullptr);
  }
}

heat_model* Problem::ready(std::int64_t k) const {
  const bool uneven = !state_bytes.empty();
  const std::int64_t part = uneven ? state_bytes[static_cast<std::size_t>(k)] : k;
  const std::int64_t whole = uneven ? static_cast<std::int64_t>(heat_reached_most(&model->grid))
                                    : std::max<std::int64_t>(steps - 1, 1);
  model->work = work + (last_work - work) * part / whole;
  return model;
}

}  // namespace bench
