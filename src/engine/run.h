// One run: turns the schedule's actions into copies, transfers and agreements, and hands the rest
// to the caller.
//
// Every decision that changes what the caller does next is made from data all ranks share. What a
// rank meets alone (a failed transfer, anadrome_fail) is held and comes out at the next agreement,
// on all.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "engine/agreement.h"
#include "engine/committer.h"
#include "engine/disk_space.h"
#include "engine/memory_plan.h"
#include "engine/options.h"
#include "engine/progress.h"
#include "engine/recorder.h"
#include "engine/step_table.h"
#include "engine/why.h"
#include "schedule/double_sweep.h"
#include "schedule/interval.h"
#include "schedule/offload_chain.h"
#include "schedule/overlapped.h"
#include "schedule/script.h"
#include "schedule/uneven.h"
#include "store/anchor_tier.h"
#include "store/live_state.h"
#include "store/live_tape.h"
#include "store/meter.h"
#include "store/ram_slots.h"
#include "store/ram_stack.h"

namespace anadrome::engine {

class Run {
 public:
  explicit Run(MPI_Comm comm);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void set(const char* key, const char* value);
  /// Options of the environment; what anadrome_set says comes before them. Judged at begin.
  void set_environment(const char* text) noexcept;
  void set_step_costs(std::span<const double> seconds, std::span<const std::int64_t> bytes);
  /// Where the sweep that begin has begun goes on; IDLE: at x_0.
  anadrome_phase resumed_phase() const { return resumed_phase_; }
  std::int64_t resumed_step() const { return resumed_step_; }
  /// Returns the field's number.
  int add_field(store::Field field);
  /// `failure`: what this rank found wrong before; every rank gets it.
  void begin(std::int64_t steps, const Failure& failure = {});
  void begin_branches(std::span<const std::int64_t> steps, const Failure& failure);
  void show_end(std::int64_t branch);
  void next(anadrome_action& action);
  void finish_forward(std::int64_t steps);
  void rewind();
  void fail(const std::string& why);
  void request_stop() noexcept { stop_.store(true); }
  anadrome_stats statistics() const;
  /// Collective; the run is of no use afterwards, whatever is thrown.
  void close();

  bool has_tape() const;
  bool has_exchanged() const;
  /// Of an exchanged field, by its number; NULL if there is none.
  const void* now(int field) const;
  void* then(int field) const;

 private:
  bool under_way() const {
    return phase_ == ANADROME_PHASE_FORWARD || phase_ == ANADROME_PHASE_REVERSE;
  }
  bool uses_disk() const { return tier_ != nullptr; }

  std::vector<store::Field> fields_of(anadrome_role role) const;

  // begin
  void begin_sweep(std::int64_t steps, const Failure& failure);
  bool has_branches() const { return !join_.steps.empty(); }
  const schedule::JoinSweepOptions& join_options();
  std::int64_t join_bytes(std::int64_t slots);
  void require_join_slots(std::int64_t steps);
  Failure fault_of_begin(std::int64_t steps) const;
  void set_up(std::int64_t steps, const Failure& earlier);
  void agree_on_begin();
  void compare_ranks(std::int64_t steps);
  bool disk_changes();
  ScheduleName choose_schedule(std::int64_t steps);
  bool may_weigh(std::int64_t steps) const;
  bool weighed_with(std::int64_t steps, const schedule::StepCosts& costs) const;
  ScheduleName weigh_schedules(std::int64_t steps);
  double forecast(std::int64_t steps) const;
  void note_expectation();
  bool alone_in_block() const {
    return memory_plan_.layout.states() == 1 && memory_plan_.shape.paged;
  }
  void prepare_memory(std::int64_t steps);
  std::int64_t blocks_to_populate(std::int64_t steps) const;
  void give_up_directory();
  void prepare_directory();
  void prepare_disk(std::int64_t steps);
  DiskUse disk_use() const;
  void require_fit(std::int64_t steps) const;
  std::int64_t table_bytes(std::int64_t steps, std::int64_t memory) const;
  std::int64_t memory_beside_tables(std::int64_t bytes, std::int64_t steps) const;
  std::int64_t uneven_table_bytes(std::int64_t steps, std::int64_t memory) const;
  std::int64_t commit_bytes() const;
  bool states_vary() const;
  bool plans_by_step() const;
  bool measures_steps() const {
    return step_costs_.measuring() || state_bytes_.measuring() || adjoint_costs_.measuring();
  }
  void begin_step_tables(std::int64_t steps);
  std::vector<std::int64_t> rooms_of_states(std::int64_t alignment) const;
  schedule::UnevenSteps uneven_steps(std::int64_t bytes) const;
  bool plays_least_memory() const {
    return schedule_ == ScheduleName::kLeastMemory && !state_bytes_.measuring();
  }
  std::int64_t chain_steps(std::int64_t steps) const;
  std::int64_t least_memory_slots(std::int64_t steps) const;
  void plan_stack(std::int64_t steps);
  void plan_uneven_stack(std::vector<std::int64_t> rooms, std::int64_t memory);
  std::vector<std::int64_t> agree_on_rooms(std::int64_t alignment);
  void share_stack(std::int64_t table);
  void plan_places(std::int64_t steps);
  void count_places(std::vector<std::int64_t> rooms, std::int64_t memory);
  void plan_least_stack(std::vector<std::int64_t> rooms, std::int64_t chain);
  [[noreturn]] void throw_too_little(std::int64_t needed, const std::string& what) const;
  void measure_state(std::int64_t step);
  void keep_in_stack(const schedule::Action& action);
  std::int64_t stack_units(std::int64_t step);
  std::int64_t place_of(const schedule::Action& action) const;
  std::string describe_memory(std::int64_t peak) const;
  void plan_blocks(std::int64_t steps);
  void write_script(std::int64_t steps);
  schedule::NestedOptions two_tier_options(std::int64_t steps) const;
  std::unique_ptr<schedule::Planner> two_tier_planner(const schedule::NestedOptions& options) const;
  [[noreturn]] void throw_disk_too_small() const;
  std::int64_t most_double_anchors(std::int64_t steps) const;
  std::int64_t double_steps() const;
  schedule::DoubleMemory double_memory() const;
  std::int64_t double_lead() const;
  std::unique_ptr<schedule::Planner> double_planner(std::int64_t lead);
  std::int64_t least_double_interval(std::int64_t lead) const;
  void require_double_interval(std::int64_t lead) const;
  void write_double_script(schedule::NestedOptions options);
  void plan_tapes();
  std::int64_t slots_for_all_tapes(std::int64_t steps) const;
  schedule::SequenceOptions sequence_options(std::int64_t steps) const;
  std::int64_t segment_blocks(std::int64_t steps) const;
  std::int64_t blocks_on_disk() const;
  std::int64_t most_blocks() const;
  bool has_room_for_copy() const { return blocks_on_disk() > 1; }
  void make_first_files(std::int64_t blocks);
  void abandon();
  void reset_counters();

  // going on
  store::JournalHeader journal_header(std::int64_t steps) const;
  void look_for_recovery(std::int64_t steps);
  void open_disk();
  void begin_journal(std::int64_t steps);
  void resume_sweep();
  store::JournalCommit describe_commit();
  void commit_if_due(Call call, const Agreement::Output& agreed);
  void commit_between_anchors();

  // next
  void note_finished_action();
  void record_action(double now, std::int64_t last);
  void hold(const Failure& failure);
  Agreement::Output agree(Call call, std::int64_t equal = 0, const char* equal_name = "",
                          const Failure& lost = {});
  bool carry_out(const schedule::Action& action);
  template <class Body>
  void attempt(Body&& body);
  template <class Body>
  void copy(std::int64_t& count, Body&& body);
  void keep_anchor(const schedule::Action& action);
  void write_due_block();
  void write_newest_block(Call call);
  void restore_anchor(const schedule::Action& action);
  bool load_anchor(Call call, std::int64_t number);
  std::int64_t first_of_block(std::int64_t number) const;
  bool writes_all_anchors() const { return options_.keep || options_.resume; }
  void stop_anchoring(const Failure& why);
  void warn(std::initializer_list<std::string_view> what);
  void decide();
  bool waits_for_first_write() const;
  schedule::AsyncPlan plan_intervals() const;
  void use_interval(const schedule::AsyncPlan& plan);
  void decide_greedily();
  void decide_two_tier();
  void decide_overlapped();
  bool searches_plans() const;
  bool plays_list() const {
    return schedule_ == ScheduleName::kOverlapped || schedule_ == ScheduleName::kOffload;
  }
  /// The newest plan of schedule=offload, and what it was made of.
  struct OffloadPlanned {
    std::vector<double> forward, adjoint;  ///< seconds, as they were measured or given
    std::vector<std::int64_t> units;
    std::int64_t memory = 0;
    bool tape = false;
    schedule::OverlapTimes times;
    schedule::OverlappedPlan plan;
  };
  bool plan_offload();
  bool still_holds(const OffloadPlanned& planned, std::int64_t memory) const;
  std::int64_t most_offload_ops() const;
  schedule::OffloadChain offload_chain() const;
  void agree_on_plan(const Failure& failure);
  void rewind_overlapped();
  schedule::OverlapTimes overlap_times() const;
  std::string outdated_plan() const;
  schedule::OverlappedOptions overlapped_options(std::int64_t steps) const;
  void write_anchor(const schedule::Action& action);
  void read_anchor(const schedule::Action& action);
  schedule::StepCosts agreed_costs() const;
  schedule::SharedMemory shared_memory() const;
  SweepCosts sweep_costs() const;
  std::int64_t advances_to_come() const;
  void predict();
  schedule::Sequence& sequence() { return *script_->sequence(); }
  const schedule::JoinSweep* join() const {
    return script_.has_value() ? script_->join() : nullptr;
  }
  const schedule::Sequence* sequence_if_any() const {
    return script_.has_value() ? script_->sequence() : nullptr;
  }
  void turn();
  void done();
  bool hand_out(anadrome_action_kind kind, const schedule::Action& action);
  bool hand_out_advance(const schedule::Action& action);
  std::int64_t audited_step() const;
  void note_audit(std::int64_t step);
  void check_audit(std::int64_t step);
  std::size_t state_field(int field) const;
  void show_progress();
  void report();
  void write_trace();
  Watch* watch() const { return disk_ != nullptr ? disk_->watch() : nullptr; }
  void note(Doing doing) {
    if (Watch* const watching = watch()) watching->note(doing);
  }
  bool grow_disk(Call call, std::int64_t blocks);

  Agreement agreement_;
  Options requested_;  ///< what anadrome_set and the environment say; holds from the next begin on
  Options options_;  ///< in force: compared between ranks at begin, and not changed until the next
  Failure bad_environment_;
  std::vector<store::Field> fields_;
  std::vector<store::Field> state_fields_, tape_fields_;
  std::atomic<bool> stop_{false};
  Failure held_;

  // What a sweep is made of; built by begin, reused by the next one where nothing changed.
  Options built_options_;
  ScheduleName schedule_ = ScheduleName::kAuto;
  std::string chosen_;  ///< why, if the option says auto
  /// Without steps: there is one branch.
  schedule::JoinSweepOptions join_;
  struct JoinPlanned {
    schedule::JoinSweepOptions options;
    schedule::JoinPlan plan;
  };
  std::optional<JoinPlanned> join_planned_;  ///< for the next sweep of the same branches
  bool disk_changes_ = true;                 ///< files are made anew; agreed
  // schedule=auto: of async, overlapped and one with two tiers, for sweeps of so many steps.
  static constexpr std::size_t kWeighed = 3;
  std::int64_t weighed_steps_ = -1;
  schedule::StepCosts weighed_costs_;
  std::array<double, kWeighed> weighed_seconds_ = {};
  std::array<double, kWeighed> taken_over_expected_ = {};
  std::size_t weighed_ = 0;      ///< the one that was taken
  double expected_seconds_ = 0;  ///< of it; 0: nothing was weighed
  MemoryPlan memory_plan_;
  /// Of a kept tape; 0: no rank has one, or not every rank could keep it.
  std::int64_t tape_slots_ = 0;
  std::int64_t tape_buffer_bytes_ = 0;
  bool keeps_tapes_ = false;  ///< this sweep does
  store::Pool pool_;
  std::unique_ptr<store::LiveState> live_;
  std::unique_ptr<DiskSpace> disk_;
  std::unique_ptr<store::Transport> transport_;
  std::unique_ptr<store::AnchorTier> tier_;
  std::unique_ptr<Committer> committer_;  ///< uses transport_ and disk_
  std::optional<Recovery> recovery_;      ///< while a run that died is being taken over
  std::unique_ptr<store::RamSlots> slots_;
  /// Of states that differ in size, whose sizes are known; in place of slots_ and blocks.
  struct StackPlan {
    std::int64_t units = 0, unit_bytes = 1;
    std::int64_t smallest = 0, largest = 0;      ///< of any state
    std::unique_ptr<schedule::Planner> planner;  ///< until the script has it
    std::vector<std::int64_t> state_units;       ///< of schedule=offload
    std::int64_t bytes() const { return units * unit_bytes; }
  };
  std::optional<StackPlan> stack_plan_;
  std::unique_ptr<store::RamStack> stack_;
  std::unique_ptr<store::LiveTape> live_tape_;
  std::optional<schedule::Script> script_;
  schedule::NestedOptions nested_options_;  ///< of a schedule that replaces states on disk
  std::int64_t double_interval_ = 0;        ///< of schedule=double; 0: not known yet
  bool fields_changed_ = true;
  std::size_t fields_at_begin_ = 0;
  std::int64_t sweep_ = 0;
  std::string run_id_;
  std::uint64_t run_id_low_ = 0, run_id_high_ = 0;  ///< in checksums: of the run that began
  anadrome_phase resumed_phase_ = ANADROME_PHASE_IDLE;
  std::int64_t resumed_step_ = 0;
  std::int64_t state_bytes_all_ranks_ = 0;

  // Where the sweep is.
  anadrome_phase phase_ = ANADROME_PHASE_IDLE;
  anadrome_action last_{};
  schedule::Action rest_;          ///< of an advance that is handed out one step at a time; or 0
  bool then_is_written_ = false;   ///< by what the caller does now
  std::int64_t finished_at_ = -1;  ///< the advance under way ended the sweep after so many steps
  bool write_due_ = false;
  bool no_more_anchors_ = false;  ///< the disk takes none; agreed, as why
  Failure disk_refused_;
  bool warned_ = false;
  /// Hashes of states that will be computed again, by step; and what differed.
  std::map<std::int64_t, std::uint64_t> audits_;
  Failure audit_failure_;
  Failure lost_;                ///< by the last load_anchor; agreed
  std::int64_t committed_ = 0;  ///< generation; agreed
  /// By a commit nobody could tell in which of its reverse sweeps the program was: none is made.
  bool rewound_ = false;
  std::int64_t advances_agreed_at_ = 0, adjoints_agreed_at_ = 0;  ///< counts at the last agreement
  std::int64_t anchors_lost_ = 0;                                 ///< agreed
  std::int64_t agreed_block_ = -1;
  std::int64_t newest_anchor_ = 0;
  std::int64_t anchors_put_ = 0;  ///< where they are replaced: each time
  std::int64_t probes_ = 0;
  std::int64_t probe_steps_ = 1;
  std::int64_t decided_at_ = -1;  ///< agreement whose times decided on the interval
  bool write_times_known_ = false;
  bool nobody_writes_ = false;    ///< no rank did, at the last agreement
  bool measured_before_ = false;  ///< agreed_ holds times of an earlier sweep, on the same disk
  std::array<double, 6> agreed_ = {};  ///< f, b, w, r, and what w and r take of the caller
  bool cores_are_busy_ = false;        ///< no core is left for the I/O threads of a node
  store::Meter forward_, adjoint_, copy_;
  store::Sampler forward_sampler_, adjoint_sampler_, copy_sampler_;
  bool timed_ = false;                    ///< the action under way is
  StepTable step_costs_;                  ///< seconds
  StepTable state_bytes_;                 ///< on this rank, as the caller counts them
  StepTable adjoint_costs_;               ///< seconds
  schedule::OverlapTimes planned_times_;  ///< of schedule=overlapped
  std::optional<OffloadPlanned> offload_planned_;
  store::TransferTimes transfer_times_;
  Recorder recorder_;
  Progress progress_;

  // The end as predicted early on.
  std::int64_t predict_at_ = 0;  ///< after so many steps; 0: not any more
  double predicted_seconds_ = 0;
  std::int64_t predicted_at_ = 0;
  bool adjoint_guessed_ = false;

  // Counted for statistics.
  std::int64_t advances_ = 0, adjoints_ = 0, kept_ = 0, restored_ = 0;
  double begin_time_ = 0, turn_time_ = 0, done_time_ = 0, handed_out_ = 0;
  double seconds_copying_ = 0, seconds_agreeing_before_ = 0;
  std::int64_t agreements_before_ = 0;
  store::TransferTotals totals_before_;
};

// What one rank meets alone (a failing pack callback, no memory for a table) is its own affair
// until the next agreement: leaving here would leave the other ranks waiting.
template <class Body>
void Run::attempt(Body&& body) {
  try {
    body();
  } catch (...) {
    hold(current_failure());
  }
}

template <class Body>
void Run::copy(std::int64_t& count, Body&& body) {
  ++count;
  const bool timed = copy_sampler_.due(recorder_.on() ? 0 : copy_.seconds());
  double start = timed ? now_seconds() : 0;
  attempt(body);
  if (!timed) return;
  const double end = now_seconds();
  start = recorder_.after_waits(start);  // for a block to copy to
  recorder_.add(Activity::kCopy, start, end, 0, 0);
  const double seconds = std::max(end - start - clock_seconds(), 0.0);
  copy_.add(seconds, 1);
  seconds_copying_ += copy_sampler_.weight() > 1
                          ? std::min(seconds, store::Sampler::kShort) * copy_sampler_.weight()
                          : seconds;
}

}  // namespace anadrome::engine
