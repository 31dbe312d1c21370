// A few numbers that tell whether a vector is what it was: its square norm and its product with
// fixed pseudo-random weights. If two vectors differ by d, the products differ by about |d|, be the
// difference in one value or in all.
#pragma once

#include <petscvec.h>

namespace anadrome::petsc {

struct Fingerprint {
  double product = 0;
  double square = 0;
};

/// Of this rank's part.
PetscErrorCode fingerprint(Vec v, Fingerprint* print);

}  // namespace anadrome::petsc
