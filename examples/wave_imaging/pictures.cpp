// SPDX-License-Identifier: BSD-2-Clause
#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace wave {
namespace {

constexpr double kMostWithin = 0.995;
constexpr double kFirstShown = 0.3, kLastShown = 0.85;  // of the rows, for the brightness

// The points of all ranks on rank 0, in their order; nothing on others.
std::vector<double> gather(const Wave& wave, const std::vector<double>& points) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int mine = static_cast<int>(points.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts);
  MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t i = 1; i < counts.size(); ++i) places[i] = places[i - 1] + counts[i - 1];
  std::vector<double> all(rank == 0 ? static_cast<std::size_t>(wave.width() * wave.width()) : 0);
  MPI_Gatherv(points.data(), mine, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE,
              0, MPI_COMM_WORLD);
  return all;
}

}  // namespace

double brightness(const Wave& wave, const std::vector<double>& gradient) {
  std::vector<double> all = gather(wave, gradient);
  double white = 0;
  if (!all.empty()) {
    const auto row = [&](double part) {
      return all.begin() +
             static_cast<std::int64_t>(part * static_cast<double>(wave.width())) * wave.width();
    };
    std::vector<double> sizes(row(kFirstShown), row(kLastShown));
    for (double& size : sizes) size = std::fabs(size);
    const auto most =
        sizes.begin() + static_cast<std::int64_t>(kMostWithin * static_cast<double>(sizes.size()));
    std::nth_element(sizes.begin(), most, sizes.end());
    white = *most;
  }
  MPI_Bcast(&white, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return white;
}

void write_picture(const Wave& wave, const std::vector<double>& gradient, double white,
                   const std::string& path) {
  const std::vector<double> all = gather(wave, gradient);
  if (all.empty()) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             std::fclose);
  if (!file) throw std::runtime_error("cannot write " + path);
  std::fprintf(file.get(), "P5\n%d %d\n255\n", static_cast<int>(wave.width()),
               static_cast<int>(wave.width()));
  for (const double value : all) {
    const double grey = std::clamp(127.5 + 127.5 * value / white, 0.0, 255.0);
    std::fputc(static_cast<int>(grey), file.get());
  }
}

}  // namespace wave
