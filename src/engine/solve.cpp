// SPDX-License-Identifier: BSD-2-Clause
#include "engine/solve.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/callback.h"

namespace anadrome::engine {
namespace {

// A failing callback does not end the loop here: the other ranks learn of it at the next agreement,
// and until then this one keeps them company in their halo exchanges. `call` is the callback and
// its arguments.
template <class... Call>
void note(Run& run, const char* callback, std::int64_t step, Call... call) {
  Failure failed = failure_of_callback({"the callback ", callback}, call...);
  if (!failed) return;
  failure_from([&] { failed.message += " at step " + std::to_string(step); });
  run.fail(failed.message);
}

/// Of a sweep whose number of steps is not known.
struct OpenEnd {
  bool open = false;
  std::int64_t advances = 0;
};

void advance(Run& run, const anadrome_action& action, OpenEnd& end, const anadrome_model& model) {
  const bool may_end = end.open && action.again == 0;
  // The next agreement may be at the end of the sweep only, and one that always fails finds none.
  constexpr std::int64_t kBetweenAgreements = 1000;
  if (may_end && ++end.advances % kBetweenAgreements == 0) run.agree_on_callbacks();
  const std::int64_t plain_end = action.record != 0 ? action.last - 1 : action.last;
  std::int64_t reached = plain_end;
  if (action.first < plain_end) {
    note(run, "advance", action.first, model.advance, model.context, action.first, plain_end,
         &reached);
  }
  const bool stopped_short = reached < plain_end;
  if (action.record != 0 && !(may_end && stopped_short)) {
    std::int64_t recorded = action.last;
    note(run, "record", plain_end, model.record, model.context, plain_end, &recorded);
    if (!stopped_short) reached = recorded;
  }
  const std::int64_t least = may_end ? action.first : action.last;
  if (reached < least || reached > action.last) {
    run.fail("a callback set *reached = " + std::to_string(reached) + " in the advance from " +
             std::to_string(action.first) + " to " + std::to_string(action.last) +
             (may_end ? ""
                      : "; a model may end the sweep where the number of steps is unknown, and "
                        "the first time that it comes there"));
    reached = std::clamp(reached, least, action.last);
  }
  if (reached < action.last) run.finish_forward(reached);
}

// The fault in the model; NULL if there is none.
const char* unfit_for_all(const Run& run, const anadrome_model* given) {
  if (given == nullptr) return "the model is NULL";
  if (given->size < offsetof(anadrome_model, start)) {
    return "set model.size = sizeof(anadrome_model)";
  }
  if (given->record == nullptr && run.fields().has(ANADROME_ROLE_TAPE)) {
    return "tape fields are registered, so the model needs record";
  }
  return nullptr;
}

anadrome_model complete(const anadrome_model& given) {
  anadrome_model model = {};
  std::memcpy(&model, &given, std::min(given.size, sizeof model));
  return model;
}

}  // namespace

anadrome_model model_of(const Run& run, const anadrome_model* given, const char* call,
                        Failure& failure) {
  anadrome_model model = {};
  const char* unfit = unfit_for_all(run, given);
  if (unfit == nullptr) {
    model = complete(*given);
    if (model.advance == nullptr || model.adjoint == nullptr) {
      unfit = "the model needs advance and adjoint";
    } else if (model.start == nullptr && run.fields().has_exchanged()) {
      unfit = "exchanged fields are registered, so the model needs start";
    }
  }
  if (unfit != nullptr) failure = {ANADROME_ERR_ARGUMENT, std::string(call) + ": " + unfit};
  return model;
}

anadrome_model pass_model_of(const Run& run, anadrome_direction direction,
                             const anadrome_model* given, Failure& failure) {
  anadrome_model model = {};
  const char* unfit = unfit_for_all(run, given);
  if (unfit == nullptr) {
    model = complete(*given);
    const bool forward = direction == ANADROME_PASS_FORWARD;
    if (model.advance == nullptr) {
      unfit = "the model needs advance";
    } else if (forward && model.visit == nullptr) {
      unfit = "a pass forward needs the model's visit";
    } else if (!forward && model.adjoint == nullptr) {
      unfit = "a pass in reverse needs the model's adjoint";
    }
  }
  if (unfit != nullptr) failure = {ANADROME_ERR_ARGUMENT, std::string("solve_pass: ") + unfit};
  return model;
}

namespace {

// Until DONE.
void loop(Run& run, bool open_end, const anadrome_model& model,
          const std::function<void()>& at_turn) {
  OpenEnd end = {.open = open_end};
  for (;;) {
    anadrome_action action;
    run.next(action);
    switch (action.kind) {
      case ANADROME_ADVANCE:
        advance(run, action, end, model);
        break;
      case ANADROME_TURN:
        if (model.turn != nullptr) {
          note(run, "turn", action.first, model.turn, model.context, action.first);
        }
        if (at_turn) at_turn();
        break;
      case ANADROME_ADJOINT:
        note(run, "adjoint", action.first, model.adjoint, model.context, action.first);
        break;
      case ANADROME_RETREAT:
        note(run, "undo", action.first, model.undo, model.context, action.first);
        break;
      case ANADROME_VISIT:
        note(run, "visit", action.first, model.visit, model.context, action.first);
        break;
      case ANADROME_DONE:
        return;
    }
  }
}

}  // namespace

void solve(Run& run, std::int64_t steps, const anadrome_model& model, const Failure& failure,
           const std::function<void()>& at_turn) {
  run.undo_by_steps(model.undo == nullptr);
  run.begin(steps, failure);
  const bool from_x_0 = run.resumed().phase == ANADROME_PHASE_IDLE;
  if (model.start != nullptr && from_x_0) note(run, "start", 0, model.start, model.context);
  loop(run, steps == ANADROME_STEPS_UNKNOWN, model, at_turn);
}

void solve_pass(Run& run, anadrome_direction direction, const anadrome_model& model,
                const Failure& failure) {
  run.pass(direction, failure);
  loop(run, false, model, {});
}

}  // namespace anadrome::engine
