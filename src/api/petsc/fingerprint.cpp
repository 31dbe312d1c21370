#include "api/petsc/fingerprint.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace anadrome::petsc {
namespace {

constexpr std::size_t kBlock = 1024;  // values that are weighted in one go
constexpr std::size_t kShifts = 64;   // blocks start at different weights: grids are periodic
constexpr std::size_t kLanes = 8;

using Weights = std::array<double, kBlock + kShifts * kLanes>;

Weights make_weights() {
  Weights weights;
  std::uint64_t bits = 0x9e3779b97f4a7c15;
  for (double& weight : weights) {
    bits = bits * 6364136223846793005 + 1442695040888963407;
    const double unit = static_cast<double>(bits >> 11) / 9007199254740992.0;  // [0, 1)
    weight = (unit < 0.5 ? -1.0 : 1.0) * (0.5 + unit);  // of either sign, none near zero
  }
  return weights;
}

}  // namespace

PetscErrorCode fingerprint(Vec v, Fingerprint* print) {
  static const Weights weights = make_weights();
  PetscInt size = 0;
  const PetscScalar* scalars = nullptr;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &size));
  PetscCall(VecGetArrayRead(v, &scalars));
  const auto* values = reinterpret_cast<const PetscReal*>(scalars);
  const std::size_t count =
      static_cast<std::size_t>(size) * sizeof(PetscScalar) / sizeof(PetscReal);
  std::array<double, kLanes> product{}, square{};
  for (std::size_t first = 0, block = 0; first < count; first += kBlock, ++block) {
    const double* weight = weights.data() + block * 37 % kShifts * kLanes;
    const std::size_t many = std::min(kBlock, count - first);
    std::size_t i = 0;
    for (; i + kLanes <= many; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double value = values[first + i + lane];
        product[lane] += value * weight[i + lane];
        square[lane] += value * value;
      }
    }
    for (; i < many; ++i) {
      product[0] += values[first + i] * weight[i];
      square[0] += values[first + i] * values[first + i];
    }
  }
  PetscCall(VecRestoreArrayRead(v, &scalars));
  *print = {};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    print->product += product[lane];
    print->square += square[lane];
  }
  PetscFunctionReturn(0);
}

}  // namespace anadrome::petsc
