// What each step of a sweep costs, for schedule=uneven: given by the caller, or measured on the
// first sweep of a run and used by the next ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

namespace anadrome::engine {

class StepCostTable {
 public:
  /// The caller's, on this rank. Throws ERR_ARGUMENT unless each is finite and >= 0.
  void give(std::span<const double> seconds);

  /// Nothing is known of `steps` steps? Then begin to measure them.
  void measure(std::int64_t steps);
  bool measuring() const { return measuring_; }
  void add(std::int64_t step, double seconds) {
    if (static_cast<std::size_t>(step) < seconds_.size()) {
      seconds_[static_cast<std::size_t>(step)] = seconds;
    }
  }
  /// Every step was measured: the slowest rank counts. Collective.
  void finish(MPI_Comm comm);

  std::int64_t known_steps() const {
    return measuring_ ? 0 : static_cast<std::int64_t>(seconds_.size());
  }
  /// Costs of `steps` steps are known.
  bool knows(std::int64_t steps) const { return steps > 0 && known_steps() == steps; }
  /// The largest over all ranks, in whole ticks, 2^20 for the dearest step. Collective.
  std::vector<std::int64_t> ticks(MPI_Comm comm) const;

  static constexpr std::int64_t kBytesPerStep = 8;

 private:
  std::vector<double> seconds_;
  bool measuring_ = false;
};

}  // namespace anadrome::engine
