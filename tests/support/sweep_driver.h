// SPDX-License-Identifier: BSD-2-Clause
// A caller that follows the loop of actions and checks each one against the interface and
// against a reference of all states. What it finds wrong is a failure of the running test.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coupled_model.h"

namespace anadrome::test {

/// Is every state on disk compressed (ANADROME_TEST_COMPRESS)? Its buffers take memory, too.
bool compresses();

/// Keys and values.
using RunOptions = std::vector<std::pair<std::string, std::string>>;

/// A handle that is closed at the end of its scope, on all ranks alike.
class RunHandle {
 public:
  explicit RunHandle(MPI_Comm comm);
  /// With the fields of `model` and these options, and then those.
  RunHandle(CoupledModel& model, const RunOptions& options, const RunOptions& more = {});
  ~RunHandle() { close(); }
  RunHandle(const RunHandle&) = delete;
  RunHandle& operator=(const RunHandle&) = delete;
  /// Set an option; a refusal is a failure of the test.
  void set(const std::string& key, const std::string& value);
  anadrome_status close() { return anadrome_close(&run_); }
  operator anadrome_run*() const { return run_; }  // NOLINT(google-explicit-constructor)
  anadrome_stats statistics() const;

 private:
  anadrome_run* run_ = nullptr;
};

/// How a sweep went.
struct Outcome {
  anadrome_status status = ANADROME_OK;
  std::string message;
  std::int64_t advances = 0;
  bool done = false;
  /// Finished with every state right: what a sweep without faults must do.
  bool exact = true;
};

class SweepDriver {
 public:
  SweepDriver(anadrome_run* run, CoupledModel& model, const Reference& reference)
      : run_(run), model_(model), reference_(reference) {}

  /// begin, then every action to DONE or to an error. `unknown`: the library learns the number of
  /// steps from finish_forward.
  Outcome sweep(std::int64_t steps, bool unknown = false);
  /// The same, and it must come to DONE with exact states.
  Outcome exact_sweep(std::int64_t steps, bool unknown = false);
  /// begin, which goes on in the forward sweep that was left, then every action to DONE.
  Outcome go_on(std::int64_t steps);
  /// rewind, then every action to DONE.
  Outcome sweep_again();
  /// pass, then every action to DONE.
  Outcome pass(anadrome_direction direction);

  /// The run has swept so many steps without this driver.
  void adopt(std::int64_t steps) {
    steps_ = furthest_ = steps;
    adjoint_ = model_.adjoint();
  }

  /// begin, and then actions until `stop_at` says so of one that was handed out (and not done).
  Outcome begin_and_stop(std::int64_t steps, bool unknown,
                         const std::function<bool(const anadrome_action&)>& stop_at);

  /// Called with every action before it is done.
  std::function<void(const anadrome_action&)> before_action;

 private:
  Outcome begin(std::int64_t steps, bool unknown);
  Outcome once_more(const std::function<anadrome_status()>& begin_so);
  void loop(Outcome& outcome);
  void check_and_do(const anadrome_action& action, Outcome& outcome);
  void advance(const anadrome_action& action, Outcome& outcome);
  void expect(bool condition, const char* fact, const anadrome_action& action, Outcome& outcome);
  bool holds(std::int64_t step) const { return model_.state() == reference_.state(step); }

  anadrome_run* run_;
  CoupledModel& model_;
  const Reference& reference_;
  std::int64_t steps_ = 0;
  bool unknown_ = false;
  std::int64_t checked_ = -1;   ///< the step that was run last, again
  std::int64_t furthest_ = 0;   ///< steps that were run at least once
  std::int64_t to_adjoin_ = 0;  ///< steps whose adjoint is still to come
  std::int64_t to_visit_ = 0;   ///< of a pass forward
  bool in_pass_ = false, forward_ = false;
  bool first_ = true;  ///< the reverse sweep, after begin
  bool turned_ = false;
  std::int64_t recorded_ = -1;  ///< the step in the tape
  std::vector<double> adjoint_;
  std::function<bool(const anadrome_action&)> stop_at_;
};

/// Came to DONE with exact states, in as many steps as were planned, and within the memory.
void expect_exact(const RunHandle& run, const Outcome& outcome, std::int64_t advances);

/// Begins with `steps`, and goes on in the forward sweep that was left, with the state of the step
/// that it returns.
std::int64_t expect_to_go_on(anadrome_run* run, CoupledModel& model, const Reference& reference,
                             std::int64_t steps);

/// The same on all ranks of `comm`?
bool same_on_all(MPI_Comm comm, std::int64_t value);

/// The least `memory` for one state, as ERR_MEMORY names it. Collective.
std::int64_t least_memory(CoupledModel& model, const std::string& schedule);

}  // namespace anadrome::test
