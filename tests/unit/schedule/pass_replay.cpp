// SPDX-License-Identifier: BSD-2-Clause
#include "pass_replay.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace anadrome::schedule {

PassReplay::PassReplay(const Remains& remains)
    : sweep_(remains),
      rules_(RuleOptions{}),
      restorable_(std::max<std::int64_t>(remains.anchors.count(), 1)) {
  rules_.remain(remains);
}

Taken PassReplay::pass(const Pass& pass) {
  sweep_.begin_pass(pass);
  rules_.begin_pass(pass);
  restorable_ = pass.restorable;
  states_per_block_ = pass.states_per_block;
  return play();
}

Taken PassReplay::rewind() {
  sweep_.rewind(restorable_);
  rules_.rewind(restorable_);
  return play();
}

Taken PassReplay::play() {
  struct Promise {
    std::int64_t advances, steps;  ///< to come
    std::int64_t advanced, taken;  ///< before
  };
  std::vector<Promise> promises;
  const auto note = [&] {
    const Taken& taken = rules_.taken();
    promises.push_back({sweep_.advances_remaining(), sweep_.course().adjoints_left,
                        taken.advances + taken.recorded, taken.adjoints + taken.visits});
  };
  note();
  while (!rules_.done()) {
    const Action action = sweep_.next();
    rules_.play(action);
    if (sees) sees(action);
    const auto* const kept = std::get_if<Restore>(&action);
    const bool from_disk = kept != nullptr && kept->tier == kDiskTier;
    if (from_disk && loses && loses(kept->place)) {
      const std::int64_t first = kept->place / states_per_block_ * states_per_block_;
      if (!sweep_.lose(first)) throw std::logic_error("nothing is left");
      for (std::int64_t i = 0; i < states_per_block_; ++i) {
        if (first + i < sweep_.anchors().count()) rules_.lose(first + i);
      }
      promises.clear();
    }
    if (!rules_.done()) note();
  }
  const Taken& taken = rules_.taken();
  for (std::size_t i = 0; i < promises.size(); ++i) {
    const Promise& promise = promises[i];
    const std::int64_t came = taken.advances + taken.recorded - promise.advanced;
    const std::int64_t stepped = taken.adjoints + taken.visits - promise.taken;
    if (promise.advances == came && promise.steps == stepped) continue;
    throw std::logic_error("after " + std::to_string(i) + " actions " +
                           std::to_string(promise.advances) + " advances and " +
                           std::to_string(promise.steps) + " steps were promised, " +
                           std::to_string(came) + " and " + std::to_string(stepped) + " came");
  }
  return taken;
}

}  // namespace anadrome::schedule
