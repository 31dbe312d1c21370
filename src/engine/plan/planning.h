// SPDX-License-Identifier: BSD-2-Clause
// From options, fields, times and memory to a SweepPlan: what memory is cut into, and what is
// played in it. All ranks come to the same plan, from what they agreed on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/disk/storage.h"
#include "engine/sweep/context.h"
#include "schedule/problem.h"

namespace anadrome::engine {

class Planning {
 public:
  Planning(Peers& peers, const Asked& asked, Measurements& measured, Storage& storage)
      : agreement_(peers.agreement),
        held_(peers.held),
        options_(asked.options),
        fields_(asked.fields),
        measured_(measured),
        storage_(storage) {}

  /// Can the plan's schedule do what is asked? Throws ERR_UNSUPPORTED if not, the same on all
  /// ranks.
  void require_fit(const SweepPlan& plan) const;

  /// Blocks, slots and tapes within the budget. `shape`: of the blocks of a run that goes
  /// on. Collective; throws ERR_MEMORY with the least that is enough.
  void plan_memory(SweepPlan& plan, const store::BlockShape* shape);
  /// The same for a plan that is only asked about: no blocks, if memory does not suffice.
  /// Collective.
  void plan_blocks(SweepPlan& plan, const store::BlockShape* shape = nullptr);

  /// A sweep as it was, with something changed.
  struct Supposed {
    double memory = 1, disk_rate = 1, disk_room = 1;  ///< factors
    bool overlaps = false;                            ///< transfers do, whatever the transport
    std::int64_t steps = 0;                           ///< n, by now
    std::int64_t anchors_that_fit = -1;               ///< then the disk is full; -1: it never is
    double forward = 0, adjoint = 0;                  ///< seconds of a step, the mean of the sweep
  };
  /// Seconds of steps and of waiting in such a sweep with `plan`; 0 if nobody can tell.
  /// Collective.
  double forecast(const SweepPlan& plan, const Supposed& supposed);

  /// States that fit into all of the memory for slots, if none goes to disk. Collective.
  std::int64_t slots_without_disk(const SweepPlan& plan);
  /// States in all of the memory that the plan's sweep would have with another schedule.
  /// Collective.
  std::int64_t slots_with(const SweepPlan& plan, const schedule::Entry& entry);
  /// Small states share blocks of whole pages, and some of them are staged. Where the disk turns
  /// out to be of no use, all steps are reversed from what is left: are these more than with all of
  /// the memory? Of many slots, and where n is not known, a few less are worth the disk. Where it
  /// leaves none, it always does. Collective.
  bool disk_leaves_too_few(const SweepPlan& plan);

  /// Bytes of the adjoint fields' copy while they are being written.
  std::int64_t commit_bytes() const;
  /// Of all that the library has beside the pool, for commits and other copies.
  std::int64_t bytes_beside() const;

  /// The problem of which the schedule's row makes the sweep.
  schedule::Problem problem(SweepPlan& plan) const;
  /// Makes the sweep that is played. `disk_is_full`: the disk takes no anchor but the first.
  void make_sweep(SweepPlan& plan, bool disk_is_full);

  /// Steps from one anchor that a pass forward reads to the next, from this rank's times; all take
  /// the smallest.
  std::int64_t stride_forward(const SweepPlan& plan) const;

  // From the times of the last agreement, while the sweep is under way.
  schedule::SharedMemory shared_memory(const SweepPlan& plan) const;
  /// That will follow the sweep.
  double passes() const { return static_cast<double>(options_.passes); }
  schedule::StepCosts costs(const SweepPlan& plan) const {
    return measured_.costs(plan.memory.largest_state_bytes);
  }

 private:
  /// States in all of the memory; 0 where there is room for none.
  std::int64_t slots_in_all(const SweepPlan& plan) const;
  /// For the same steps and fields, of which nothing is decided yet.
  static SweepPlan another(const SweepPlan& plan, const schedule::Entry& entry);
  double forecast_supposed(SweepPlan& plan, const Supposed& supposed) const;
  double forecast_on_full_disk(SweepPlan& plan, const Supposed& supposed);
  void agree_on_begin() { agreement_.agree({.call = Call::kBegin, .failure = held_.failure()}); }
  schedule::Sizing sizing(const SweepPlan& plan) const;
  void plan_tapes(SweepPlan& plan);
  std::optional<store::Encoding> encoding() const;
  bool may_halve_slots(const SweepPlan& plan) const;
  void cut_into_blocks(SweepPlan& plan, std::int64_t beside, std::int64_t states,
                       const store::BlockShape* shape);
  [[noreturn]] void throw_no_block(const SweepPlan& plan, const store::BlockShape* shape);
  Agreement& agreement_;
  Held& held_;
  const Options& options_;
  const Fields& fields_;
  Measurements& measured_;
  Storage& storage_;
};

}  // namespace anadrome::engine
