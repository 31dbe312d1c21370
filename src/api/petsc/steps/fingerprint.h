// SPDX-License-Identifier: BSD-2-Clause
// A few numbers that tell whether a vector is what it was: of every field, its sum of squares and
// its product with fixed pseudo-random weights. If two vectors differ by d, the products differ by
// about |d|, be the difference in one value or in all. Fields are told apart because pressures may
// be 1e8 and concentrations 1e-3.
#pragma once

#include <vector>

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

struct Fingerprint {
  std::vector<double> products, squares;
};

/// Collective: how many fields v has, each of them every so-many-th value. The block size, if that
/// is not large, and of a vector of very few values every value by itself.
PetscErrorCode fields_of(Vec v, std::size_t* fields);

/// The fingerprint of this rank's part.
PetscErrorCode fingerprint(Vec v, std::size_t fields, Fingerprint* print);

}  // namespace anadrome::petsc
