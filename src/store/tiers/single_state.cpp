// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/single_state.h"

#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "store/memory/field_copy.h"
#include "store/moving/rounding.h"

namespace anadrome::store {
namespace {

bool is_halved(const Field& field) {
  const bool doubles = field.type == ANADROME_FLOAT64 || field.type == ANADROME_COMPLEX128;
  return doubles && field.mover == nullptr && field.tolerance != 0;
}

}  // namespace

std::vector<Field> single_fields(std::span<const Field> state_fields) {
  std::vector<Field> fields(state_fields.begin(), state_fields.end());
  for (Field& field : fields) {
    if (!is_halved(field)) continue;
    field.type = field.type == ANADROME_FLOAT64 ? ANADROME_FLOAT32 : ANADROME_COMPLEX64;
  }
  return fields;
}

SingleState::SingleState(const BlockLayout& slots, std::span<const Field> state_fields, Pool& pool)
    : Live(pool), slots_(slots), fields_(state_fields.begin(), state_fields.end()) {}

void SingleState::keep_at(std::byte* place, std::int64_t room) { keep_piece(fields_, place, room); }

void SingleState::restore_from(const std::byte* place) { restore_piece(fields_, place); }

void SingleState::keep_fields(std::int64_t block, std::int64_t index) {
  Failure failed;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    std::byte* const place = slots_.address(pool_.address(block), index, f);
    if (!is_halved(field)) {
      if (Failure failure = copy_out(field, place, field.bytes())) failed = std::move(failure);
      continue;
    }
    const std::span values(static_cast<const std::byte*>(field.values), size(field.bytes()));
    if (fills_.size() <= f) fills_.resize(f + 1, magnitudes_of(values, 8).fills);
    double most = kNoOutliers;
    if (field.tolerance >= 0) most = field.tolerance;
    if (to_floats(values, place, most, fills_[f])) continue;
    failed = {ANADROME_ERR_ARGUMENT,
              "field '" + field.name +
                  "' has a number that is too large for single precision, or would change by more "
                  "than its tolerance, or a fill value; compress=float32 is not for it"};
  }
  if (failed) throw Error(failed.status, failed.message);
}

void SingleState::restore_fields(std::int64_t block, std::int64_t index) {
  Failure failed;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    const std::byte* const place = slots_.address(pool_.address(block), index, f);
    if (is_halved(field)) {
      const auto bytes = size(slots_.parts()[f].bytes);
      to_doubles({place, bytes}, static_cast<std::byte*>(field.values));
    } else if (Failure failure = copy_in(field, place, field.bytes())) {
      failed = std::move(failure);
    }
  }
  if (failed) throw Error(failed.status, failed.message);
}

}  // namespace anadrome::store
