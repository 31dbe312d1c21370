// SPDX-License-Identifier: BSD-2-Clause
// All schedules for one question, which of them to take, and what more of each resource would gain.
#pragma once

#include <string>
#include <vector>

#include "schedule/catalogue.h"
#include "tool/plan/sketch_row.h"
#include "tool/schedules/schedule.h"

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
  SketchRow sketch;                 ///< beside the schedules, if it was asked for
};

Comparison compare(const WhatIf& question);
/// A row of it. Throws ERR_ARGUMENT where the schedule's planner takes no such sweep.
Estimate estimate_of(const Schedule& schedule, const WhatIf& question);

/// A few sentences on why `recommended` is.
std::string reason(const Comparison& comparison);

}  // namespace anadrome::tool
