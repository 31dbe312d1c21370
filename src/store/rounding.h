// SPDX-License-Identifier: BSD-2-Clause
// Numbers with fewer bits: to the nearest multiple of a power of two, or to single precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anadrome::store {

/// The largest magnitude among the numbers that are finite; 0 if none is. `bytes`: 4 or 8, of a
/// real number, as everywhere here.
double largest_magnitude(std::span<const std::byte> numbers, std::int64_t bytes);

/// Can numbers be rounded with this tolerance? Not where it is 0, or next to the smallest numbers
/// that the type has.
bool can_round(double tolerance, std::int64_t bytes);

/// Each number -> the nearest multiple of the largest power of two that is no larger than twice the
/// tolerance (ties to even): no number is changed by more than the tolerance. NaN, infinities and
/// numbers that have no finer bits stay as they are. can_round came before.
void round_to(double tolerance, std::span<std::byte> numbers, std::int64_t bytes);

/// Is every number, where both are finite, within the tolerance of the other? NaN and infinities
/// must be the same.
bool are_within(double tolerance, std::span<const std::byte> some,
                std::span<const std::byte> others, std::int64_t bytes);

/// Doubles -> floats, to nearest. False: one is too large to be a float.
bool to_floats(std::span<const std::byte> doubles, std::byte* floats);
/// And back.
void to_doubles(std::span<const std::byte> floats, std::byte* doubles);

}  // namespace anadrome::store
