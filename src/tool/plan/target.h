// SPDX-License-Identifier: BSD-2-Clause
// The question the other way round: how much memory, and how much disk, for a sweep that ends in
// time. Asked of the schedules whose costs are closed forms.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tool/schedules/schedules.h"

namespace anadrome::tool {

struct Target {
  WhatIf question;              ///< with a disk, if there is one; memory 0: none was given
  double seconds = 0;           ///< in which the sweep ends
  std::vector<Estimate> least;  ///< in RAM alone, with the disk: the least memory that suffices
  std::vector<std::int64_t> memory;  ///< per rank, of each of these; 0: no memory suffices
  Estimate given;                    ///< with the memory that was given, if one was

  /// Does a sweep end in time, with the memory that was given, or with any?
  bool possible() const;
};

Target find_target(const WhatIf& question, double seconds);

std::string target_text(const Target& target);
nlohmann::ordered_json target_json(const Target& target);

}  // namespace anadrome::tool
