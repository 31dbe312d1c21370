// SPDX-License-Identifier: BSD-2-Clause
// Three ways to the gradient of the objective with respect to the squared slowness, sum_n y_n x_n.
#pragma once

#include <anadrome/sketch.h>

#include <vector>

#include "command_line.h"
#include "wave.h"

namespace wave {

struct Gradient {
  std::vector<double> values;  ///< of this rank's points
  std::vector<double> variance;
  double seconds = 0;
  double bytes = 0;  ///< of memory for it on this rank
};

/// A forward sweep without a reverse one.
void measure(Wave& wave);
double objective_of(Wave& wave);

/// With the states, which anadrome keeps and recomputes. `library`: options for it.
Gradient exact_gradient(Wave& wave, const settings& library);

struct SketchSetup {
  std::int64_t arrays = 64;  ///< in all windows together
  std::int64_t windows = 1;  ///< equal parts of the steps, each with a sketch of its own
  anadrome_sketch_kind kind = ANADROME_SKETCH_COUNT;
  std::int64_t seed = 0;
};
/// From sketches of x_n, without its states: the adjoint of a step gets none.
Gradient sketched_gradient(Wave& wave, const SketchSetup& setup);

/// From the x_n of every so many steps, as many as there are arrays.
Gradient sparse_gradient(Wave& wave, std::int64_t arrays);

}  // namespace wave
