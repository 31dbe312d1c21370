// SPDX-License-Identifier: BSD-2-Clause
#include "tool/count/step_costs.h"

#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kMostLines = std::int64_t{1} << 24;

void read_line(const std::string& where, const std::string& line, Problem& problem) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string cost, bytes, more;
  if (!(words >> cost)) return;
  problem.step_costs.push_back(parse_decimal(where, cost));
  if (words >> bytes) {
    problem.state_bytes.push_back(parse_count(where, bytes, 1, schedule::kMostSteps));
  }
  if (words >> more) {
    throw Error(ANADROME_ERR_ARGUMENT, where + ": '" + more + "' is one word too many");
  }
  if (!problem.state_bytes.empty() && problem.state_bytes.size() != problem.step_costs.size()) {
    throw Error(ANADROME_ERR_ARGUMENT, where + ": expected bytes in every line or in none");
  }
}

}  // namespace

void read_step_costs(const std::string& file, Problem& problem) {
  std::ifstream in(file);
  if (!in) throw Error(ANADROME_ERR_ARGUMENT, "--costs " + file + ": " + errno_text(errno));
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    const std::string where = "--costs " + file + ", line " + std::to_string(number);
    if (number > kMostLines) throw Error(ANADROME_ERR_ARGUMENT, where + ": too many lines");
    read_line(where, line, problem);
  }
  if (std::ssize(problem.step_costs) != problem.steps) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "--costs " + file + ": " + std::to_string(problem.step_costs.size()) +
                    " lines for " + std::to_string(problem.steps) + " steps");
  }
}

}  // namespace anadrome::tool
