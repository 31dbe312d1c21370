// SPDX-License-Identifier: BSD-2-Clause
// The exchange with the caller: it is handed an action at a time, and its steps are timed. An
// advance is handed out in pieces where somebody has to look at the states in between.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <optional>

#include "engine/device/step_clock.h"
#include "engine/keep/keeper.h"
#include "engine/report/report.h"
#include "engine/sweep/context.h"
#include "engine/verify/audit.h"
#include "engine/verify/preflight.h"
#include "engine/verify/spot_check.h"

namespace anadrome::engine {

class Caller {
 public:
  Caller(Context& context, Meeting& meeting, Storage& storage, Keeper& keeper, Report& report)
      : context_(context),
        storage_(storage),
        keeper_(keeper),
        report_(report),
        comparison_(context.peers, meeting, context.asked, context.play.plan, context.notes),
        audits_(context.peers.held, context.play.plan, context.play.sweep, comparison_),
        preflight_(context.peers, context.asked, context.play, keeper, comparison_),
        spot_checks_(context.peers, context.asked.fields, context.play, context.notes.measured,
                     keeper, comparison_) {}

  /// Before a sweep's first action. Collective.
  void begin();
  /// The action in the caller's hands is done.
  void take_back();
  /// Is an advance left that was handed out in part? The next part of it is.
  bool hand_out_rest() {
    if (context_.play.sweep.checks.repeats) return hand_out_what_waited();
    if (context_.play.sweep.rest.first >= context_.play.sweep.rest.last) return false;
    hand_out_part(schedule::Advance(context_.play.sweep.rest));
    return true;
  }
  void hand_out(const schedule::Advance& advance);
  /// The forward sweep ends at x_step. True: first the steps up to it are run again, and the sweep
  /// ends when there is no rest of these.
  bool runs_again_before_turn(std::int64_t step);
  void hand_out(const schedule::Turn& turn);
  void hand_out(const schedule::Adjoint& adjoint);
  void hand_out(const schedule::Visit& visit);
  void hand_out(const schedule::Done& done);
  /// A sweep is over: was any step of the run's first one compared?
  void end_sweep();

 private:
  void hand_out_part(const schedule::Advance& advance);
  bool hand_out_what_waited();
  void hand_out_adjoint(std::int64_t step);
  bool looks_at(const schedule::Advance& advance);
  /// SweepState::in_hand, which is empty until then.
  void is_handed_out();
  void advance_is_done(std::int64_t last, double seconds);
  void add_seconds(const anadrome_action& action, std::int64_t steps, double seconds);
  void adjoint_is_done(double seconds);
  void visit_is_done(double seconds);
  void read_clock(std::int64_t steps);
  void record(double now, std::int64_t last);
  void make_room_for_step();
  std::optional<std::uint64_t> sum_of_adjoint() const;
  void look_at_adjoint();
  std::int64_t end_of_part(const schedule::Advance& advance) const;

  Context& context_;
  Storage& storage_;
  Keeper& keeper_;
  Report& report_;
  Comparison comparison_;
  Audits audits_;
  Preflight preflight_;
  SpotChecks spot_checks_;
  StepClock clock_;                  ///< of steps on a device
  std::size_t compared_fields_ = 0;  ///< the fields that there were in a sweep that compared some
  bool looks_at_adjoint_ = true, compares_adjoint_ = false;
  std::optional<std::uint64_t> adjoint_at_first_;  ///< before the first adjoint step
};

}  // namespace anadrome::engine
