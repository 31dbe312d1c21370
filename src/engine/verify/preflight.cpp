// SPDX-License-Identifier: BSD-2-Clause
#include "engine/verify/preflight.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"

namespace anadrome::engine {
namespace {

constexpr std::int64_t kSteps = 2;  // one misses a forgotten time level that starts as a copy

}  // namespace

void Preflight::begin() {
  const SweepPlan& plan = play_.plan;
  stage_ = Stage::kOff;
  left_out_ = "";
  at_rest_ = false;
  spare_ = -1;
  step_seconds_ = 0;
  first_ = 0;
  whole_ = kSteps;
  if (plan.steps != schedule::kUnknown) whole_ = std::min(whole_, plan.steps);
  last_ = std::min<std::int64_t>(whole_, 1);
  const bool passed = passed_fields_ == asked_.fields.all().size();
  const bool goes_on = play_.sweep.resumed.phase != ANADROME_PHASE_IDLE;
  const bool wanted = asked_.options.audit != Audit::kOff && whole_ > 0;
  if (!wanted || passed || goes_on) return;
  stage_ = Stage::kFirst;
  peers_.held.attempt([&] { prints_.resize(4 * comparison_.fields()); });
}

std::int64_t Preflight::end_of_part(const schedule::Advance& advance) const {
  const std::int64_t end = advance.first == first_ ? first_ + 1 : last_;
  return advance.first < end ? std::min(end, advance.last) : advance.last;
}

void Preflight::computed(std::int64_t first) {
  const LiveState& live = *keeper_.live();
  if (first == 0) keeper_.hold_x_0(whole_ + 1);
  if (first == first_) comparison_.take(live, prints(kStart));
  if (first == first_ + 1) comparison_.take(live, prints(kOneStep));
  if (first == last_) reached();
}

// Who ended the sweep in one of these steps would do so again.
void Preflight::turns_at(std::int64_t step) {
  if (stage_ == Stage::kFirst && step == last_ && play_.plan.steps != schedule::kUnknown) reached();
  if (!repeats()) end();
}

void Preflight::reached() {
  began_ = now_seconds();
  agreed_ = {peers_.agreement.count(), peers_.agreement.seconds()};
  comparison_.take(*keeper_.live(), prints(kLast));
  if (is_worth_it()) {
    start_again();
  } else {
    leave_out();
  }
}

// None of this is the sweep's.
void Preflight::leave_out() {
  const double took = now_seconds() - began_;
  SweepState& sweep = play_.sweep;
  sweep.checks.preflight_seconds += took;
  sweep.times.begin += took;
  sweep.before.agreements += peers_.agreement.count() - agreed_.count;
  sweep.before.seconds_agreeing += peers_.agreement.seconds() - agreed_.seconds;
}

bool Preflight::same_here(std::size_t one, std::size_t other) {
  return std::ranges::equal(prints(one), prints(other), {}, &Fingerprint::hash, &Fingerprint::hash);
}

// Collective, as is what follows from it.
bool Preflight::is_worth_it() {
  const bool moves = comparison_.leaves_out_packed() || !same_here(kStart, kLast);
  struct Some {
    double step_seconds, moves, lacks_x_0, lacks_spare;
  };
  peers_.agreement.agree({.call = Call::kPreflight, .failure = peers_.held.failure()});
  const auto some =
      largest_of<double>(peers_.agreement.ranks(), Some{step_seconds_, moves ? 1.0 : 0.0,
                                                        keeper_.has_x_0_in_memory() ? 0.0 : 1.0,
                                                        keeper_.has_spare_block() ? 0.0 : 1.0});
  const bool too_long = some.step_seconds > kLongStep;
  if (too_long || some.lacks_x_0 > 0) {
    left_out_ = too_long ? "a step takes more than a minute" : "there is no memory left for x_0";
    end();
    return false;
  }
  has_spare_ = some.lacks_spare == 0;
  if (some.moves > 0) return true;
  const std::int64_t course = play_.plan.steps;
  const std::int64_t left = course == schedule::kUnknown ? INT64_MAX : course - last_;
  std::int64_t steps = std::min(left, 2 * (last_ - first_) + 3);
  // Arrays that change places are where they were after 2, or 3, or a multiple.
  while (steps > 0 && (steps % 2 == 0 || steps % 3 == 0)) --steps;
  if (steps == 0) {
    at_rest_ = true;
    end();
  } else {
    first_ = std::exchange(last_, last_ + steps);
    whole_ = std::max(last_, first_ + std::min(left, kSteps));
    keeper_.let_go_of_x_0();  // it may take long
  }
  return false;
}

void Preflight::start_again() {
  LiveState& live = *keeper_.live();
  if (has_spare_) spare_ = keeper_.take_spare_block();
  if (has_spare_ && comparison_.leaves_out_packed()) {
    comparison_.take(live, prints(kLast), keeper_.block(spare_));
  } else if (has_spare_) {
    peers_.held.attempt([&] { live.keep(spare_, 0); });
  }
  keeper_.restore_x_0();
  stage_ = Stage::kAgain;
}

void Preflight::compare() {
  const LiveState& live = *keeper_.live();
  const bool packs = has_spare_ && comparison_.leaves_out_packed();
  comparison_.take(live, prints(kNow), packs ? std::optional(keeper_.block(spare_)) : std::nullopt,
                   prints(kLast));
  const auto difference = comparison_.compare(
      Call::kPreflight, {live, prints(kLast), prints(kNow), packs ? -1 : spare_}, last_ - first_);
  const char* const why = difference ? cause() : "";
  const std::int64_t first = first_, last = last_ - 1;
  play_.sweep.checks.preflight_steps = last_ - first_;
  if (last_ < whole_) {
    give_back_spare();
    stage_ = Stage::kFirst;
    last_ = whole_;
  } else {
    passed_fields_ = asked_.fields.all().size();
    end();
  }
  leave_out();
  if (!difference) return;
  const auto what = [&] {
    const std::string step = std::to_string(first);
    return first == last ? "preflight: step " + step + " gives another state when it is run again"
                         : "preflight: steps " + step + " to " + std::to_string(last) +
                               " give another state when they are run again";
  };
  comparison_.judge(*difference, what, why);
}

// Collective.
const char* Preflight::cause() {
  std::array<double, 2> differs = {same_here(kNow, kStart) ? 0.0 : 1.0,
                                   same_here(kNow, kOneStep) ? 0.0 : 1.0};
  Ranks& ranks = peers_.agreement.ranks();
  ranks.largest(differs);
  if (differs[0] == 0) {
    return "no step was run the second time; an ADVANCE with `again` is to be run as any other";
  }
  if (differs[1] == 0) {
    return "one step was run the second time; an ADVANCE is all steps from `first` to `last` - 1";
  }
  return kUsualCauses;
}

void Preflight::give_back_spare() {
  if (spare_ >= 0) keeper_.give_back_spare_block(spare_);
  spare_ = -1;
}

void Preflight::end() {
  give_back_spare();
  if (stage_ != Stage::kOff) keeper_.let_go_of_x_0();
  stage_ = Stage::kOff;
}

}  // namespace anadrome::engine
