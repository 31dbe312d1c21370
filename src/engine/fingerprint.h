// SPDX-License-Identifier: BSD-2-Clause
// A few numbers that stand for the values of a field: they tell whether values that were computed
// again are the same, and about how far they are from the first ones.
#pragma once

#include <array>
#include <cstdint>

#include <anadrome/field.h>

namespace anadrome::engine {

struct Fingerprint {
  std::uint64_t hash = 0;        ///< of the bytes
  double square = 0;             ///< of the Euclidean norm; 0 for a field that is no floating point
  std::array<double, 2> sums{};  ///< with weights of either sign, so that errors do not cancel
};

/// Of `count` elements.
Fingerprint fingerprint(anadrome_type type, const void* values, std::int64_t count);
/// Of bytes that mean anything.
Fingerprint fingerprint(const void* bytes, std::int64_t count);

/// About the Euclidean norm of the difference: sums with random weights differ by as much in the
/// mean square. 0 for the same bytes; infinite where the values are no numbers.
double distance(const Fingerprint& first, const Fingerprint& again);

/// The difference, as a part of a field's norm, that one step's rounding may make: 1e-12 of double
/// precision, 1e-5 of single precision, nothing of whole numbers and bytes.
double rounding_of_step(anadrome_type type);

}  // namespace anadrome::engine
