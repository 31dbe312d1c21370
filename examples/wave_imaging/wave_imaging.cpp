// SPDX-License-Identifier: BSD-2-Clause
// The gradient of seismic imaging, sum over all steps of u_tt lambda, from sketches beside the
// exact one from checkpoints: error, memory and time by the number of arrays. See README.md. Exit
// code 1: the exact gradient is wrong, or a sketch is off by more than it says.
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include <anadrome/error.hpp>

#include "options.h"
#include "pictures.h"
#include "sweeps.h"

namespace {

using namespace wave;

constexpr double kMiB = 1048576;

double total(double sum) {
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

double square_of_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return total(sum);
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return total(sum);
}

template <class... Values>
void say(const char* format, Values... values) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf(format, values...);
  std::fflush(stdout);
}

// J(m + e v) = J + e <gradient, v> + O(e^2): half the e, a quarter of the remainder.
double taylor_slope(Wave& wave, double objective, const std::vector<double>& gradient) {
  double derivative = 0;
  for (std::int64_t row = 0; row < wave.rows(); ++row) {
    for (std::int64_t column = 0; column < wave.width(); ++column) {
      derivative += gradient[static_cast<std::size_t>(row * wave.width() + column)] *
                    wave.direction(wave.first_row() + row, column);
    }
  }
  derivative = total(derivative);
  double remainder[2];
  for (const int half : {0, 1}) {
    const double epsilon = std::ldexp(2e-3, -half);
    wave.use_moved_slowness(epsilon);
    remainder[half] = std::fabs(objective_of(wave) - objective - epsilon * derivative);
  }
  wave.use_guessed_slowness();
  return std::log2(remainder[0] / remainder[1]);
}

class Imaging {
 public:
  explicit Imaging(const Options& options)
      : options_(options),
        wave_(options.cells, options.steps, options.reflected, options.nonlinear) {}

  /// Whether all is as it should be.
  bool run() {
    measure(wave_);
    exact_ = exact_gradient(wave_, options_.library);
    const double objective = wave_.objective();
    norm_ = std::sqrt(square_of_difference(exact_.values, std::vector<double>(wave_.points())));
    const double slope = taylor_slope(wave_, objective, exact_.values);
    const double state = 2.0 * 8 * static_cast<double>(options_.cells * options_.cells);
    say("%d x %d points, %d steps, objective %.6e; all states would take %.0f MiB\n",
        static_cast<int>(options_.cells), static_cast<int>(options_.cells),
        static_cast<int>(options_.steps), objective,
        static_cast<double>(options_.steps) * state / kMiB);
    say("exact, from checkpoints: %.1f MiB, %.2f s, Taylor slope %.3f\n",
        total(exact_.bytes) / kMiB, exact_.seconds, slope);
    if (!options_.pictures.empty()) {
      white_ = brightness(wave_, exact_.values);
      picture(exact_.values, "exact");
    }
    say("%-11s%8s%9s%9s%11s%11s%11s%9s\n", "kind", "arrays", "windows", "MiB", "error",
        "as it says", "x sqrt(p)", "s");
    bool right = std::fabs(slope - 2) < 0.1;
    for (const anadrome_sketch_kind kind : options_.kinds) {
      for (const std::int64_t windows : options_.windows) {
        for (const std::int64_t arrays : options_.arrays) {
          right &= compare({arrays, windows, kind, 0});
        }
      }
    }
    for (const std::int64_t arrays : options_.arrays) {
      const Gradient sparse = sparse_gradient(wave_, arrays);
      row("every m-th", arrays, 1, sparse, error_of(sparse), 0, sparse.seconds);
    }
    say("%s", right ? "all errors are as large as the sketches say\n"
                    : "errors are not as large as the sketches say\n");
    return right;
  }

 private:
  double error_of(const Gradient& gradient) {
    return std::sqrt(square_of_difference(gradient.values, exact_.values)) / norm_;
  }

  bool compare(SketchSetup setup) {
    double squares = 0, variances = 0, seconds = 0;
    Gradient sketched;
    for (setup.seed = 1; setup.seed <= options_.seeds; ++setup.seed) {
      sketched = sketched_gradient(wave_, setup);
      const double error = error_of(sketched), seeds = static_cast<double>(options_.seeds);
      squares += error * error / seeds;
      variances += sum_of(sketched.variance) / (norm_ * norm_) / seeds;
      seconds += sketched.seconds / seeds;
    }
    row(name_of(setup.kind), setup.arrays, setup.windows, sketched, std::sqrt(squares),
        std::sqrt(variances), seconds);
    if (!options_.pictures.empty() && setup.windows == 1 && setup.kind == ANADROME_SKETCH_COUNT) {
      picture(sketched.values, std::to_string(setup.arrays));
    }
    return squares < 2.5 * variances && variances < 2.5 * squares;
  }

  void row(const char* kind, std::int64_t arrays, std::int64_t windows, const Gradient& gradient,
           double error, double said, double seconds) {
    const std::string estimate = said > 0 ? std::to_string(said) : "-";
    say("%-11s%8d%9d%9.1f%11.6f%11.8s%11.3f%9.2f\n", kind, static_cast<int>(arrays),
        static_cast<int>(windows), total(gradient.bytes) / kMiB, error, estimate.c_str(),
        error * std::sqrt(static_cast<double>(arrays)), seconds);
  }

  void picture(const std::vector<double>& gradient, const std::string& name) {
    write_picture(wave_, gradient, white_, options_.pictures + "-" + name + ".pgm");
  }

  const Options& options_;
  Wave wave_;
  Gradient exact_;
  double norm_ = 0, white_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 2;
  try {
    const Options options = read_options(argc, argv);
    if (options.help) {
      print_usage();
      code = 0;
    } else {
      code = Imaging(options).run() ? 0 : 1;
    }
  } catch (const anadrome::Error& error) {
    std::fprintf(stderr, "wave_imaging: %s\n", error.what());
    code = 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wave_imaging: %s\n", error.what());
  }
  MPI_Finalize();
  return code;
}
