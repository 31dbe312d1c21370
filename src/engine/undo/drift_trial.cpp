// SPDX-License-Identifier: BSD-2-Clause
#include "engine/undo/drift_trial.h"

#include <algorithm>
#include <utility>

#include "base/index.h"
#include "engine/undo/residual.h"
#include "engine/verify/probe.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {

DriftTrial::DriftTrial(std::span<const store::Field> state, std::span<const store::Field> adjoint,
                       std::span<std::byte> one, std::span<std::byte> other)
    : fields_(state.begin(), state.end()),
      adjoint_(adjoint.begin(), adjoint.end()),
      state_(one),
      guess_(other),
      trial_(size(store::total_bytes(adjoint))),
      caller_s_(trial_.size()) {}

Failure DriftTrial::turn(std::span<const std::byte> x_n) {
  on_ = true;
  begin_at(x_n);
  return store::copy_all_out(adjoint_, trial_.data());
}

void DriftTrial::begin_at(std::span<const std::byte> state) {
  std::copy(state.begin(), state.end(), state_.begin());
}

void DriftTrial::correct(std::span<const std::byte> image) {
  engine::correct(fields_, state_, image, guess_);
  std::swap(state_, guess_);
}

Failure DriftTrial::keep_caller_s() { return store::copy_all_out(adjoint_, caller_s_.data()); }
Failure DriftTrial::put_in() { return store::copy_all_in(adjoint_, trial_.data()); }

// Callbacks of fields may be collective, so all are called.
Failure DriftTrial::take_back() {
  const Failure first = store::copy_all_out(adjoint_, trial_.data());
  const Failure second = store::copy_all_in(adjoint_, caller_s_.data());
  return first ? first : second;
}

double DriftTrial::error(Ranks& ranks) const {
  return relative_difference(adjoint_, trial_.data(), caller_s_.data(), ranks);
}

}  // namespace anadrome::engine
