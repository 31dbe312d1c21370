// SPDX-License-Identifier: BSD-2-Clause
// Calls before begin that failed, and whose caller may not have looked: begin reports the first on
// all ranks. A later call for the same option or field that succeeds makes good for it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace anadrome::engine {

class Refusals {
 public:
  /// `subject`: the option or field that the call was for.
  void note(const std::string& subject, const Failure& failure) noexcept {
    const Failure made = failure_from([&] {
      made_good(subject);
      refused_.emplace_back(subject,
                            Failure{failure.status, "an earlier call failed: " + failure.message});
    });
    if (made) no_memory_ = made;
  }
  void made_good(const std::string& subject) {
    std::erase_if(refused_, [&](const auto& refused) { return refused.first == subject; });
  }
  /// No failure: all is well.
  const Failure& first() const { return refused_.empty() ? no_memory_ : refused_.front().second; }

 private:
  std::vector<std::pair<std::string, Failure>> refused_;
  Failure no_memory_;  ///< for a note
};

}  // namespace anadrome::engine
