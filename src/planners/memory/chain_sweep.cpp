// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/chain_sweep.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/checked.h"

namespace anadrome::schedule {
namespace {

void check(const ChainSizes& sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const auto wrong = [](const std::string& what) {
    return Error(ANADROME_ERR_ARGUMENT, "least memory: " + what);
  };
  if (sizes.steps() < 1) throw wrong("a chain has at least one step: sizes of x_0 and x_1");
  if (sizes.steps() > std::numeric_limits<std::int32_t>::max()) throw wrong("too many steps");
  if (!sizes.workspace.empty() && sizes.workspace.size() != sizes.bytes.size() - 1) {
    throw wrong("expected as many workspaces as steps, or none");
  }
  std::int64_t sum = 0;
  for (const std::vector<std::int64_t>* values : {&sizes.bytes, &sizes.workspace}) {
    for (const std::int64_t bytes : *values) {
      if (bytes < 0) throw wrong("a size is negative");
      sum = checked_add(sum, bytes);
      if (sum > kMost) throw wrong("sizes add up to more than 2^60 bytes");
    }
  }
}

}  // namespace

ChainSweep::ChainSweep(const ChainSizes& sizes)
    : sizes_(sizes), sums_(sizes.bytes.size() + 1), before_(sizes.bytes.size()) {
  check(sizes);
  for (std::size_t k = 0; k < sizes.bytes.size(); ++k) sums_[k + 1] = sums_[k] + sizes.bytes[k];
}

std::vector<std::int64_t> ChainSweep::kept() const {
  std::vector<std::int64_t> states;
  for (std::int64_t k = before_.back(); k > 0; k = before_[at(k)]) states.push_back(k);
  std::reverse(states.begin(), states.end());
  return states;
}

}  // namespace anadrome::schedule
