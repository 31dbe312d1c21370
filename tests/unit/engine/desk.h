// SPDX-License-Identifier: BSD-2-Clause
// The parts of a run on one rank, without the run: what they agree on is remembered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/beginning.h"
#include "engine/plan/decisions.h"
#include "engine/report/report.h"
#include "temporary_directory.h"
#include "thread_ranks.h"

namespace anadrome::engine {

constexpr std::int64_t kMiB = std::int64_t{1} << 20, kState = std::int64_t{64} << 10;

struct RecordingMeeting final : Meeting {
  explicit RecordingMeeting(Context& made) : context(made) {}

  Agreement::Output agree(Call call, std::int64_t equal, const char* equal_name,
                          const Failure& lost) override {
    calls.push_back(call);
    Agreement::Input input = {.call = call,
                              .failure = context.peers.held.failure(),
                              .equal = equal,
                              .equal_name = equal_name};
    input.lost = lost;
    if (bring) bring(input);
    const Agreement::Output output = context.peers.agreement.agree(input);
    context.notes.measured.take(output);
    if (take) take(output);
    return output;
  }
  using Meeting::agree;
  void commit_if_due(Call call, const Agreement::Output&) override { commits.push_back(call); }

  Context& context;
  std::vector<Call> calls, commits;
  std::function<void(Agreement::Input&)> bring;
  std::function<void(const Agreement::Output&)> take;
};

// Says what a test wants of it.
struct ScriptedSweep final : schedule::Sweep {
  schedule::Action next() override { return schedule::Done{}; }
  schedule::Next decide(const schedule::Measured&) override { return schedule::Next::kGoOn; }
  schedule::Course course() const override { return facts; }
  std::int64_t advances_remaining() const override { return 100; }
  bool lose(std::int64_t number) override { return number > 0; }
  void disk_is_full(const schedule::DiskLeft& left) override { full.push_back(left); }
  void rewind(std::int64_t) override {}
  bool mark() override { return marks; }
  void begin_pass(const schedule::Pass& begun) override { pass = begun; }
  const schedule::AnchorList& anchors() const override { return list; }

  schedule::Course facts = {.steps = 100, .slots = 7, .adjoints_left = 100, .may_rewind = true};
  schedule::AnchorList list;
  bool marks = false;
  // The calls that the sweep had.
  std::vector<schedule::DiskLeft> full;
  schedule::Pass pass;
};

inline schedule::Kept anchor(std::int64_t number, std::int64_t step) {
  return {schedule::What::kState, schedule::kDiskTier, step, number, {}};
}

class Desk {
 public:
  Desk(Ranks& ranks, std::int64_t state_bytes, std::int64_t tape_bytes)
      : context(ranks),
        state(static_cast<std::size_t>(state_bytes)),
        tape(static_cast<std::size_t>(tape_bytes)) {
    options.directory = directory.path();
    add("u", ANADROME_ROLE_STATE, state);
    if (tape_bytes > 0) add("t", ANADROME_ROLE_TAPE, tape);
    fields.begin_sweep();
  }
  void add(const char* name, anadrome_role role, std::vector<unsigned char>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    fields.add({name, role, ANADROME_BYTE, count, false, values.data(), {}});
  }
  SweepPlan plan(const char* schedule, std::int64_t steps) {
    SweepPlan plan;
    plan.steps = steps;
    plan.schedule = schedule::find_schedule(schedule);
    plan.budget = options.memory;
    plan.record = fields.has(ANADROME_ROLE_TAPE);
    return plan;
  }
  SweepPlan planned(const char* schedule, std::int64_t steps) {
    SweepPlan made = plan(schedule, steps);
    planning.require_fit(made);
    planning.plan_memory(made, nullptr);
    planning.make_sweep(made, false);
    return made;
  }
  /// As a run does.
  void begin(const char* schedule, std::int64_t steps) {
    options.schedule = schedule::find_schedule(schedule);
    resumption.abandon();
    keeper.abandon();
    beginning.begin(steps, Options(options), {});
    meeting.calls.clear();
  }
  /// Begins one, and has another one played.
  ScriptedSweep& script(const char* schedule = "revolve", std::int64_t steps = 100) {
    begin(schedule, steps);
    context.play.plan.sweep = std::make_unique<ScriptedSweep>();
    return static_cast<ScriptedSweep&>(*context.play.plan.sweep);
  }
  /// x_number becomes the anchor of that number.
  void keep_anchor(std::int64_t number) {
    step_to(number);
    keeper.keep({anchor(number, number)});
    if (keeper.write_is_due()) keeper.write_due();
  }
  // All bytes of a state are the last one of its step.
  void step_to(std::int64_t step) { state.assign(state.size(), static_cast<unsigned char>(step)); }
  bool is_at(std::int64_t step) const {
    return std::count(state.begin(), state.end(), static_cast<unsigned char>(step)) ==
           static_cast<std::ptrdiff_t>(state.size());
  }

  store::TemporaryDirectory directory;
  Context context;
  Options& options = context.asked.options;
  Fields& fields = context.asked.fields;
  SweepState& sweep = context.play.sweep;
  const MemoryPlan& memory = context.play.plan.memory;
  std::vector<unsigned char> state, tape;
  RecordingMeeting meeting{context};
  Agreement& agreement = context.peers.agreement;
  Peers& peers = context.peers;
  Asked& asked = context.asked;
  Play& play = context.play;
  Notes& notes = context.notes;
  Storage storage{peers, asked, notes.measured, notes.warnings};
  Planning planning{peers, asked, notes.measured, storage};
  Keeper keeper{context, meeting, storage};
  Decisions decisions{peers, meeting, play, notes.measured, planning, keeper};
  Choice choice{peers, asked, planning};
  Resumption resumption{peers, meeting, asked, play, notes, planning, storage, keeper};
  Report report{agreement, options, play, notes, planning, storage, keeper};
  struct NoResiduals final : ResidualSweep {
    const anadrome_action& play() override { return none; }
    void end_forward(std::int64_t) override {}
    anadrome_action none{};
  } no_residuals;
  Undoing undoing{peers, asked, play, notes.warnings, no_residuals};
  Beginning beginning{context, storage, planning, keeper, choice, resumption, undoing};
};

struct OneRank {
  ThreadRanks all{1};
  ThreadRanks::Rank rank{all, 0};
};

struct LoneDesk : private OneRank, Desk {
  explicit LoneDesk(std::int64_t state_bytes = 64, std::int64_t tape_bytes = 0)
      : Desk(rank, state_bytes, tape_bytes) {}
};

}  // namespace anadrome::engine
