// One run: its phases, and the loop that turns a schedule's actions into what its parts do and what
// the caller does.
//
// Every decision that changes what the caller does next is made from data all ranks share. What a
// rank meets alone (a failed transfer, anadrome_fail) is held and comes out at the next agreement,
// on all.
#pragma once

#include <anadrome/anadrome.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/audit.h"
#include "engine/choice.h"
#include "engine/decisions.h"
#include "engine/keeper.h"
#include "engine/meeting.h"
#include "engine/report.h"
#include "engine/resumption.h"

namespace anadrome::engine {

class Run final : private Meeting {
 public:
  explicit Run(MPI_Comm comm);
  ~Run() override;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void set(const char* key, const char* value);
  /// Options of the environment; what anadrome_set says comes before them. Judged at begin.
  void set_environment(const char* text) noexcept;
  void set_step_costs(std::span<const double> seconds, std::span<const std::int64_t> bytes);
  /// Returns the field's number.
  int add_field(store::Field field);
  const Fields& fields() const { return common_.fields; }
  /// `failure`: what this rank found wrong before; every rank gets it.
  void begin(std::int64_t steps, const Failure& failure = {});
  void begin_branches(std::span<const std::int64_t> steps, const Failure& failure);
  void show_end(std::int64_t branch);
  void next(anadrome_action& action);
  void finish_forward(std::int64_t steps);
  void rewind();
  void fail(const std::string& why);
  void request_stop() noexcept { stop_.store(true); }
  anadrome_stats statistics() const { return report_.statistics(); }
  /// Where the sweep that begin has begun goes on: phase IDLE means at x_0.
  const SweepState& sweep() const { return common_.sweep; }
  /// Collective; the run is of no use afterwards, whatever is thrown.
  void close();

  /// Of an exchanged field, by its number; NULL if there is none.
  const void* now(int field) const;
  void* then(int field) const;

 private:
  Agreement::Output agree(Call call, std::int64_t equal, const char* equal_name,
                          const Failure& lost) override;
  using Meeting::agree;
  void commit_if_due(Call call, const Agreement::Output& agreed) override {
    resumption_.commit_if_due(call, agreed);
  }
  void require_no_sweep(const char* call, const char* cure) const;

  // begin
  void begin_sweep(SweepPlan plan, const Failure& failure);
  void set_up(SweepPlan& plan, const Failure& earlier);
  Failure fault_of_begin(std::int64_t steps) const;
  void compare_ranks(const SweepPlan& plan);
  void agree_on_begin();
  void prepare_disk(bool disk_changes);
  void start_sweep();
  void abandon();

  // next
  void note_finished_action();
  void record_action(double now, std::int64_t last);
  bool carry_out(const schedule::Action& action);
  void hand_out(const anadrome_action& action);
  void hand_out(const schedule::Advance& advance);
  void hand_out(const schedule::Turn& turn);
  void make_room_for_step();
  void turn();
  void done();
  void note(Doing doing);

  /// What the parts of a run share.
  struct Common {
    explicit Common(MPI_Comm comm) : agreement(comm) {}
    Agreement agreement;
    Held held;
    Options options;  ///< in force: compared between ranks at begin, and not changed until the next
    Fields fields;
    Measurements measured;
    SweepState sweep;
    SweepPlan plan;
    Recorder recorder;
  };

  Common common_;
  Options requested_;  ///< by anadrome_set and the environment; in force from the next begin on
  Failure bad_environment_;
  std::atomic<bool> stop_{false};
  Warnings warnings_;
  Storage storage_;
  Planning planning_;
  Keeper keeper_;
  Decisions decisions_;
  Choice choice_;
  Resumption resumption_;
  Audits audits_;
  Report report_;
};

}  // namespace anadrome::engine
