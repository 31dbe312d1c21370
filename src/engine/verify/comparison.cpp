// SPDX-License-Identifier: BSD-2-Clause
#include "engine/verify/comparison.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/clock.h"
#include "base/index.h"
#include "base/text_out.h"
#include "engine/device/device_plan.h"

namespace anadrome::engine {
namespace {

// A look at a field on a device makes the host wait for it, so the preflight alone does.

// Memory beside the budget, as a skeleton's: see docs/options.md.
constexpr std::int64_t kMostPacked = std::int64_t{1} << 20;

std::string size_of(const Difference& difference) {
  if (!std::isfinite(difference.part)) return "";
  if (difference.part > 1) return " by more than its values";
  const std::string part = format_number(difference.part, std::chars_format::scientific, 1);
  return (difference.each ? " by " : " by about ") + part + " relative to its values";
}

}  // namespace

const char* const kUsualCauses =
    "the steps depend on something that is not a registered state field: a variable or a time "
    "level "
    "that was not registered, arrays that change places at a step, an array that was reallocated, "
    "memory that is not initialised, a counter, a random number; or the "
    "loop over an ADVANCE is not from `first` to `last` - 1. Register all that a step needs";

Sentence not_the_same(std::int64_t step) {
  return [step] {
    return "the state of step " + std::to_string(step) +
           " is not the same when it is computed again";
  };
}

bool Comparison::sees_states_again() const {
  const Options& options = asked_.options;
  const bool changed =
      options.is_lossy() && (plan_.memory.single || plan_.disk_use() != DiskUse::kNone);
  const bool sees_some =
      !leaves_out_packed_ || std::ranges::any_of(asked_.fields.state(), [](const store::Field& f) {
        return f.mover == nullptr;
      });
  return options.audit != Audit::kOff && !changed && sees_some;
}

void Comparison::begin(bool needed) {
  packed_ = {};
  leaves_out_packed_ = false;
  distances_ = {};
  if (!needed) return;
  std::int64_t packed = 0;
  bool some = false;
  for (const store::Field& field : asked_.fields.state()) {
    if (field.mover == nullptr) continue;
    some = true;
    packed = std::max(packed, field.bytes());
  }
  if (some) peers_.agreement.ranks().largest({&packed, 1});
  leaves_out_packed_ = packed > kMostPacked || any_on_device(asked_.fields.state());
  peers_.held.attempt([&] {
    distances_.resize(2 * fields());
    if (!leaves_out_packed_) packed_.resize(size(packed));
  });
}

void Comparison::take(const LiveState& live, Fingerprints prints,
                      std::optional<std::span<std::byte>> room,
                      std::span<const Fingerprint> first) {
  if (!room && !leaves_out_packed_) room = packed_;
  const double start = now_seconds();
  peers_.held.attempt([&] { live.take_fingerprints(prints, room, first); });
  notes_.measured.compared(now_seconds() - start);
}

// Number by number where both states are there.
Apart Comparison::apart_here(const Sides& sides, std::size_t f) const {
  const store::Field& field = asked_.fields.state()[f];
  if (sides.first[f].hash == sides.again[f].hash) return {};
  if (sides.block >= 0 && field.mover == nullptr)
    return sides.live.apart_from(sides.block, f, sides.first[f]);
  return {-1, distance(field.type, sides.first[f], sides.again[f])};
}

std::optional<Difference> Comparison::compare(Call call, const Sides& sides, std::int64_t steps) {
  const std::size_t fields = this->fields();
  Failure differs;
  for (std::size_t f = 0; f < fields; ++f) {
    if (sides.first[f].hash != sides.again[f].hash)
      differs = {ANADROME_ERR_NONDETERMINISTIC, "differs"};
  }
  if (!meeting_.agree(call, differs).lost) return {};
  constexpr double kMeanSquare = 10;  // smaller than the largest
  Ranks& ranks = peers_.agreement.ranks();
  std::vector<double>& numbers = distances_;
  for (std::size_t f = 0; f < fields; ++f) {
    numbers[f] = apart_here(sides, f).most;
    const double rounding = rounding_of_step(asked_.fields.state()[f].type);
    const double most = rounding * real(steps) / (sides.block >= 0 ? 1 : kMeanSquare);
    numbers[fields + f] = numbers[f] <= most ? 0 : 1;
  }
  ranks.largest(numbers);
  const auto count = static_cast<std::ptrdiff_t>(fields);
  Difference difference;
  const auto largest = std::max_element(numbers.begin(), numbers.begin() + count);
  difference.field = size(largest - numbers.begin());
  difference.part = *largest;
  difference.each = sides.block >= 0;
  difference.rounding =
      std::all_of(numbers.begin() + count, numbers.end(), [](double more) { return more == 0; });
  const Apart mine = apart_here(sides, difference.field);
  const bool here = mine.most == difference.part;
  std::int64_t lowest = here ? -peers_.agreement.rank() : -peers_.agreement.size();
  ranks.largest({&lowest, 1});
  difference.rank = static_cast<int>(-lowest);
  difference.element = mine.element;
  ranks.broadcast(std::as_writable_bytes(std::span(&difference.element, 1)), difference.rank);
  return difference;
}

void Comparison::judge(const Difference& difference, const Sentence& what, const char* cause) {
  const Audit audit = asked_.options.audit;
  const bool error = audit != Audit::kWarn && (!difference.rounding || audit == Audit::kExact);
  std::string text;
  peers_.held.attempt([&] {
    const std::string& field = asked_.fields.state()[difference.field].name;
    text = what() + ": field '" + field + "' differs" + size_of(difference);
    if (peers_.agreement.size() > 1) text += " on rank " + std::to_string(difference.rank);
    if (difference.rounding) {
      text += ", which is no more than rounding: sums that are taken in varying order?";
      text += error ? " audit=exact asks for the same bits: take them in one order, or set "
                      "audit=error"
                    : " The gradient may differ in its last digits from that of another sweep";
    } else {
      if (cause == kUsualCauses && difference.element >= 0)
        text += "; its first element that differs is number " + std::to_string(difference.element) +
                ", counted from 0";
      text.append("; ").append(cause);
    }
  });
  if (error) throw Error(ANADROME_ERR_NONDETERMINISTIC, text);
  notes_.warnings.warn({text});
}

}  // namespace anadrome::engine
