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
