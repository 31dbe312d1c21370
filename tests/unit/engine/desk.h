// Everything that planning looks at, on one rank.
#pragma once

#include <utility>

#include <cstdint>
#include <functional>

#include "engine/context.h"
#include "engine/planning.h"
#include "engine/storage.h"
#include "thread_ranks.h"

namespace anadrome::engine {

class Desk {
 public:
  Desk(Ranks& ranks, std::int64_t state_bytes, std::int64_t tape_bytes) : context(ranks) {
    add("u", ANADROME_ROLE_STATE, state_bytes);
    if (tape_bytes > 0) add("t", ANADROME_ROLE_TAPE, tape_bytes);
    fields.begin_sweep();
  }
  SweepPlan plan(const char* schedule, std::int64_t steps) {
    SweepPlan plan;
    plan.steps = steps;
    plan.schedule = schedule::find_schedule(schedule);
    plan.budget = options.memory;
    plan.record = fields.has_tape();
    return plan;
  }
  SweepPlan planned(const char* schedule, std::int64_t steps) {
    SweepPlan made = plan(schedule, steps);
    planning.require_fit(made);
    planning.plan_memory(made, nullptr);
    planning.make_sweep(made, false);
    return made;
  }

  Context context;
  Options& options = context.options;
  Fields& fields = context.fields;
  Storage storage{context};
  Planning planning{context, storage};

 private:
  void add(const char* name, anadrome_role role, std::int64_t bytes) {
    store::Field field;
    field.name = name;
    field.role = role;
    field.count = bytes;
    fields.add(field);
  }
};

inline void alone(std::int64_t state_bytes, std::int64_t tape_bytes,
                  const std::function<void(Desk&)>& body) {
  ThreadRanks::run(1, [&](Ranks& ranks) {
    Desk desk(ranks, state_bytes, tape_bytes);
    body(desk);
  });
}

}  // namespace anadrome::engine
