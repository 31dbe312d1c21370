// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "tool/pictures/sweep_picture.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {

void show(const NestedSweep& sweep, Answer& answer) {
  const auto actions = [sweep] { return nested_actions(sweep.problem, sweep.planner()); };
  answer.write_actions = [actions](TextOut& out) { write_actions(actions(), out); };
  answer.draw = [sweep, actions](TextOut& out) {
    const Problem& problem = sweep.problem;
    WhatIf question;
    question.steps = problem.record ? problem.steps : problem.steps - 1;
    question.state_bytes = 1;
    question.forward = 1;
    question.adjoint = 2;
    question.write_rate = question.read_rate = 4;
    question.tape_bytes = problem.record ? 1 : 0;
    Estimate estimate;
    estimate.schedule = sweep.schedule;
    estimate.sweep = problem;
    estimate.counts = sweep.counts;
    price(estimate, question, problem.disk_slots);
    estimate.remark = sweep.remark;
    draw_sweep(actions, question, estimate, out);
  };
}

std::string text_of_file(const char* option, const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (in) errno = 0;  // of a file without a byte the stream says that it failed
  if (!in || (!(text << in.rdbuf()) && errno != 0))
    throw Error(ANADROME_ERR_ARGUMENT, std::string(option) + " " + file + ": " + errno_text(errno));
  return text.str();
}

std::vector<std::int64_t> counts_in(const char* option, const std::string& text,
                                    std::int64_t least) {
  std::vector<std::int64_t> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      counts.push_back(parse_count(option, word, least, schedule::kMostSteps));
    }
  }
  return counts;
}

}  // namespace anadrome::tool
