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

/// Whole numbers, with commas or white space between; '#' begins a comment. Throws ERR_ARGUMENT.
std::vector<std::int64_t> counts_in(const char* option, const std::string& text,
                                    std::int64_t least);

}  // namespace anadrome::tool
