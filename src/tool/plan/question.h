// Questions beside those that Problem and WhatIf ask, each with its own flags and its own answer.
#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text_out.h"
#include "tool/plan/plan_flags.h"

namespace anadrome::tool {

struct Answer {
  nlohmann::ordered_json json;
  bool possible = true;                         ///< false: the answer is no
  std::function<void(TextOut&)> write_actions;  ///< a JSON object a line
  std::function<void(TextOut&)> draw;           ///< SVG
};

struct Question {
  const char* schedule;  ///< its name after --schedule
  /// Is it asked? The schedule was not named.
  bool (*asked)(const PlanFlags&);
  std::vector<const char*> flags;  ///< that have a meaning
  Answer (*answer)(const PlanFlags&);
};

/// What --schedule may name beside the schedules of the comparison and of the abstract problem.
std::string question_names();

/// The question that is asked; NULL: one of the others.
const Question* question_asked(const PlanFlags& flags);

/// Throws ERR_ARGUMENT on a flag without a meaning.
void check(const Question& question, const PlanFlags& flags);

/// One of `words`, as a number from 0. Throws ERR_ARGUMENT, naming `flag`.
std::size_t word_of(const char* flag, const std::string& text,
                    std::initializer_list<const char*> words);

/// All that is in a file. Throws ERR_ARGUMENT, naming `flag`.
std::string text_of_file(const char* flag, const std::string& file);

/// Whole numbers, with commas or white space between; '#' begins a comment. Throws ERR_ARGUMENT.
std::vector<std::int64_t> counts_in(const char* flag, const std::string& text, std::int64_t least);

}  // namespace anadrome::tool
