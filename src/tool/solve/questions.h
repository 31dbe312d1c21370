// SPDX-License-Identifier: BSD-2-Clause
// The questions of `anadrome solve`: each question has options of its own.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text_out.h"
#include "schedule/words/placement.h"
#include "tool/options.h"
#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

struct Answer {  // NOLINT(bugprone-exception-escape): of nlohmann::ordered_json
  nlohmann::ordered_json json;
  bool possible = true;                         ///< false: the answer is no
  std::function<void(TextOut&)> write_actions;  ///< a JSON object a line
  std::function<void(TextOut&)> draw;           ///< SVG
};

/// Answers once the options are read. Throws ERR_ARGUMENT, naming the option.
using Ask = std::function<Answer()>;

struct Question {
  const char* name;
  const char* meaning;
  const char* example;  ///< options that give an answer
  Ask (*add)(Options&);
};

Question objects_question();
Question double_question();
Question least_memory_question();
Question join_question();
Question offload_question();
Question uneven_tapes_question();
Question graph_question();

/// A sweep whose checkpoints nest, as nested_actions plays it.
struct NestedSweep {
  const char* schedule;
  std::string remark;
  Problem problem;  ///< its tapes and disk slots are drawn
  Counts counts;
  std::function<std::unique_ptr<schedule::Planner>()> planner;
};

/// Its actions and its picture, in which a forward step takes a second and an adjoint step two.
void show(const NestedSweep& sweep, Answer& answer);

/// All that is in a file. Throws ERR_ARGUMENT, naming `option`.
std::string text_of_file(const char* option, const std::string& file);

/// The costs of an uneven chain's steps, and the sizes of its states and tapes, as they are in a
/// file.
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

/// Whole numbers, with commas or white space between; '#' begins a comment. Throws ERR_ARGUMENT.
std::vector<std::int64_t> counts_in(const char* option, const std::string& text,
                                    std::int64_t least);

}  // namespace anadrome::tool
