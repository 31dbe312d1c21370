// SPDX-License-Identifier: BSD-2-Clause
// A few numbers that stand for the values of a field: they tell whether values that were computed
// again are the same, and about how far they are from the first ones.
//
// A number is measured against itself, whatever else its field holds: fill values, other units.
// So what is summed up is not the number but its place among all floating-point numbers, an
// integer: from each power of two to the next there are equally many, and a relative difference
// is about a difference of places. Sums of integers lose nothing, and no value traps.
//
// Only what is far smaller than nearly all numbers of its field is measured against a floor below
// these: where a field passes through zero, the rounding is that of the numbers around.
#pragma once

#include <array>
#include <cstdint>

#include <anadrome/field.h>

namespace anadrome::engine {

struct Fingerprint {
  std::uint64_t hash = 0;               ///< of the bytes
  std::int64_t reals = 0;               ///< real numbers; 0: integers or bytes
  int floor = 0;                        ///< the exponent of the floor, as in the numbers' bits
  std::array<std::uint64_t, 2> sums{};  ///< of places, with weights of either sign
};

/// Of `count` elements. Compared with `first`, of the same field, where that is given.
Fingerprint fingerprint(anadrome_type type, const void* values, std::int64_t count,
                        const Fingerprint* first = nullptr);
/// Of bytes that mean anything.
Fingerprint fingerprint(const void* bytes, std::int64_t count);

/// The relative differences of the numbers, in the root mean square: about, as the sums have
/// random weights. 0 for the same numbers; infinite where these are no real numbers, or far from
/// each other. `type` is the field's.
double distance(anadrome_type type, const Fingerprint& first, const Fingerprint& again);

/// How far a field is from another, number by number.
struct Apart {
  std::int64_t element = -1;  ///< the first that differs in any bit; -1: none
  double most = 0;            ///< the largest relative difference, above the floor of `first`
};
Apart apart(anadrome_type type, const void* values, const void* others, std::int64_t count,
            const Fingerprint& first);

/// The relative difference that one step's rounding may make in a number: 1e-12 of double
/// precision, 1e-5 of single precision, nothing of integers and bytes. In the root mean square of
/// all numbers it may make a tenth of that.
double rounding_of_step(anadrome_type type);

}  // namespace anadrome::engine
