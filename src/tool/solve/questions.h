// SPDX-License-Identifier: BSD-2-Clause
// The questions of `anadrome solve`: each question has options of its own.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "base/text_out.h"
#include "tool/options.h"

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

}  // namespace anadrome::tool
