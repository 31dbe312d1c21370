// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <vector>

#include "base/error.h"
#include "base/words.h"

namespace anadrome::tool {

std::span<const Schedule> all_schedules() {
  static const std::vector<Schedule> all = {
      store_all_schedule(),    revolve_schedule(),      async_schedule(),
      overlapped_schedule(),   disk_revolve_schedule(), hrevolve_schedule(),
      multistage_schedule(),   mixed_schedule(),        double_schedule(),
      least_memory_schedule(), uneven_schedule(),       online_schedule(),
      undo_schedule()};
  return all;
}

std::string schedule_names(bool counted) {
  std::string names;
  for (const Schedule& schedule : all_schedules()) {
    if (counted && schedule.count == nullptr) continue;
    names += (names.empty() ? "" : ", ") + std::string(schedule.name);
  }
  return names;
}

const Schedule& schedule_named(const char* option, std::string_view name) {
  const std::string word = in_small_letters(name);
  for (const Schedule& schedule : all_schedules()) {
    if (schedule.name == word) return schedule;
  }
  throw Error(ANADROME_ERR_ARGUMENT, std::string(option) + " '" + std::string(name) +
                                         "' is not one of " + schedule_names());
}

}  // namespace anadrome::tool
