// SPDX-License-Identifier: BSD-2-Clause
// The state of one sweep and of no other: begin makes it anew, `= {}`, so that nothing of an
// earlier sweep can be left in it.
#pragma once

#include <anadrome/anadrome.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "schedule/words/action.h"
#include "store/moving/transport.h"
#include "store/tiers/volume.h"

namespace anadrome::engine {

struct SweepState {
  std::int64_t number = 0;       ///< the sweep's, in checksums and journals
  std::int64_t last_number = 0;  ///< that of the sweep before, and of one that does not begin
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  /// Where the sweep went on that another process had begun; IDLE: it began at x_0.
  struct Resumed {
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    std::int64_t step = 0;
    mutable bool asked = false;  ///< this rank's program asked where the sweep resumed
    bool open = false;           ///< not agreed yet that some rank asked
  } resumed;

  // In the caller's hands.
  anadrome_action in_hand{};
  schedule::Advance rest;         ///< the rest of an advance that is handed out in pieces
  schedule::Advance waiting;      ///< for steps that are compared, which are in hand; none: empty
  bool then_is_written = false;   ///< by what the caller does now
  std::int64_t finished_at = -1;  ///< the advance in hand ended the sweep after so many steps
  bool timed = false;             ///< the action in hand is
  double handed_out = 0;          ///< when

  // Done so far.
  std::int64_t advances = 0, adjoints = 0;
  struct AgreedAt {
    std::int64_t advances = 0, adjoints = 0;
  } agreed_at;  ///< so many, at the last agreement
  struct Copies {
    std::int64_t kept = 0, restored = 0;
    double seconds = 0;
  } copies;
  struct Times {
    double begin = 0, turn = 0, done = 0;
  } times;
  /// Seconds in the caller's hands; short actions: estimated from those that were timed.
  struct Spent {
    double forward = 0, again = 0, adjoint = 0;
  } spent;

  /// Counted by the run before the sweep began.
  struct Before {
    double seconds_agreeing = 0;
    std::int64_t agreements = 0;
    std::array<store::TransferTotals, store::kMostVolumes> totals;
  } before;

  // Anchors.
  std::int64_t newest_anchor = 0;    ///< the one that was kept or restored last
  std::int64_t anchors_put = 0;      ///< where they are replaced: each time
  std::int64_t anchors_lost = 0;     ///< agreed
  std::int64_t never_on_disk = 0;    ///< of these: the disk had refused them
  std::int64_t agreed_block = -1;    ///< every rank has this block in memory
  bool write_due = false;            ///< the newest block is full, and not being written
  bool no_more_anchors = false;      ///< the disk takes none; agreed, as why
  std::int64_t anchors_on_disk = 0;  ///< then
  Failure disk_refused;
  Failure lost;  ///< why the last anchor that was asked for is lost; agreed

  // The live state: see Audits.
  std::int64_t kept_step = -1;     ///< the state that was kept or restored last
  std::int64_t restored_step = 0;  ///< from where steps are run again

  /// Steps that were compared with their first time.
  struct Checks {
    std::int64_t preflight_steps = 0;
    double preflight_seconds = 0;  ///< which are not the sweep's
    std::int64_t audited_states = 0;
    bool compared_some() const { return preflight_steps > 0 || audited_states > 0; }
    bool repeats = false;   ///< steps are in hand again for this alone
    bool on_trial = false;  ///< see Probe, as for the rest
    double gradient_error = 0;
  } checks;

  struct Prediction {
    std::int64_t due_at = 0;  ///< after so many steps; 0: not any more
    std::int64_t made_at = 0;
    double seconds = 0;
    bool adjoint_guessed = false;
    /// When one was due last: the next one goes by the steps that follow.
    std::int64_t advances = 0;
    double forward = 0;  ///< seconds of them
  } prediction;

  /// Of schedule=undo, in the caller's steps: see Undoing.
  struct Undone {
    std::int64_t per_state = 1;  ///< steps from one state of the sweep to the next
    std::int64_t steps = 0;      ///< n
    bool by_steps = false;       ///< the caller has no undo
    double own_seconds = 0;      ///< in copies and residuals
    double drift = 0;            ///< most of any state that was undone to, relative
    struct Mean {
      std::int64_t count = 0;
      double seconds = 0;
      double of_one() const { return count > 0 ? seconds / real(count) : 0; }
    } forward, undo, adjoint;

    /// The state of the sweep, as a step.
    std::int64_t step(std::int64_t state) const {
      return per_state > 1 && state >= 0 && state > steps / per_state ? steps : state * per_state;
    }
  } undone;

  std::string chosen;  ///< why this schedule, if the option says auto
  bool warned = false;
  /// A commit could not tell in which of its reverse sweeps or passes the program was: none is
  /// made.
  bool rewound = false;
  struct Passes {
    std::int64_t begun = 0, visits = 0;
    std::int64_t advances_before = 0;  ///< the one under way
    double began = 0;                  ///< the one under way
    bool ready = false;                ///< the schedule is one for passes
    bool forward = false;              ///< the one under way
    bool on = false;                   ///< one is under way, or was the last thing that was done
  } passes;

  bool under_way() const {
    return phase == ANADROME_PHASE_FORWARD || phase == ANADROME_PHASE_REVERSE;
  }
};

}  // namespace anadrome::engine
