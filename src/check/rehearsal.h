// SPDX-License-Identifier: BSD-2-Clause
// The model's callbacks called outside of a sweep, for a check of the gradient: forward steps
// without a schedule, single steps, single adjoint steps.
//
// It keeps what the fields held when it was made, lends exchanged fields two arrays of its own, and
// has the run hold what callbacks fail with until the next agreement.
#pragma once

#include <anadrome/anadrome.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/callback.h"
#include "engine/run.h"

namespace anadrome::engine {

/// The values of some fields at one moment.
class FieldValues {
 public:
  explicit FieldValues(std::vector<store::Field> fields);
  void keep();
  void restore() const;

 private:
  std::vector<store::Field> fields_;
  std::vector<std::byte> piece_;
};

class Rehearsal {
 public:
  /// May lack the memory. The run and the model outlive it.
  Rehearsal(Run& run, const anadrome_model& model);
  ~Rehearsal() { pause(); }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  /// Between these the run may do a sweep of its own.
  void pause() { run_.rehearse(nullptr); }
  void go_on();

  /// What all fields hold now. Every rank calls it, since pack callbacks may communicate.
  void keep_entry();
  /// ... held then.
  void restore_entry();
  void restore_entry_of_adjoint();
  /// The state at TURN of the run's own sweep. Not of exchanged fields: restore_turn then says no.
  void keep_turn();
  bool restore_turn();
  /// x_0, or nothing to do where the model has no callback for it.
  void start();
  void advance(std::int64_t first, std::int64_t last);
  void record(std::int64_t step);
  void turn(std::int64_t steps);
  void adjoint(std::int64_t step);
  /// Holds the failure of another callback.
  template <class... Call>
  void note(const char* callback, Call... call) {
    attempt([&] {
      const Failure failed =
          failure_of_callback({"check_gradient: the callback ", callback}, call...);
      if (failed) throw Error(failed.status, failed.message);
    });
  }
  /// Holds what `body` throws.
  template <class Body>
  void attempt(Body&& body) {
    run_.held().attempt(body);
  }
  /// Collective: throws on every rank what one of them holds.
  void agree() { run_.agree_on_check(); }

  bool has_tape() const { return !tape_.empty(); }
  /// Fields as arrays that stay where they are: an exchanged one's is x_k.
  const std::vector<store::Field>& state() const { return state_; }
  const std::vector<store::Field>& adjoint_fields() const { return adjoint_; }
  const std::vector<store::Field>& tape() const { return tape_; }
  Ranks& ranks() { return run_.ranks(); }

 private:
  void write_then(bool on);

  Run& run_;
  anadrome_model model_;
  std::vector<store::Field> state_, adjoint_, tape_;
  std::vector<std::vector<std::byte>> now_, then_;  ///< of exchanged fields
  std::vector<std::size_t> exchanged_;              ///< their numbers
  std::vector<Run::Lent> lent_;
  FieldValues entry_state_, entry_adjoint_, turn_state_;
};

}  // namespace anadrome::engine
