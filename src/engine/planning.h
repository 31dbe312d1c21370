// From options, fields, times and memory to a SweepPlan: what memory is cut into, and what is
// played in it. All ranks come to the same plan, from what they agreed on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/agreement.h"
#include "engine/fields.h"
#include "engine/held.h"
#include "engine/measurements.h"
#include "engine/options.h"
#include "engine/storage.h"
#include "engine/sweep_plan.h"
#include "schedule/double_sweep.h"
#include "schedule/offload_chain.h"
#include "schedule/uneven.h"

namespace anadrome::engine {

class Planning {
 public:
  Planning(Agreement& agreement, Held& held, const Options& options, const Fields& fields,
           Measurements& measured, Storage& storage)
      : agreement_(agreement),
        held_(held),
        options_(options),
        fields_(fields),
        measured_(measured),
        storage_(storage) {}

  /// Can the plan's schedule do what is asked? Throws ERR_UNSUPPORTED if not, the same on all
  /// ranks.
  void require_fit(const SweepPlan& plan) const;

  /// Blocks, slots, tapes and tables within the budget. `shape`: of the blocks of a run that goes
  /// on. Collective; throws ERR_MEMORY with the least that is enough.
  void plan_memory(SweepPlan& plan, const store::BlockShape* shape);
  /// The same for a plan that is only weighed: no blocks, if memory does not suffice. Collective.
  void plan_blocks(SweepPlan& plan, const store::BlockShape* shape = nullptr);
  /// Seconds of a sweep with the plan's schedule in its memory, by the agreed times.
  double forecast(const SweepPlan& plan) const;

  /// Bytes of the adjoint fields' copy while they are being written.
  std::int64_t commit_bytes() const;

  /// What is played. `no_more_anchors`: the disk has no room for any but the first.
  void write_script(SweepPlan& plan, SweepState& sweep);
  /// The same plan for another reverse sweep, where the schedule is a list.
  void plan_list(SweepPlan& plan);
  /// What was made by a rank that may be the only one to have it is not used again.
  void forget_list() { offload_planned_.reset(); }

  // What the times of the last agreement ask for, while the sweep is under way.
  std::unique_ptr<schedule::Planner> late_planner(SweepPlan& plan, SweepState& sweep) const;
  schedule::SharedMemory shared_memory(const SweepPlan& plan) const;
  schedule::StepCosts costs(const SweepPlan& plan) const {
    return measured_.costs(plan.memory.largest_state_bytes);
  }
  schedule::OverlapTimes overlap_times(const SweepPlan& plan) const {
    return measured_.overlap_times(plan.memory.largest_state_bytes, plan.record);
  }

  /// States that the schedule holds at a time, whatever memory there is; 0: as many as fit.
  std::int64_t states_held(const SweepPlan& plan) const;

 private:
  void agree_on_begin() { agreement_.agree({.call = Call::kBegin, .failure = held_.failure()}); }
  // Tables.
  std::int64_t table_bytes(const SweepPlan& plan, std::int64_t memory) const;
  schedule::Sizing sizing(const SweepPlan& plan) const;
  std::int64_t memory_beside_tables(const SweepPlan& plan, std::int64_t bytes) const;
  // Tapes, branches.
  void plan_tapes(SweepPlan& plan);
  const schedule::JoinSweepOptions& join_options(SweepPlan& plan) const;
  std::int64_t join_bytes(SweepPlan& plan, std::int64_t slots) const;
  void plan_join_blocks(SweepPlan& plan);
  void require_join_slots(SweepPlan& plan);
  void cut_into_blocks(SweepPlan& plan, std::int64_t beside, std::int64_t states,
                       const store::BlockShape* shape);
  // States of several sizes.
  void begin_step_tables(SweepPlan& plan);
  std::vector<std::int64_t> rooms_of_states(std::int64_t alignment) const;
  std::vector<std::int64_t> agree_on_rooms(SweepPlan& plan, std::int64_t alignment);
  schedule::UnevenSteps uneven_steps(const SweepPlan& plan, std::int64_t bytes) const;
  void plan_stack(SweepPlan& plan);
  void plan_uneven_stack(SweepPlan& plan, std::vector<std::int64_t> rooms, std::int64_t memory);
  void plan_least_stack(SweepPlan& plan, std::vector<std::int64_t> rooms);
  void plan_places(SweepPlan& plan, const store::BlockShape* shape);
  void count_places(SweepPlan& plan, std::vector<std::int64_t> rooms, std::int64_t memory);
  void share_stack(SweepPlan& plan, std::int64_t table);
  [[noreturn]] void throw_too_little(const SweepPlan& plan, std::int64_t needed,
                                     const std::string& what) const;
  [[noreturn]] void throw_no_block(const SweepPlan& plan);
  // Scripts.
  schedule::SequenceOptions sequence_options(const SweepPlan& plan, bool no_more_anchors) const;
  schedule::NestedOptions two_tier_options(const SweepPlan& plan) const;
  std::unique_ptr<schedule::Planner> two_tier_planner(const SweepPlan& plan,
                                                      const schedule::NestedOptions& options) const;
  schedule::OverlappedOptions overlapped_options(const SweepPlan& plan) const;
  std::int64_t double_steps(const SweepPlan& plan) const;
  schedule::DoubleMemory double_memory(const SweepPlan& plan) const;
  std::int64_t double_lead(const SweepPlan& plan) const;
  std::unique_ptr<schedule::Planner> double_planner(const SweepPlan& plan, std::int64_t lead,
                                                    std::int64_t& interval) const;
  std::int64_t least_double_interval(const SweepPlan& plan, std::int64_t lead) const;
  void require_double_interval(const SweepPlan& plan, std::int64_t lead) const;
  void write_double_script(SweepPlan& plan, SweepState& sweep);
  /// The newest plan of schedule=offload, and what it was made of.
  struct OffloadPlanned {
    std::vector<double> forward, adjoint;  ///< seconds, as they were measured or given
    std::vector<std::int64_t> units;
    std::int64_t memory = 0;
    bool tape = false;
    schedule::OverlapTimes times;
    schedule::OverlappedPlan plan;
  };
  bool plan_offload(SweepPlan& plan);
  bool still_holds(const SweepPlan& plan, const OffloadPlanned& planned, std::int64_t memory) const;
  std::int64_t most_offload_ops(const SweepPlan& plan) const;
  schedule::OffloadChain offload_chain(const SweepPlan& plan) const;

  Agreement& agreement_;
  Held& held_;
  const Options& options_;
  const Fields& fields_;
  Measurements& measured_;
  Storage& storage_;
  struct JoinPlanned {
    schedule::JoinSweepOptions options;
    schedule::JoinPlan plan;
  };
  std::optional<JoinPlanned> join_planned_;  ///< for the next sweep of the same branches
  std::optional<OffloadPlanned> offload_planned_;
};

/// Do times that were measured still ask for the plan that was made for others?
bool times_hold(const schedule::OverlapTimes& planned, const schedule::OverlapTimes& measured);

}  // namespace anadrome::engine
