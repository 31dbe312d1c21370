// SPDX-License-Identifier: BSD-2-Clause
#include "engine/solve.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace anadrome::engine {
namespace {

// A failing callback does not end the loop here: the other ranks learn of it at the next agreement,
// and until then this one keeps them company in their halo exchanges.
void note(Run& run, const char* callback, std::int64_t step, int code) {
  if (code == 0) return;
  run.fail(std::string("the callback ") + callback + " returned " + std::to_string(code) +
           " at step " + std::to_string(step));
}

void advance(Run& run, const anadrome_action& action, bool open_end, const anadrome_model& model) {
  std::int64_t reached = action.last;
  std::int64_t plain_end = action.record != 0 ? action.last - 1 : action.last;
  if (action.first < plain_end) {
    reached = plain_end;
    note(run, "advance", action.first,
         model.advance(model.context, action.first, plain_end, &reached));
  }
  if (action.record != 0 && reached >= plain_end) {
    reached = action.last;
    note(run, "record", plain_end, model.record(model.context, plain_end, &reached));
  }
  if (!open_end || action.again != 0) return;
  if (reached < action.first || reached > action.last) {
    run.fail("a callback set *reached = " + std::to_string(reached) + " in the advance from " +
             std::to_string(action.first) + " to " + std::to_string(action.last));
    reached = std::clamp(reached, action.first, action.last);
  }
  if (reached < action.last) run.finish_forward(reached);
}

}  // namespace

anadrome_model model_of(const Run& run, const anadrome_model* given, const char* call,
                        Failure& failure) {
  anadrome_model model = {};
  const char* unfit = nullptr;
  if (given == nullptr) {
    unfit = "the model is NULL";
  } else if (given->size < offsetof(anadrome_model, start)) {
    unfit = "set model.size = sizeof(anadrome_model)";
  } else if (given->advance == nullptr || given->adjoint == nullptr) {
    unfit = "the model needs advance and adjoint";
  } else if (given->record == nullptr && run.fields().has(ANADROME_ROLE_TAPE)) {
    unfit = "tape fields are registered, so the model needs record";
  } else {
    std::memcpy(&model, given, std::min(given->size, sizeof model));
    if (model.start == nullptr && run.fields().has_exchanged()) {
      unfit = "exchanged fields are registered, so the model needs start";
    }
  }
  if (unfit != nullptr) failure = {ANADROME_ERR_ARGUMENT, std::string(call) + ": " + unfit};
  return model;
}

void solve(Run& run, std::int64_t steps, const anadrome_model& model, const Failure& failure,
           const std::function<void()>& at_turn) {
  run.begin(steps, failure);
  const bool from_x_0 = run.resumed().phase == ANADROME_PHASE_IDLE;
  if (model.start != nullptr && from_x_0) note(run, "start", 0, model.start(model.context));
  const bool open_end = steps == ANADROME_STEPS_UNKNOWN;
  for (;;) {
    anadrome_action action;
    run.next(action);
    switch (action.kind) {
      case ANADROME_ADVANCE:
        advance(run, action, open_end, model);
        break;
      case ANADROME_TURN:
        if (model.turn != nullptr) {
          note(run, "turn", action.first, model.turn(model.context, action.first));
        }
        if (at_turn) at_turn();
        break;
      case ANADROME_ADJOINT:
        note(run, "adjoint", action.first, model.adjoint(model.context, action.first));
        break;
      case ANADROME_START:  // of branches only
      case ANADROME_DONE:
        return;
    }
  }
}

}  // namespace anadrome::engine
