// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/activity.h"

#include "engine/disk/watch.h"

namespace anadrome::engine {
namespace {

std::string text_of(Doing doing) {
  switch (doing) {
    case Doing::kBegin:
      return "in anadrome_begin";
    case Doing::kNext:
      return "in anadrome_next after step ";
    case Doing::kAdvance:
      return "in its solver, forward from step ";
    case Doing::kAdvanceAgain:
      return "in its solver, recomputing from step ";
    case Doing::kTurn:
      return "in its solver at TURN, after step ";
    case Doing::kAdjoint:
      return "in its solver, the adjoint of step ";
    case Doing::kVisit:
      return "in its solver, visiting step ";
    case Doing::kAfterDone:
      return "after DONE";
    case Doing::kRewind:
      return "in anadrome_rewind";
    case Doing::kPass:
      return "in anadrome_pass";
    case Doing::kClose:
      return "in anadrome_close";
  }
  return "?";
}

}  // namespace

std::string text_of_activity(std::uint64_t activity) {
  const Doing doing = doing_of(activity);
  const bool has_step = doing >= Doing::kNext && doing <= Doing::kVisit;
  return text_of(doing) + (has_step ? std::to_string(activity & kStepMask) : "");
}

}  // namespace anadrome::engine
