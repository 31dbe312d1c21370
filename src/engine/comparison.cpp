// SPDX-License-Identifier: BSD-2-Clause
#include "engine/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace anadrome::engine {
namespace {

// Memory beside the budget, as a skeleton's: see docs/options.md.
constexpr std::int64_t kMostPacked = std::int64_t{1} << 20;

double part_of(double distance, double norm) {
  if (distance == 0) return 0;
  const double part = distance / norm;
  return std::isfinite(part) ? part : std::numeric_limits<double>::infinity();
}

std::string size_of(double part) {
  if (!std::isfinite(part)) return "";
  char text[48];
  std::snprintf(text, sizeof text, " by %.1e of its norm", part);
  return text;
}

}  // namespace

const char* const kUsualCauses =
    "the steps depend on something that is not a registered state field: a variable or a time "
    "level "
    "that was not registered, memory that is not initialised, a counter, a random number; or the "
    "loop over an ADVANCE is not from `first` to `last` - 1. Register all that a step needs";

void Comparison::begin(bool needed) {
  packed_ = {};
  leaves_out_packed_ = false;
  distances_ = {};
  if (!needed) return;
  std::int64_t packed = 0;
  bool some = false;
  for (const store::Field& field : context_.fields.state()) {
    if (field.mover == nullptr) continue;
    some = true;
    packed = std::max(packed, field.bytes());
  }
  if (some) context_.agreement.ranks().largest({&packed, 1});
  leaves_out_packed_ = packed > kMostPacked;
  context_.held.attempt([&] {
    distances_.resize(2 * fields());
    if (!leaves_out_packed_) packed_.resize(static_cast<std::size_t>(packed));
  });
}

void Comparison::take(const LiveState& live, Fingerprints prints, std::span<std::byte> room) {
  context_.held.attempt(
      [&] { live.take_fingerprints(prints, room.empty() ? std::span(packed_) : room); });
}

std::optional<Difference> Comparison::compare(Call call, std::span<const Fingerprint> first,
                                              std::span<const Fingerprint> again,
                                              std::int64_t steps) {
  Failure differs;
  for (std::size_t f = 0; f < first.size(); ++f) {
    if (first[f].hash != again[f].hash) differs = {ANADROME_ERR_NONDETERMINISTIC, "differs"};
  }
  if (!meeting_.agree(call, differs).lost) return {};
  Ranks& ranks = context_.agreement.ranks();
  const std::size_t fields = first.size();
  std::vector<double>& numbers = distances_;
  for (std::size_t f = 0; f < fields; ++f) {
    numbers[f] = distance(first[f], again[f]);
    numbers[fields + f] = std::sqrt(std::max(first[f].square, again[f].square));
    // An infinite norm tells nothing; and no rank's may hide the others'.
    if (!std::isfinite(numbers[fields + f])) numbers[fields + f] = 0;
  }
  ranks.largest(numbers);
  Difference difference;
  difference.rounding = true;
  for (std::size_t f = 0; f < fields; ++f) {
    const double part = part_of(numbers[f], numbers[fields + f]);
    const double rounding = rounding_of_step(context_.fields.state()[f].type);
    if (!(part <= rounding * static_cast<double>(steps))) difference.rounding = false;
    if (part > difference.part) difference.field = f;
    difference.part = std::max(difference.part, part);
  }
  const std::size_t f = difference.field;
  const bool here = distance(first[f], again[f]) == numbers[f];
  std::int64_t lowest = here ? -context_.agreement.rank() : -context_.agreement.size();
  ranks.largest({&lowest, 1});
  difference.rank = static_cast<int>(-lowest);
  return difference;
}

void Comparison::judge(const Difference& difference, const std::string& what,
                       const std::string& cause) {
  const Audit audit = context_.options.audit;
  const bool error = audit != Audit::kWarn && (!difference.rounding || audit == Audit::kExact);
  const std::string& field = context_.fields.state()[difference.field].name;
  std::string text = what + ": field '" + field + "' differs" + size_of(difference.part);
  if (context_.agreement.size() > 1) text += " on rank " + std::to_string(difference.rank);
  if (difference.rounding) {
    text +=
        ", which is no more than rounding: sums that are taken in varying order? The gradient is "
        "exact to rounding";
  } else {
    text += "; " + cause;
  }
  if (error) throw Error(ANADROME_ERR_NONDETERMINISTIC, text);
  context_.warnings.warn({text});
}

}  // namespace anadrome::engine
