// What each step of a sweep costs, for schedule=uneven: given by the caller, or measured on the
// first sweep of a run and used by the next ones.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace anadrome::engine {

class StepCostTable {
 public:
  /// The caller's, on this rank; none: forget them. Throws ERR_ARGUMENT unless each is finite and
  /// >= 0.
  void give(std::span<const double> seconds);
  std::int64_t steps_given() const { return static_cast<std::int64_t>(given_.size()); }

  /// For the sweep that begins. `wanted`: its costs are needed; where they are not known of so many
  /// steps, it measures them.
  void begin(std::int64_t steps, bool wanted);
  bool measuring() const { return !measured_now_.empty(); }
  void add(std::int64_t step, double seconds) {
    measured_now_[static_cast<std::size_t>(step)] = seconds;
  }
  /// Every step was measured: the slowest rank counts. Collective.
  void finish(MPI_Comm comm);

  /// Are the costs of this sweep's steps known? What the caller gave comes first.
  bool known() const { return !in_use_.empty(); }
  /// The largest over all ranks count from here on. Collective; allocates nothing.
  void share(MPI_Comm comm);
  /// Whole ticks, 2^20 for the dearest step.
  std::vector<std::int64_t> ticks() const;

 private:
  const std::vector<double>* table_of(std::int64_t steps) const;

  std::vector<double> given_, measured_;
  std::vector<double> in_use_;        ///< of these, by the sweep under way
  std::vector<double> measured_now_;  ///< or what it measures
};

}  // namespace anadrome::engine
