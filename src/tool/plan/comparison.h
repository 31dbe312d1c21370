// SPDX-License-Identifier: BSD-2-Clause
// All schedules for one question, which of them to take, and what more of each resource would gain;
// and the question the other way round.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "schedule/catalogue.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {

/// The best time with more of a resource.
struct Gain {
  std::string amount;         ///< "512 MiB per rank"
  double seconds = 0;         ///< of the best schedule then, with its passes
  const char* schedule = "";  ///< which that is; "" if none runs
};

struct Resource {
  const char* name;
  bool counts;  ///< false: there is no limit to raise
  Gain one_more, twice;
};

struct Comparison {
  WhatIf question;
  std::vector<Estimate> rows;                ///< as in all_schedules()
  const schedule::Entry* by_auto = nullptr;  ///< the choice of schedule=auto; NULL: none
  int recommended = -1;  ///< the cheapest row that serves, the first of equals; -1: none does
  std::vector<Resource> resources;  ///< empty if none is recommended
  double seconds_uncompressed = 0;  ///< of the best one then; 0: nothing is compressed
  double seconds_cores_busy = 0;    ///< of the recommended one at most, with no core free; 0: none
  /// Beside the schedules where steps can be undone, and no rival of theirs: its states are nearly
  /// right. Its schedule is "" otherwise.
  Estimate undo_lossy;
};

Comparison compare(const WhatIf& question);

/// The choice of a run with schedule=auto. NULL: there is no disk, and not all states fit, or there
/// is no memory for a state.
const schedule::Entry* auto_choice(const WhatIf& question);
/// A row of it. Throws ERR_ARGUMENT where the schedule's planner takes no such sweep.
Estimate estimate_of(const Schedule& schedule, const WhatIf& question);

/// A few sentences on why `recommended` is.
std::string reason(const Comparison& comparison);

/// For a person at a terminal, and for one who redirects it. No line is longer than `columns` >=
/// 80, unless a word is.
std::string comparison_text(const Comparison& comparison, std::size_t columns);

/// Columns of the terminal on standard output, or as COLUMNS says; 80 .. 100.
std::size_t terminal_columns();

/// For programs.
nlohmann::ordered_json comparison_json(const Comparison& comparison);

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
