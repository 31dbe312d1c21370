// SPDX-License-Identifier: BSD-2-Clause
// A program with the mistakes that people make when they bring a model to the library: a wave
// equation with two time levels.
#pragma once

#include <anadrome/anadrome.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace anadrome::test {

enum class Mistake {
  kNone,
  kForgottenField,  ///< the second time level is not registered
  kOverlap,         ///< the second field begins an element too early
  kStaticVariable,
  kRandomNumber,
  kBoundaryValue,  ///< of the last rank: the count of the first field is one too small
  kFirstStepOnly,  ///< of an ADVANCE
  kSkipsAgain,     ///< an ADVANCE with `again` is not run
  kLateField,      ///< a coefficient that is renewed at every tenth step, after the first ones
  kLateCounter,    ///< a static variable that counts from there on
  kSwappedLevels,  ///< the arrays of the two time levels change places at every step
  kSwappedArray,   ///< that of the newest one does with another one, which is not registered
  kRounding,       ///< none: sums in varying order
};

struct Settings {
  std::string schedule = "revolve";
  std::vector<std::pair<std::string, std::string>> options = {};
  std::int64_t steps = 60;
  bool unknown_steps = false;
  std::int64_t at_rest_for = 0;  ///< steps, from the start
  std::size_t packed_bytes = 0;  ///< the mistaken field is packed, padded to so many bytes
};

struct PortOutcome {
  anadrome_status begin = ANADROME_OK, sweep = ANADROME_OK;
  std::string message;
  std::int64_t forward_steps = 0;  ///< that the program was asked for until it ended
  bool in_reverse = false;         ///< when it ended
  anadrome_stats stats{};
  double gradient = 0;
};

/// The program, on all ranks.
PortOutcome run_port(Mistake mistake, const Settings& settings);

}  // namespace anadrome::test
