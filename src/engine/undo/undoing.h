// SPDX-License-Identifier: BSD-2-Clause
// schedule=undo: the caller runs steps backwards, and the library adds what is missing.
//
// A caller that can undo a step, up to rounding, needs no states but the last one. So what a sweep
// keeps is the residual of each step: what is missing from the undone x_{k+1} to x_k. It has the
// size of a state and is nearly all zeros. A sweep of residuals is one of schedule=async with
// interval 1: they go to disk compressed, and come back, ahead of need, as states do. Here is what
// lies between that sweep and the caller:
//
// - The residual of step k is the state k of the sweep below, so the caller is one step ahead of
//   it: its first step is taken before the sweep's first action, and the sweep's last has none.
// - The caller's state fields are committed with its adjoint fields, so a run that goes on has
//   both x_{k+1} and the residual of step k.
// - A residual ends with the checksum of its x_k: what comes of it is x_k, or an error.
//
// With compress=lossy there are no residuals: a state is kept every `interval` steps, undone states
// are taken as they are, and at each kept one the drift is measured; more of it than the tolerance
// is an error, as it is where the first steps are undone for a trial. The sweep below is one of
// blocks of so many steps, its states are the caller's, and the caller is at the same step.
//
// A model without undo has its steps undone by steps (UndoBySteps). Sources: Stam 2022
// (arXiv:2207.07695) and McCallum & Foster 2024 (arXiv:2410.11648) have integrators made for it;
// any step will do here.
#pragma once

#include <anadrome/anadrome.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "engine/sweep/context.h"
#include "engine/undo/by_steps.h"
#include "engine/undo/drift_trial.h"
#include "engine/undo/residual.h"
#include "store/memory/pool.h"

namespace anadrome::engine {

/// The sweep whose states are residuals.
class ResidualSweep {
 public:
  /// Finishes its action in hand; the next one, as long as it is in hand. Collective.
  virtual const anadrome_action& play() = 0;
  /// As Run::finish_forward, of its advance in hand.
  virtual void end_forward(std::int64_t steps) = 0;

 protected:
  ~ResidualSweep() = default;
};

class Undoing {
 public:
  Undoing(Peers& peers, Asked& asked, Play& play, Warnings& warnings, ResidualSweep& below)
      : peers_(peers), asked_(asked), play_(play), warnings_(warnings), below_(below) {}

  /// Of the sweeps to come: the caller runs steps again where it would undo them.
  void undo_by_steps(bool by_steps) { by_steps_ = by_steps; }

  /// Options and fields become those of the sweep that is played. Throws ERR_ARGUMENT and
  /// ERR_UNSUPPORTED where they do not suit; may lack the memory.
  void arrange();
  /// The steps of the sweep that is played, of one with these options.
  std::int64_t steps_below(const Options& options, std::int64_t steps);
  /// The sweep has begun, or goes on. Collective.
  void begin();
  bool on() const { return on_; }

  /// As Run::next and Run::finish_forward: the caller's actions.
  void next(anadrome_action& action);
  void finish_forward(std::int64_t steps);

 private:
  enum class Stage {
    kStart,      ///< x_0 is there
    kGoesOn,     ///< what was committed is there
    kStep,       ///< a step, or a block of them, for the first time
    kRepeated,   ///< the same again, to be compared
    kUndone,     ///< it is undone, in the forward sweep
    kUndoneTwo,  ///< the same again, to be compared
    kTurn,
    kBack,  ///< a step is undone in the reverse sweep
    kAdjoint,
    kTrialBack,  ///< the trial's step is undone, run, and adjoined
    kTrialStep,
    kTrialAdjoint
  };
  /// The bytes after a residual.
  struct Ending {
    std::uint64_t state;      ///< checksum of x_k
    std::int64_t iterations;  ///< steps that undid the step; 0: the caller did
  };

  void take_memory(std::int64_t blocks, std::int64_t state, std::int64_t residual);
  void took(const anadrome_action& action);
  void play();
  void step(std::int64_t step);
  void step_in_block(std::int64_t first);
  void advance_below(const anadrome_action& action);
  void adjoint_below(const anadrome_action& action);
  void begin_undo(Stage stage);
  bool undo_goes_on();
  void took_step();
  void took_block();
  void note_magnitudes();
  void undone();
  void take_residual();
  void back_at_state();
  void begin_trial();
  void adjoin_trial();
  void adjoined();
  void state_errors();
  void require_right_state();
  void measure_drift();
  void hand_out(anadrome_action_kind kind, std::int64_t step, bool again, Stage stage);
  void complain(const char* what);
  [[noreturn]] void throw_no_residual(const anadrome_action& action) const;
  bool is_compared() const { return k_ < compared_steps_; }
  bool drifts() const { return block_ > 1; }

  void copy_out(std::span<std::byte> to);
  void copy_in(std::span<const std::byte> from);
  std::span<std::byte> state_part() { return residual_.first(before_.size()); }
  Ending ending() const;
  static std::uint64_t sum_of(std::span<const std::byte> state);
  std::uint64_t sum_of_adjoint() const;

  Peers& peers_;
  Asked& asked_;
  Play& play_;
  Warnings& warnings_;
  ResidualSweep& below_;

  bool by_steps_ = false, on_ = false;
  std::vector<store::Field> fields_;  ///< the caller's state
  Residual coding_;
  store::Pool states_;                  ///< of which the spans below are
  std::unique_ptr<device::Pins> pins_;  ///< of the same, if fields are on a device
  std::span<std::byte> before_;         ///< x_k; in reverse the newest state that is right
  std::span<std::byte> after_;          ///< x_{k+1}; in reverse the undone state
  std::uint64_t adjoint_sum_ = 0;       ///< before a step is undone that is compared
  std::vector<store::Field> sums_;      ///< adjoint fields, which undoing a step leaves as they are
  UndoBySteps fixed_point_;
  DriftTrial trial_;
  bool tries_ = false;  ///< option probe
  std::span<std::byte> residual_;
  std::vector<double> largest_;  ///< magnitude, of each field so far
  Audit audit_ = Audit::kError;
  std::int64_t compared_steps_ = 0;

  Stage stage_ = Stage::kStart;
  anadrome_action in_hand_{};
  std::int64_t steps_ = 0;       ///< n, or kUnknown
  std::int64_t block_ = 1;       ///< steps from one kept state to the next
  std::int64_t bottom_ = 0;      ///< of the block that is gone back through
  double handed_out_ = 0;        ///< when
  double below_seconds_ = 0;     ///< of the call that is under way, in the sweep below
  std::int64_t k_ = 0;           ///< the step that the caller takes, undoes or adjoins
  std::int64_t ended_at_ = -1;   ///< finish_forward said so
  std::uint64_t first_sum_ = 0;  ///< of what a step was undone to
};

}  // namespace anadrome::engine
