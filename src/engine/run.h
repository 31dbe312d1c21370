// SPDX-License-Identifier: BSD-2-Clause
// One run: its phases, and the loop that turns a schedule's actions into what its parts do and what
// the caller does.
//
// Every decision that changes what the caller does next is made from data all ranks share. A
// failure that a rank meets alone (of a transfer, anadrome_fail) is held and comes out at the next
// agreement, on all.
#pragma once

#include <anadrome/anadrome.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/asked/refusals.h"
#include "engine/beginning.h"
#include "engine/caller.h"
#include "engine/passes.h"
#include "engine/plan/decisions.h"
#include "engine/ranks/meeting.h"
#include "engine/undo/undoing.h"
#include "engine/verify/probe.h"

namespace anadrome::engine {

class Run final : private Meeting, private ResidualSweep {
 public:
  explicit Run(MPI_Comm comm);
  ~Run() override;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void set(const char* key, const char* value);
  /// Options of the environment; what anadrome_set says comes before them. Judged at begin.
  void set_environment(const char* text) noexcept;
  /// Returns the field's number.
  int add_field(store::Field field);
  /// Of fields in the memory of a device: see anadrome/device.h.
  void set_device(const anadrome_device_operations* operations);
  int add_device_field(store::Field field, void* stream);
  void set_shape(const std::string& field, std::vector<std::int64_t> sizes);
  void set_tolerance(const std::string& field, double absolute);
  /// Calls before begin that failed; begin reports the first.
  Refusals& refusals() { return refusals_; }
  const Fields& fields() const { return context_.asked.fields; }
  /// `failure`: what this rank found wrong before; every rank gets it.
  void begin(std::int64_t steps, const Failure& failure = {});
  void next(anadrome_action& action);
  void finish_forward(std::int64_t steps);
  /// Of the sweeps to come, by schedule=undo: see Undoing.
  void undo_by_steps(bool by_steps) { undoing_.undo_by_steps(by_steps); }
  void rewind() {
    require_states("rewind");
    storage_.note(Doing::kRewind);
    passes_.rewind();
  }
  /// `failure`: what this rank found wrong before; every rank gets it.
  void pass(anadrome_direction direction, const Failure& failure = {}) {
    require_states("pass");
    storage_.note(Doing::kPass);
    passes_.begin(direction, failure);
  }
  void fail(std::string_view why);
  /// Collective: ends the sweep on every rank if one of them holds a failure.
  void agree_on_callbacks();
  void request_stop() noexcept { stop_.store(true); }
  anadrome_stats statistics() const { return report_.statistics(); }
  /// Where the sweep that begin has begun goes on: phase IDLE means at x_0. To have asked is to
  /// know.
  const SweepState::Resumed& resumed() const {
    context_.play.sweep.resumed.asked = true;
    return context_.play.sweep.resumed;
  }
  /// Collective; the run is of no use afterwards, whatever is thrown.
  void close();

  /// For callbacks that are called outside of a sweep: fail holds its failure until agree_on_check,
  /// and exchanged fields are where `lent` says, by the fields' numbers. NULL ends it.
  struct Lent {
    const void* now = nullptr;
    void* then = nullptr;
  };
  void rehearse(const std::vector<Lent>* lent) { lent_ = lent; }
  /// What this rank meets in between.
  Held& held() { return context_.peers.held; }
  /// Collective: throws on every rank what one holds, a stop, or that `equal` differs.
  void agree_on_check(std::int64_t equal = 0, const char* equal_name = "");
  Ranks& ranks() { return context_.peers.agreement.ranks(); }
  bool resumes() const { return requested_.resume; }
  bool under_way() const { return context_.play.sweep.under_way(); }

  /// Where an exchanged field lies, by its number; NULL if there is none.
  const void* now(int field) const;
  void* then(int field) const;

 private:
  Agreement::Output agree(Call call, std::int64_t equal, const char* equal_name,
                          const Failure& lost) override;
  using Meeting::agree;
  void commit_if_due(Call call, const Agreement::Output& agreed) override {
    resumption_.commit_if_due(call, agreed);
  }
  void require_states(const char* call) const;
  const anadrome_action& play() override;
  void end_forward(std::int64_t steps) override;
  void abandon();
  void end_sweep();  ///< on every rank
  bool carry_out(const schedule::Action& action);
  void turn();
  void done();

  Context context_;
  Options requested_;  ///< by anadrome_set and the environment; in force from the next begin on
  Failure bad_environment_;
  Refusals refusals_;
  std::atomic<bool> stop_{false};
  const std::vector<Lent>* lent_ = nullptr;
  Storage storage_;
  Planning planning_;
  Keeper keeper_;
  Decisions decisions_;
  Choice choice_;
  Resumption resumption_;
  Report report_;
  Undoing undoing_;
  Beginning beginning_;
  Passes passes_;
  Caller caller_;
  std::optional<schedule::Turn> turn_waits_;  ///< for steps that are compared
  Probe probe_;
};

}  // namespace anadrome::engine
