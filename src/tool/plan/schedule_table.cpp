#include "tool/plan/schedule_table.h"

#include <vector>

#include "base/error.h"
#include "tool/plan/async_schedule.h"
#include "tool/plan/double_schedule.h"
#include "tool/plan/least_memory_schedule.h"
#include "tool/plan/online_schedule.h"
#include "tool/plan/ram_schedules.h"
#include "tool/plan/tape_schedule.h"
#include "tool/plan/two_tier_schedules.h"
#include "tool/plan/uneven_schedule.h"

namespace anadrome::tool {

std::span<const Schedule> all_schedules() {
  static const std::vector<Schedule> all = {
      store_all_schedule(),    revolve_schedule(),      async_schedule(),
      overlapped_schedule(),   disk_revolve_schedule(), hrevolve_schedule(),
      multistage_schedule(),   mixed_schedule(),        double_schedule(),
      least_memory_schedule(), uneven_schedule(),       online_schedule()};
  return all;
}

std::string schedule_names() {
  std::string names;
  for (const Schedule& schedule : all_schedules()) {
    names += (names.empty() ? "" : ", ") + std::string(schedule.name);
  }
  return names;
}

const Schedule& schedule_named(std::string_view name) {
  for (const Schedule& schedule : all_schedules()) {
    if (schedule.name == name) return schedule;
  }
  throw Error(ANADROME_ERR_ARGUMENT,
              "--schedule '" + std::string(name) + "' is not one of " + schedule_names());
}

}  // namespace anadrome::tool
