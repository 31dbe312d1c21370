// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/steps/fingerprint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "api/petsc/records/ts_parts.h"
#include "base/arithmetic.h"

namespace anadrome::petsc {
namespace {

constexpr std::size_t kParts = std::is_same_v<PetscScalar, PetscReal> ? 1 : 2;  // of a scalar
constexpr std::size_t kMostFields = 64, kFewValues = 8;
constexpr std::size_t kBlock = 1024;  // values that are weighted in one go
constexpr std::size_t kShifts = 64,
                      kShift = 8;   // blocks start at different weights: grids are periodic
constexpr std::size_t kLanes = 32;  // sums that go on side by side, at least

using Weights = std::array<double, kBlock + kShifts * kShift>;

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

// Value i goes to lane i modulo `lanes`.
void add(const PetscReal* values, std::size_t count, std::size_t lanes, double* product,
         double* square) {
  static const Weights weights = make_weights();
  const std::size_t longest = kBlock / lanes * lanes;
  for (std::size_t first = 0, block = 0; first < count; first += longest, ++block) {
    const double* weight = weights.data() + block * 37 % kShifts * kShift;
    const PetscReal* const from = values + first;
    const std::size_t many = std::min(longest, count - first);
    std::size_t i = 0;
    for (; i + lanes <= many; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = from[i + lane];
        product[lane] += value * weight[i + lane];
        square[lane] += value * value;
      }
    }
    for (std::size_t lane = 0; i < many; ++i, ++lane) {
      product[lane] += from[i] * weight[i];
      square[lane] += from[i] * from[i];
    }
  }
}

}  // namespace

PetscErrorCode fields_of(Vec v, std::size_t* fields) {
  PetscInt block = 1, local = 0;
  PetscFunctionBegin;
  PetscCall(VecGetBlockSize(v, &block));
  PetscCall(VecGetLocalSize(v, &local));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &local, 1, MPIU_INT, MPI_MAX, comm_of(v)));
  const auto largest = static_cast<std::size_t>(local);
  *fields = static_cast<std::size_t>(block);
  if (block == 1 && largest > 0 && largest <= kFewValues) *fields = largest;
  if (*fields > kMostFields) *fields = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode fingerprint(Vec v, std::size_t fields, Fingerprint* print) {
  std::array<double, kMostFields * kParts + kLanes> product{}, square{};
  PetscInt size = 0;
  const PetscScalar* scalars = nullptr;
  const std::size_t together = fields * kParts;
  const std::size_t lanes = (kLanes + together - 1) / together * together;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &size));
  ValuesOnHost on_host;
  PetscCall(on_host.get(v, &scalars));
  const auto* values = reinterpret_cast<const PetscReal*>(scalars);
  const std::size_t count = static_cast<std::size_t>(size) * kParts;
  const OwnArithmetic own;
  add(values, count, lanes, product.data(), square.data());
  PetscCall(on_host.give_back(v));
  print->products.assign(fields, 0);
  print->squares.assign(fields, 0);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    print->products[lane / kParts % fields] += product[lane];
    print->squares[lane / kParts % fields] += square[lane];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc
