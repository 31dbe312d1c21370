// SPDX-License-Identifier: BSD-2-Clause
// The exchange with the caller: it is handed an action at a time, and its steps are timed. An
// advance is handed out in pieces where somebody has to look at the states in between.
#pragma once

#include <anadrome/anadrome.h>

#include "engine/audit.h"
#include "engine/context.h"
#include "engine/keeper.h"
#include "engine/preflight.h"
#include "engine/report.h"

namespace anadrome::engine {

class Caller {
 public:
  Caller(Context& context, Meeting& meeting, Storage& storage, Keeper& keeper, Report& report)
      : context_(context),
        storage_(storage),
        keeper_(keeper),
        report_(report),
        comparison_(context, meeting),
        audits_(context, comparison_),
        preflight_(context, keeper, comparison_) {}

  /// Before a sweep's first action. Collective.
  void begin();
  /// The action in the caller's hands is done.
  void take_back();
  /// Is an advance left that was handed out in part? The next part of it is.
  bool hand_out_rest() {
    if (preflight_.repeats()) return hand_out_rest_of_preflight(), true;
    if (context_.sweep.rest.first >= context_.sweep.rest.last) return false;
    hand_out_part(schedule::Advance(context_.sweep.rest));
    return true;
  }
  void hand_out(const schedule::Start& start);
  void hand_out(const schedule::Advance& advance);
  void hand_out(const schedule::Turn& turn);
  void hand_out(const schedule::Adjoint& adjoint);
  void hand_out(const schedule::Visit& visit);
  void hand_out(const schedule::Done& done);

 private:
  void hand_out_part(const schedule::Advance& advance);
  void hand_out_rest_of_preflight();
  bool looks_at(const schedule::Advance& advance);
  /// SweepState::in_hand, which is empty until then.
  void is_handed_out();
  void advance_is_done(std::int64_t last, double seconds);
  void adjoint_is_done(double seconds);
  void visit_is_done(double seconds);
  void record(double now, std::int64_t last);
  void make_room_for_step();
  std::int64_t end_of_part(const schedule::Advance& advance) const;

  Context& context_;
  Storage& storage_;
  Keeper& keeper_;
  Report& report_;
  Comparison comparison_;
  Audits audits_;
  Preflight preflight_;
};

}  // namespace anadrome::engine
