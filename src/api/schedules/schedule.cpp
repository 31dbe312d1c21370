// SPDX-License-Identifier: BSD-2-Clause
// The C interface to streams of actions.
#include <anadrome/schedule.h>

#include "api/schedules/guard.h"
#include "planners/stream.h"

struct anadrome_schedule {
  explicit anadrome_schedule(const char* options)
      : stream(anadrome::schedule::StreamOptions(options)) {}
  anadrome::schedule::Stream stream;
};

namespace {

using anadrome::api::guard;
using anadrome::api::require;
namespace schedule = anadrome::schedule;

anadrome_schedule_action kept(anadrome_schedule_kind kind, const schedule::Kept& kept) {
  anadrome_schedule_action action = {};
  action.kind = kind;
  action.what =
      kept.what == schedule::What::kTape ? ANADROME_SCHEDULE_TAPE : ANADROME_SCHEDULE_STATE;
  action.tier = kept.tier;
  action.first = action.last = kept.step;
  action.slot = kept.place;
  action.begin = kept.room.begin;
  action.units = kept.room.units;
  return action;
}

anadrome_schedule_action step(anadrome_schedule_kind kind, std::int64_t first, std::int64_t last,
                              std::int64_t branch, bool again) {
  anadrome_schedule_action action = {};
  action.kind = kind;
  action.first = first;
  action.last = last;
  action.branch = branch;
  action.again = again ? 1 : 0;
  return action;
}

anadrome_schedule_action in_c(const schedule::Action& given) {
  return std::visit(
      schedule::Cases{
          [](const schedule::Start& x_0) {
            return step(ANADROME_SCHEDULE_START, 0, 0, x_0.branch, x_0.again);
          },
          [](const schedule::Advance& run) {
            auto action =
                step(ANADROME_SCHEDULE_ADVANCE, run.first, run.last, run.branch, run.again);
            action.record = run.record ? 1 : 0;
            return action;
          },
          [](const schedule::Keep& state) { return kept(ANADROME_SCHEDULE_KEEP, state); },
          [](const schedule::Restore& state) { return kept(ANADROME_SCHEDULE_RESTORE, state); },
          [](const schedule::Drop& state) { return kept(ANADROME_SCHEDULE_DROP, state); },
          [](const schedule::Write& state) { return kept(ANADROME_SCHEDULE_WRITE, state); },
          [](const schedule::Read& state) { return kept(ANADROME_SCHEDULE_READ, state); },
          [](const schedule::Turn& turn) {
            return step(ANADROME_SCHEDULE_TURN, turn.step, turn.step, turn.branch, turn.again);
          },
          [](const schedule::Adjoint& adjoint) {
            return step(ANADROME_SCHEDULE_ADJOINT, adjoint.step, adjoint.step + 1, adjoint.branch,
                        false);
          },
          [](const auto&) { return step(ANADROME_SCHEDULE_DONE, 0, 0, 0, false); }},
      given);
}

}  // namespace

anadrome_status anadrome_schedule_open(const char* options, anadrome_schedule** schedule) {
  return guard([&] {
    require(schedule != nullptr, "schedule_open: schedule is NULL");
    *schedule = nullptr;
    require(options != nullptr, "schedule_open: options is NULL");
    *schedule = new anadrome_schedule(options);
  });
}

anadrome_status anadrome_schedule_next(anadrome_schedule* schedule,
                                       anadrome_schedule_action* action) {
  return guard([&] {
    require(schedule != nullptr && action != nullptr, "schedule_next: an argument is NULL");
    *action = in_c(schedule->stream.next());
  });
}

anadrome_status anadrome_schedule_end(anadrome_schedule* schedule, int64_t steps) {
  return guard([&] {
    require(schedule != nullptr, "schedule_end: schedule is NULL");
    schedule->stream.end(steps);
  });
}

anadrome_status anadrome_schedule_close(anadrome_schedule** schedule) {
  return guard([&] {
    require(schedule != nullptr, "schedule_close: the pointer to the handle is NULL");
    delete *schedule;
    *schedule = nullptr;
  });
}
