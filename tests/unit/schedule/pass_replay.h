// SPDX-License-Identifier: BSD-2-Clause
// Passes played to their end under the rules of schedule/words/rules.h. What PassSweep promises of
// the rest is compared with what comes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "schedule/passes/pass_sweep.h"
#include "schedule/words/rules.h"

namespace anadrome::schedule {

class PassReplay {
 public:
  explicit PassReplay(const Remains& remains);

  Taken pass(const Pass& pass);
  Taken pass(Direction direction) {
    return pass(Pass{.direction = direction, .restorable = restorable_});
  }
  Taken rewind();

  /// Says of an anchor that is restored whether it is lost.
  std::function<bool(std::int64_t number)> loses = {};
  /// Sees every action.
  std::function<void(const Action&)> sees = {};
  PassSweep& sweep() { return sweep_; }

 private:
  Taken play();

  PassSweep sweep_;
  Rules rules_;
  std::int64_t restorable_, states_per_block_ = 1;
};

}  // namespace anadrome::schedule
