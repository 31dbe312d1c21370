// SPDX-License-Identifier: BSD-2-Clause
#include "engine/verify/probe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "base/index.h"
#include "base/text_out.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {
namespace {

constexpr double kTimes = 4;

// The controller needs to know early, and then seldom: after 0, 1, 2, 4, 8, ... sweeps.
bool is_due(const Options& options, std::int64_t sweep) {
  const auto before = static_cast<std::uint64_t>(std::max<std::int64_t>(sweep - 1, 0));
  return options.probe ||
         (options.gradient_error > 0 && (before == 0 || std::has_single_bit(before)));
}

bool is_of(const schedule::Kept& kept, const schedule::Kept& other) {
  return kept.tier == other.tier && kept.place == other.place && kept.what == other.what;
}

// Bytes need not lie as numbers must.
template <class Real>
double real_at(const std::byte* bytes, std::int64_t i) {
  Real value;
  std::memcpy(&value, bytes + i * static_cast<std::int64_t>(sizeof value), sizeof value);
  return static_cast<double>(value);
}

// The squares of the differences, and of `others`, added up.
using Squares = std::array<double, 2>;
template <class Real>
Squares squares(const std::byte* some, const std::byte* others, std::int64_t bytes) {
  Squares sums = {};
  for (std::int64_t i = 0; i < bytes / static_cast<std::int64_t>(sizeof(Real)); ++i) {
    const double value = real_at<Real>(others, i), difference = real_at<Real>(some, i) - value;
    sums[0] += difference * difference;
    sums[1] += value * value;
  }
  return sums;
}

// 0 of fields that have no real numbers.
Squares squares(const store::Field& field, const std::byte* some, const std::byte* others) {
  if (store::is_packed(field)) return {};
  switch (field.type) {
    case ANADROME_FLOAT32:
    case ANADROME_COMPLEX64:
      return squares<float>(some, others, field.bytes());
    case ANADROME_FLOAT64:
    case ANADROME_COMPLEX128:
      return squares<double>(some, others, field.bytes());
    default:
      return {};
  }
}

}  // namespace

double relative_difference(std::span<const store::Field> fields, const std::byte* some,
                           const std::byte* others, Ranks& ranks) {
  double most = 0;
  for (const store::Field& field : fields) {
    Squares sums = squares(field, some, others);
    ranks.sum(std::span(sums));
    some += field.bytes();
    others += field.bytes();
    if (sums[0] == 0) continue;
    double found = std::sqrt(sums[0] / sums[1]);
    const bool is_number = found >= 0;
    if (!is_number) found = std::numeric_limits<double>::infinity();
    most = std::max(most, found);
  }
  return most;
}

std::int64_t Probe::memory_bytes(const Options& options, const Fields& fields) {
  if (!options.probes()) return 0;
  constexpr std::int64_t kCopies = 2;
  return kCopies * fields.bytes_with_role(ANADROME_ROLE_ADJOINT);
}

void Probe::begin() {
  set(Stage::kOff);
  fields_.clear();
  trial_ = {};
  caller_s_ = {};
  if (!asked_.options.probes()) return;
  peers_.held.attempt([&] {
    fields_ = asked_.fields.with_role(ANADROME_ROLE_ADJOINT);
    const auto bytes = size(store::total_bytes(fields_));
    trial_.resize(bytes);
    caller_s_.resize(bytes);
  });
}

void Probe::turn() {
  play_.sweep.checks.gradient_error = 0;
  has_trial_ = false;
  const bool due =
      asked_.options.probes() && keeper_.uses_disk() && is_due(asked_.options, play_.sweep.number);
  set(due ? Stage::kBetween : Stage::kOff);
}

void Probe::copy_out(std::vector<std::byte>& to) {
  peers_.held.hold(store::copy_all_out(fields_, to.data()));
}

void Probe::copy_in(const std::vector<std::byte>& from) {
  peers_.held.hold(store::copy_all_in(fields_, from.data()));
}

// An anchor was lost: steps that the trial has adjoined would be adjoined again, or it was not
// begun.
void Probe::give_up() {
  if (stage_ == Stage::kTrial) {
    copy_in(caller_s_);
    keeper_.end_trial();
  }
  has_trial_ = false;
  set(Stage::kOff);
}

// What was adjoined from memory so far is the same for the trial.
void Probe::before_restore(const schedule::Restore& kept) {
  if (stage_ == Stage::kOff || kept.tier == schedule::kRamTier) return;
  if (play_.plan.sweep->course().adjoints_left == 0) return;
  if (stage_ != Stage::kBetween) {
    if (!is_of(kept, anchor_)) give_up();
    return;
  }
  if (!play_.plan.sweep->mark()) return give_up();
  anchor_ = kept;
  copy_out(caller_s_);
  if (has_trial_) {
    copy_in(trial_);
  } else {
    trial_ = caller_s_;
  }
  has_trial_ = true;
  if (kept.place >= play_.plan.memory.layout.states()) keeper_.begin_trial(kept.place, kTimes);
  set(Stage::kTrial);
}

// x_0's interval has no Drop: it ends with the sweep, once tapes are dropped.
bool Probe::ends(const schedule::Action& next) const {
  if (const auto* const drop = std::get_if<schedule::Drop>(&next)) return is_of(*drop, anchor_);
  return play_.plan.sweep->course().adjoints_left == 0 &&
         !std::holds_alternative<schedule::Adjoint>(next);
}

bool Probe::begins_again(const schedule::Action& next) {
  const bool under_way = stage_ == Stage::kTrial || stage_ == Stage::kAgain;
  if (!under_way || !ends(next)) return false;
  if (stage_ == Stage::kAgain) {
    set(Stage::kBetween);
    return false;
  }
  copy_out(trial_);
  copy_in(caller_s_);
  keeper_.end_trial();
  play_.plan.sweep->go_back();
  set(Stage::kAgain);
  keeper_.restore(anchor_);
  return true;
}

void Probe::finish() {
  if (stage_ == Stage::kOff || !has_trial_) return;
  set(Stage::kOff);
  copy_out(caller_s_);
  peers_.agreement.agree({.call = Call::kDone, .failure = peers_.held.failure()});
  play_.sweep.checks.gradient_error =
      relative_difference(fields_, trial_.data(), caller_s_.data(), peers_.agreement.ranks()) /
      std::sqrt(kTimes * kTimes - 1);
}

// The gradient's error is proportional to the tolerance, as long as both are small.
double Probe::next_tolerance(double asked) const {
  const Options& options = asked_.options;
  const double allowed = options.gradient_error, stated = play_.sweep.checks.gradient_error;
  constexpr double kLeast = 1e-16, kMost = 0.5, kMuch = 3;
  const bool keeps = stated <= allowed && stated >= allowed / kMuch;
  if (allowed == 0 || stated == 0 || keeps) return asked;
  // Below what is allowed, so that chance does not bring it above.
  const double next =
      std::clamp(options.tolerance * allowed / stated / std::sqrt(kMuch), kLeast, kMost);
  if (stated > kMuch * allowed) {
    warnings_.warn({"the error of the gradient is stated as ", format_in_full(stated),
                    ", and gradient_error asks for ", format_in_full(allowed),
                    "; the next sweep takes tolerance=", format_in_full(next)});
  }
  return next;
}

}  // namespace anadrome::engine
