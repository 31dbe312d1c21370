// SPDX-License-Identifier: BSD-2-Clause
// The command line of wave_imaging.
#pragma once

#include <anadrome/sketch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "command_line.h"

namespace wave {

struct Options {
  std::int64_t cells = 128, steps = 4096, seeds = 8;
  double nonlinear = 0;
  bool reflected = false;
  std::vector<std::int64_t> arrays = {16, 32, 64, 128, 256, 512, 1024};
  std::vector<std::int64_t> windows = {1};
  std::vector<anadrome_sketch_kind> kinds = {ANADROME_SKETCH_COUNT};
  std::string pictures;  ///< prefix of their files; empty: none
  bool help = false;
  settings library = {};  ///< for the exact gradient
};

const char* name_of(anadrome_sketch_kind kind);

/// Throws std::runtime_error on words that make no sense.
Options read_options(int argc, char** argv);
void print_usage();

}  // namespace wave
