// SPDX-License-Identifier: BSD-2-Clause
// The costs of an uneven chain's steps, and the sizes of its states and tapes: --costs FILE of the
// questions.
#pragma once

#include <string>
#include <vector>

#include "tool/number_text.h"

namespace anadrome::tool {

/// As they are in the file.
struct ChainCosts {
  std::vector<Decimal> forward, adjoint, write, read;
  std::vector<std::int64_t> units, tape_units;  ///< of states, and of tapes if there are any
};

/// {"f": [], "b": [], "a": [], "transfer": [], "tape": []}, the last two or not, or lines `f b a`
/// or `f b a tape`. Throws ERR_ARGUMENT, naming --costs.
ChainCosts chain_costs(const std::string& file);

/// Digits after the point of all times.
int digits_of(const ChainCosts& costs);
/// Times in units of 10^-digits.
std::vector<std::int64_t> ticks_of(const std::vector<Decimal>& times, int digits);

}  // namespace anadrome::tool
