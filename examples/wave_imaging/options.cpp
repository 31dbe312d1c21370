// SPDX-License-Identifier: BSD-2-Clause
#include "options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace wave {
namespace {

constexpr std::array kKinds = {"count", "rows"};

// As the table of flags fills it.
struct Given {
  std::int64_t cells = 128, steps = 4096, seeds = 8;
  const char *arrays = nullptr, *windows = nullptr, *kinds = nullptr, *nonlinear = nullptr;
  const char* pictures = nullptr;
  int reflected = 0, help = 0;
};

constexpr std::array kFlags = {
    flag{"cells", FLAG_COUNT, offsetof(Given, cells), 16, "N", "points on each side (128)",
         nullptr},
    flag{"steps", FLAG_COUNT, offsetof(Given, steps), 64, "N", "time steps (4096)", nullptr},
    flag{"seeds", FLAG_COUNT, offsetof(Given, seeds), 1, "N", "sketches of each sort (8)", nullptr},
    flag{"arrays", FLAG_TEXT, offsetof(Given, arrays), 0, "LIST",
         "of a sketch (16,32,64,128,256,512,1024)", nullptr},
    flag{"windows", FLAG_TEXT, offsetof(Given, windows), 0, "LIST",
         "parts of the steps, each with its share of the arrays (1)", nullptr},
    flag{"kinds", FLAG_TEXT, offsetof(Given, kinds), 0, "LIST", "of count,rows (count)", nullptr},
    flag{"nonlinear", FLAG_TEXT, offsetof(Given, nonlinear), 0, "B",
         "strength of a cubic term, whose adjoint needs the states (0)", nullptr},
    flag{"pictures", FLAG_TEXT, offsetof(Given, pictures), 0, "PREFIX",
         "write the gradients as PREFIX-exact.pgm, PREFIX-16.pgm, ..", nullptr},
    flag{"reflected", FLAG_SWITCH, offsetof(Given, reflected), 0, nullptr,
         "receivers where the source is, and not opposite to it", nullptr},
    flag{"help", FLAG_SWITCH, offsetof(Given, help), 0, nullptr, "print this", nullptr},
};
constexpr command_line kLine = {"wave_imaging", "a gradient from sketches beside the exact one",
                                kFlags.data(), kFlags.size()};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<std::int64_t> counts_of(const char* list, std::int64_t least) {
  std::vector<std::int64_t> counts;
  for (const std::string& word : words_of(list)) {
    std::int64_t count = 0;
    const bool read = parse_count(word.c_str(), word.c_str() + word.size(), &count) == 0;
    if (!read || count < least) {
      throw std::runtime_error("'" + word + "' is no count of " + std::to_string(least) +
                               " or more");
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

const char* name_of(anadrome_sketch_kind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

Options read_options(int argc, char** argv) {
  Given given;
  Options options;
  char message[200] = "";
  if (command_line_parse(&kLine, argc, argv, &given, &options.library, message, sizeof message) !=
      0) {
    throw std::runtime_error(message);
  }
  options.cells = given.cells;
  options.steps = given.steps;
  options.seeds = given.seeds;
  options.reflected = given.reflected != 0;
  options.help = given.help != 0;
  if (given.arrays != nullptr) options.arrays = counts_of(given.arrays, 2);
  if (given.windows != nullptr) options.windows = counts_of(given.windows, 1);
  if (given.pictures != nullptr) options.pictures = given.pictures;
  if (given.nonlinear != nullptr) options.nonlinear = std::strtod(given.nonlinear, nullptr);
  if (given.kinds != nullptr) options.kinds.clear();
  for (const std::string& word : words_of(given.kinds != nullptr ? given.kinds : "")) {
    const auto* const found = std::find(kKinds.begin(), kKinds.end(), word);
    if (given.kinds == nullptr) break;
    if (found == kKinds.end()) throw std::runtime_error("there is no kind '" + word + "'");
    options.kinds.push_back(static_cast<anadrome_sketch_kind>(found - kKinds.begin()));
  }
  return options;
}

void print_usage() { command_line_usage(&kLine, stdout); }

}  // namespace wave
