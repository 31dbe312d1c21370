// SPDX-License-Identifier: BSD-2-Clause
// Numbers with fewer bits: to the nearest multiple of a power of two, or to single precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace anadrome::store {

/// No number is an outlier.
inline constexpr double kNoOutliers = std::numeric_limits<double>::infinity();

/// How large a field's numbers are.
struct Magnitudes {
  double usual = 0;               ///< the largest, outliers apart; 0: none is finite, or all are 0
  double outliers = kNoOutliers;  ///< numbers from here on are outliers
  double fills = kNoOutliers;     ///< ... and these are fill values
};
/// Outliers lie three powers of two or more above all others, and are one in 64 at most, or all of
/// the same magnitude, as fill values are. They are never changed. `bytes`: 4 or 8, of a real
/// number, as everywhere here.
Magnitudes magnitudes_of(std::span<const std::byte> numbers, std::int64_t bytes);

/// Can numbers be rounded with this tolerance? Not where it is 0, or next to the smallest numbers
/// that the type has.
bool can_round(double tolerance, std::int64_t bytes);

/// Each number -> the nearest multiple of the largest power of two that is no larger than twice the
/// tolerance (ties to even): no number is changed by more than the tolerance. NaN, infinities,
/// outliers and numbers that have no finer bits stay as they are. can_round came before.
void round_to(double tolerance, std::span<std::byte> numbers, std::int64_t bytes,
              double outliers = kNoOutliers);

/// Is every number, where both are finite, within the tolerance of the other? NaN, infinities and
/// outliers must be the same.
bool are_within(double tolerance, std::span<const std::byte> some,
                std::span<const std::byte> others, std::int64_t bytes,
                double outliers = kNoOutliers);

/// Doubles -> floats, to nearest. False: one is too large to be a float, or an outlier that is
/// none, or is changed by more than the tolerance.
bool to_floats(std::span<const std::byte> doubles, std::byte* floats, double tolerance,
               double outliers = kNoOutliers);
/// And back.
void to_doubles(std::span<const std::byte> floats, std::byte* doubles);

}  // namespace anadrome::store
