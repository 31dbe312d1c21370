// SPDX-License-Identifier: BSD-2-Clause
// The error that lossy compression causes in the gradient, stated from within a sweep.
//
// Every interval is reversed twice: at first from an anchor whose error is about four times what
// the codec has made it (a trial), with adjoint fields of its own, and then as it would be anyway.
// So at the end there are two gradients. Errors of two roundings that know nothing of each other
// add up by their squares, and the gradient depends linearly on errors that are small: the
// difference of the two, over sqrt(4^2 - 1), is as large as the error of the one that the caller
// gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/keep/keeper.h"
#include "engine/sweep/context.h"
#include "schedule/words/sweep.h"

namespace anadrome::engine {

/// ||some - others|| / ||others|| in the 2-norm, of the field of real numbers where that is the
/// largest; infinite where it is no number. Collective.
double relative_difference(std::span<const store::Field> fields, const std::byte* some,
                           const std::byte* others, Ranks& ranks);

class Probe {
 public:
  Probe(Peers& peers, const Asked& asked, Play& play, Warnings& warnings, Keeper& keeper)
      : peers_(peers), asked_(asked), play_(play), warnings_(warnings), keeper_(keeper) {}

  /// Bytes that the copies of the adjoint fields take.
  static std::int64_t memory_bytes(const Options& options, const Fields& fields);

  /// Before a sweep's first action: takes the memory.
  void begin();
  /// The reverse sweep begins.
  void turn();
  /// Before a restore. An interval begins?
  void before_restore(const schedule::Restore& kept);
  /// The sweep's next action. True: a trial has ended, and the interval begins again instead.
  /// Collective then.
  bool begins_again(const schedule::Action& next);
  /// The sweep is done: what is known of the gradient's error. Collective.
  void finish();
  /// Of the next sweep, for it to keep to the option gradient_error; otherwise `asked`.
  double next_tolerance(double asked) const;

 private:
  enum class Stage { kOff, kBetween, kTrial, kAgain };
  void set(Stage stage) {
    stage_ = stage;
    play_.sweep.checks.on_trial = stage == Stage::kTrial;
  }
  bool ends(const schedule::Action& next) const;
  void give_up();
  void copy_out(std::vector<std::byte>& to);
  void copy_in(const std::vector<std::byte>& from);

  Peers& peers_;
  const Asked& asked_;
  Play& play_;
  Warnings& warnings_;
  Keeper& keeper_;
  std::vector<store::Field> fields_;         ///< the adjoint ones
  std::vector<std::byte> trial_, caller_s_;  ///< their values in trials, and otherwise
  Stage stage_ = Stage::kOff;
  bool has_trial_ = false;      ///< there was one
  schedule::Restore anchor_{};  ///< where the interval under way begins
};

}  // namespace anadrome::engine
