// SPDX-License-Identifier: BSD-2-Clause
// A wave by leapfrog whose steps can be undone, and the gradient by the squared speed in each
// point:
//   bench_undone float|double SPONGE SIDE STEPS SECONDS GRADIENT KEY=VALUE...
// where a step, one undone and one adjoined take SECONDS at least;
// prints seconds, forward steps, undone steps, bytes written, bytes of states in them, drift,
// the most memory, and the gradient's error as stated; the gradient goes to the file GRADIENT, in
// double precision.
#include <anadrome/anadrome.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "guarded_main.h"

namespace {

template <class Real>
class Wave {
 public:
  using Field = std::vector<Real>;

  Wave(std::size_t side, double sponge)
      : side_(side),
        now(side * side),
        before(now),
        adjoint(now),
        earlier(now),
        gradient(now.size()),
        damping_(now.size()),
        pull_(now.size()) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      const double x = place(i % side), y = place(i / side);
      const double deep = std::max(0.0, std::max(std::abs(x), std::abs(y)) - 0.8) / 0.2;
      damping_[i] = static_cast<Real>(sponge * deep * deep);
      now[i] = before[i] = static_cast<Real>(std::exp(-200 * (x * x + y * y)));
    }
  }
  void step() {
    laplacian(now);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Real next =
          (2 * now[i] - (1 - damping_[i]) * before[i] + kSpeed * pull_[i]) / (1 + damping_[i]);
      before[i] = now[i];
      now[i] = next;
    }
  }
  void undo() {
    laplacian(before);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Real last =
          (2 * before[i] - (1 + damping_[i]) * now[i] + kSpeed * pull_[i]) / (1 - damping_[i]);
      now[i] = before[i];
      before[i] = last;
    }
  }
  void turn() { adjoint = now; }
  void step_back() {
    laplacian(now);
    for (std::size_t i = 0; i < now.size(); ++i) {
      adjoint[i] /= 1 + damping_[i];
      gradient[i] += static_cast<double>(adjoint[i]) * static_cast<double>(pull_[i]);
    }
    laplacian(adjoint);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Real of_now = 2 * adjoint[i] + kSpeed * pull_[i] + earlier[i];
      earlier[i] = -(1 - damping_[i]) * adjoint[i];
      adjoint[i] = of_now;
    }
  }

 private:
  static constexpr Real kSpeed = static_cast<Real>(0.2);
  double place(std::size_t i) const {
    return 2 * static_cast<double>(i) / static_cast<double>(side_) - 1;
  }
  void laplacian(const Field& of) {
    for (std::size_t i = side_; i < of.size() - side_; ++i) {
      pull_[i] = of[i - 1] + of[i + 1] + of[i - side_] + of[i + side_] - 4 * of[i];
    }
  }

  std::size_t side_;

 public:
  Field now, before, adjoint, earlier;
  std::vector<double> gradient;

 private:
  Field damping_, pull_;
};

void take_until(double end) {
  while (MPI_Wtime() < end) {
  }
}

template <class Real>
void sweep(std::span<char*> words) {
  const auto steps = std::atoll(words[4]);
  Wave<Real> wave(static_cast<std::size_t>(std::atoll(words[3])), std::atof(words[2]));
  anadrome::Run run(MPI_COMM_WORLD);
  const double least = std::atof(words[5]);
  for (char* const word : words.subspan(7)) {
    const std::string text = word;
    const auto sign = text.find('=');
    run.set(text.substr(0, sign), text.substr(sign + 1));
  }
  run.add_field("now", wave.now);
  run.add_field("before", wave.before);
  run.add_field("adjoint", wave.adjoint, ANADROME_ROLE_ADJOINT);
  run.add_field("earlier", wave.earlier, ANADROME_ROLE_ADJOINT);
  run.add_field("gradient", wave.gradient, ANADROME_ROLE_ADJOINT);
  long long forward = 0, undone = 0;
  const double start = MPI_Wtime();
  for (const anadrome::Action& action : run.sweep(steps)) {
    const double end = MPI_Wtime() + least;
    switch (action.kind) {
      case ANADROME_ADVANCE:
        for (auto k = action.first; k < action.last; ++k, ++forward) {
          const double end = MPI_Wtime() + least;
          wave.step();
          take_until(end);
        }
        break;
      case ANADROME_RETREAT:
        wave.undo();
        take_until(end);
        ++undone;
        break;
      case ANADROME_TURN:
        wave.turn();
        break;
      default:
        wave.step_back();
        take_until(end);
    }
  }
  const double seconds = MPI_Wtime() - start;
  const anadrome_stats stats = run.statistics();
  std::printf("%.6f %lld %lld %lld %lld %.3e %lld %.3e\n", seconds, forward, undone,
              static_cast<long long>(stats.bytes_written),
              static_cast<long long>(stats.bytes_compressed), stats.drift,
              static_cast<long long>(stats.peak_library_bytes), stats.gradient_error);
  std::ofstream(words[6], std::ios::binary)
      .write(reinterpret_cast<const char*>(wave.gradient.data()),
             static_cast<std::streamsize>(wave.gradient.size() * sizeof(double)));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::guarded_main(argc, argv, [&] {
    const std::span words(argv, static_cast<std::size_t>(argc));
    if (words.size() < 7)
      throw std::runtime_error(
          "bench_undone float|double SPONGE SIDE STEPS SECONDS GRADIENT KEY=VALUE...");
    if (std::string(words[1]) == "float") {
      sweep<float>(words);
    } else {
      sweep<double>(words);
    }
  });
}
