// SPDX-License-Identifier: BSD-2-Clause
#include "sweeps.h"

#include <algorithm>
#include <anadrome/anadrome.hpp>
#include <anadrome/sketch.hpp>
#include <functional>

namespace wave {
namespace {

// u_n is in the n-th of them modulo 2, and so is lambda_n.
struct Pair {
  explicit Pair(const Wave& wave) : fields{wave.field(), wave.field()} {}
  Field& operator[](std::int64_t n) { return fields[n & 1]; }
  Field fields[2];
};

// All steps from u_0 = u_{-1} = 0. `each`: step n has made x_n.
void run_forward(Wave& wave, const std::function<void(std::int64_t n, const Field& x)>& each) {
  Pair u(wave);
  Field x = wave.field();
  for (std::int64_t n = 0; n < wave.steps(); ++n) {
    wave.step(n, u[n], u[n + 1], x);
    wave.record(n + 1, u[n + 1]);
    each(n, x);
  }
}

// All adjoint steps, without any u. `each`: y_n is known.
void run_back(Wave& wave, const std::function<void(std::int64_t n, const Field& y)>& each) {
  Pair lambda(wave);
  Field y = wave.field();
  wave.begin_adjoint(lambda[wave.steps()]);
  for (std::int64_t n = wave.steps(); n-- > 0;) {
    wave.weight(lambda[n + 1], y);
    each(n, y);
    wave.adjoint_step(n, nullptr, lambda[n + 1], lambda[n]);
  }
}

}  // namespace

void measure(Wave& wave) {
  Pair u(wave);
  Field x = wave.field();
  wave.use_true_slowness();
  for (std::int64_t n = 0; n < wave.steps(); ++n) {
    wave.step(n, u[n], u[n + 1], x);
    wave.measure(n + 1, u[n + 1]);
  }
  wave.use_guessed_slowness();
}

double objective_of(Wave& wave) {
  run_forward(wave, [](std::int64_t, const Field&) {});
  return wave.objective();
}

Gradient exact_gradient(Wave& wave, const settings& library) {
  const double start = MPI_Wtime();
  Pair u(wave), lambda(wave);
  Field x = wave.field(), y = wave.field();
  Gradient made;
  made.values.resize(wave.points());
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("schedule", "async").set("memory", "16MiB");
  const anadrome_status status = settings_apply(&library, run.handle());
  if (status != ANADROME_OK) throw anadrome::Error(status);
  run.add_field("even", wave.own(u[0]), wave.points());
  run.add_field("odd", wave.own(u[1]), wave.points());
  for (const anadrome::Action& action : run.sweep(wave.steps())) {
    if (action.kind == ANADROME_ADVANCE) {
      for (std::int64_t n = action.first; n < action.last; ++n) {
        wave.step(n, u[n], u[n + 1], x);
        wave.record(n + 1, u[n + 1]);
      }
    }
    if (action.kind == ANADROME_RETREAT)
      wave.undo(action.first, u[action.first], u[action.last], x);
    if (action.kind == ANADROME_TURN) wave.begin_adjoint(lambda[wave.steps()]);
    if (action.kind == ANADROME_ADJOINT) {
      const std::int64_t n = action.first;
      wave.sample(n, u[n], x);
      wave.weight(lambda[n + 1], y);
      for (std::size_t i = 0; i < wave.points(); ++i) {
        made.values[i] += wave.own(x)[i] * wave.own(y)[i];
      }
      wave.adjoint_step(n, &u[n], lambda[n + 1], lambda[n]);
    }
  }
  made.bytes = static_cast<double>(run.statistics().peak_library_bytes);
  made.seconds = MPI_Wtime() - start;
  return made;
}

Gradient sketched_gradient(Wave& wave, const SketchSetup& setup) {
  const double start = MPI_Wtime();
  const std::int64_t length = (wave.steps() + setup.windows - 1) / setup.windows;
  const std::int64_t arrays = std::max<std::int64_t>(1, setup.arrays / setup.windows);
  std::vector<anadrome::Sketch<double>> windows;
  for (std::int64_t w = 0; w < setup.windows; ++w) {
    windows.emplace_back(wave.points(), arrays, setup.seed, setup.kind);
  }
  const auto window = [&](std::int64_t n) -> anadrome::Sketch<double>& {
    return windows[static_cast<std::size_t>(n / length)];
  };
  run_forward(wave, [&](std::int64_t n, const Field& x) { window(n).push(n, wave.own(x)); });
  run_back(wave, [&](std::int64_t n, const Field& y) { window(n).correlate(n, wave.own(y)); });
  Gradient made;
  made.values.resize(wave.points());
  made.variance.resize(wave.points());
  for (const anadrome::Sketch<double>& sketch : windows) {
    const std::vector<double> values = sketch.gradient(), variance = sketch.variance();
    for (std::size_t i = 0; i < wave.points(); ++i) {
      made.values[i] += values[i];
      made.variance[i] += variance[i];
    }
    made.bytes +=
        static_cast<double>(anadrome::Sketch<double>::bytes(wave.points(), arrays, setup.kind));
  }
  made.seconds = MPI_Wtime() - start;
  return made;
}

Gradient sparse_gradient(Wave& wave, std::int64_t arrays) {
  const double start = MPI_Wtime();
  const std::int64_t every = std::max<std::int64_t>(1, wave.steps() / arrays);
  const std::int64_t kept = (wave.steps() - 1 - every / 2) / every + 1;
  anadrome::Sketch<double> sketch(wave.points(), kept, 0, ANADROME_SKETCH_EXACT);
  run_forward(wave, [&](std::int64_t n, const Field& x) {
    if (n % every == every / 2) sketch.push(n / every, wave.own(x));
  });
  run_back(wave, [&](std::int64_t n, const Field& y) {
    if (n % every == every / 2) sketch.correlate(n / every, wave.own(y));
  });
  Gradient made;
  made.values = sketch.gradient();
  for (double& value : made.values) value *= static_cast<double>(every);
  made.bytes = static_cast<double>(
      anadrome::Sketch<double>::bytes(wave.points(), kept, ANADROME_SKETCH_EXACT));
  made.seconds = MPI_Wtime() - start;
  return made;
}

}  // namespace wave
