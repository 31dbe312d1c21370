// SPDX-License-Identifier: BSD-2-Clause
#include "engine/resume/resumption.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/index.h"
#include "engine/asked/encoding.h"
#include "engine/disk/journal_hosts.h"
#include "store/memory/field_table.h"

namespace anadrome::engine {
namespace {

// PETSc's plugin commits itself what TSAdjointSolve adds to; these are its words for a problem.
bool is_of_ts(const std::string& problem) { return problem == "TS" || problem.starts_with("TS: "); }

}  // namespace

store::JournalHeader Resumption::header() const {
  const RunWords& words = storage_.words();
  store::JournalHeader header;
  header.run_id_low = words.low;
  header.run_id_high = words.high;
  header.sweep = sweep_.number;
  header.ranks = agreement_.size();
  header.rank = agreement_.rank();
  header.steps = plan_.steps;
  header.shape = plan_.memory.shape;
  header.fields = store::field_table(fields_.in_sweep());
  header.options = std::string("layout=") + to_string(options_.layout) + "\n";
  header.options += encoding_lines(options_, fields_.state());
  const SweepState::Undone& undone = sweep_.undone;
  if (undone.by_steps) header.options += "undo=by steps\n";
  if (undone.per_state > 1)  // the number of states says neither
    header.options += "interval=" + std::to_string(undone.per_state) + " of " +
                      std::to_string(undone.steps) + " steps\n";
  if (options_.layout != Layout::kShared) header.options += hosts_line(agreement_);
  header.problem = options_.problem;
  return header;
}

void Resumption::look() {
  recovery_.reset();
  if (!options_.resume || storage_.stays()) return;
  std::string directory;
  store::JournalHeader wanted;
  held_.attempt([&] {
    directory = store::RunDirectory::path(options_.directory, options_.name);
    wanted = header();
  });
  agreement_.agree({.call = Call::kBegin, .failure = held_.failure()});
  const char* why_not = "";
  try {
    recovery_ = find_recovery(agreement_, directory, wanted, planning_.commit_bytes(), why_not);
  } catch (const Error& error) {
    const bool unread =
        error.status() == ANADROME_ERR_IO || error.status() == ANADROME_ERR_UNSUPPORTED;
    if (unread) throw_untouched(error);
    throw;
  }
  if (*why_not != '\0') {
    warnings_.warn({directory, " holds a run that cannot be resumed: ", why_not});
  }
}

void Resumption::begin_journal() {
  committer_.reset();
  committed_ = 0;
  commit_failed_ = false;
  if (!options_.resume) return;
  held_.attempt([&] {
    const std::vector<store::Field> fields = fields_.committed();
    const store::Directory& place = storage_.space()->held();
    const double seconds = options_.checkpoint_interval;
    store::Transport* const fast = storage_.transport(store::kFast);
    if (recovery_) {
      const std::int64_t blocks =
          ceil_divide(recovery_->commit.anchors, plan_.memory.layout.states());
      committer_ = std::make_unique<Committer>(place, *recovery_, goes_on_forward() ? blocks : -1,
                                               fields, seconds, *storage_.transport(), fast);
      committed_ = recovery_->commit.generation;
    } else {
      // Of the sweep before, which wait for no commit.
      storage_.transport()->take_finished_writes();
      if (fast != nullptr) fast->take_finished_writes();
      committer_ = std::make_unique<Committer>(place, header(), fields, seconds,
                                               *storage_.transport(), fast);
    }
  });
  agreement_.agree({.call = Call::kBegin, .failure = held_.failure()});
  held_.attempt([&] { storage_.space()->note_adjoints(); });  // the sweep is agreed on yet
  const bool alone = !is_of_ts(options_.problem);
  if (!recovery_ && alone && !fields_.has(ANADROME_ROLE_ADJOINT)) {
    warnings_.say(
        {"resume=on, and no field has the role ADJOINT: nothing is committed after TURN, "
         "and a run that is killed then repeats its whole reverse sweep; register what "
         "TURN sets and the adjoint steps add to"});
  }
}

// ---- back in ----

bool Resumption::goes_on_forward() const {
  return recovery_->commit.phase == store::JournalCommit::Phase::kForward ||
         !fields_.has(ANADROME_ROLE_ADJOINT);
}

// Of the places of blocks that are void now, and of what compressed ones leave of theirs: the
// process before may have reserved all of it.
void Resumption::give_back_room(std::int64_t newest_anchor) {
  const std::int64_t blocks = ceil_divide(newest_anchor + 1, plan_.memory.layout.states());
  const store::AnchorBlocks& anchors = keeper_.disk_tier()->anchors();
  held_.attempt([&] {
    for (std::int64_t block = 0; block < blocks; ++block)
      storage_.space()->punch_behind(block, anchors[block].encoded);
  });
  storage_.space()->punch_from(blocks);
}

// Nothing else tells of a sum that was not registered.
std::string Resumption::begins_anew() const {
  if (is_of_ts(options_.problem)) return {};
  std::string committed;
  for (const store::Field& field : fields_.with_role(ANADROME_ROLE_ADJOINT))
    committed += (committed.empty() ? "" : ", ") + field.name;
  return "; what the program adds up begins anew" +
         (committed.empty() ? committed : ", but for the adjoint fields " + committed);
}

void Resumption::go_on() {
  const store::JournalCommit& commit = recovery_->commit;
  const bool forward = goes_on_forward();
  std::int64_t position = commit.position;
  schedule::AnchorList anchors;
  held_.hold(failure_from([&] {
    std::vector<schedule::AnchorList::Stretch> stretches;
    for (const auto& [number, step, spacing] : commit.stretches) {
      stretches.push_back({number, step, spacing});
    }
    anchors = schedule::AnchorList::of(commit.anchors, stretches);
    const bool in_forward = commit.phase == store::JournalCommit::Phase::kForward;
    if (in_forward && anchors.newest_step() != position) {
      throw Error(ANADROME_ERR_CORRUPT, "the journal's position is not that of an anchor");
    }
    if (forward) position = anchors.newest_step();
    keeper_.disk_tier()->take_over(
        anchors.count(), [&](std::int64_t number) { return anchors.step(number); },
        recovery_->journal.blocks);
  }));
  meeting_.agree(Call::kBegin);
  schedule::Sweep& sweep = *plan_.sweep;
  if (forward) {
    const std::int64_t run_before = position;  // what was added up on the way is committed
    std::int64_t number = anchors.count() - 1;
    // A state that a lossy codec has changed is not on the way that the forward sweep took.
    const auto is_exact = [&] {
      const std::int64_t here = keeper_.disk_tier()->is_exact(number) ? 1 : 0;
      return agreement_.agree({.call = Call::kBegin, .failure = held_.failure(), .smallest = here})
                 .smallest == 1;
    };
    while (!is_exact() || !keeper_.load(Call::kBegin, number)) {
      number = plan_.memory.layout.first_of_block(number) - 1;
      const Failure& lost = sweep_.lost;
      if (number < 0)
        throw Error(lost.status, lost.message + "; nothing before it can be started from" +
                                     options_.begin_anew());
    }
    anchors.truncate(number + 1);
    position = anchors.newest_step();  // one before it, where that could not be read
    keeper_.go_on_from(number);
    if (options_.leaves_holes() && !keeper_.disk_tier()->places_in_turn()) give_back_room(number);
    held_.attempt([&] { sweep.resume({.anchors = anchors, .run_before = run_before}); });
    meeting_.agree(Call::kBegin);
    if (storage_.counts_compressed(plan_)) keeper_.tell_what_disk_holds();
  } else {
    sweep_.newest_anchor = anchors.count() - 1;
    held_.attempt([&] {
      sweep.resume({anchors, schedule::Direction::kReverse, commit.steps, position});
    });
  }
  held_.attempt([&] { committer_->unpack(); });
  meeting_.agree(Call::kBegin);
  sweep_.resumed.phase = forward ? ANADROME_PHASE_FORWARD : ANADROME_PHASE_REVERSE;
  sweep_.resumed.step = position;
  sweep_.resumed.open = true;
  sweep_.phase = sweep_.resumed.phase;
  if (!forward) sweep_.times.turn = sweep_.times.begin;
  held_.attempt([&] {
    const bool is_ahead = forward && fields_.replaced() && sweep_.undone.per_state == 1;
    const std::int64_t shown = sweep_.undone.step(position + (is_ahead ? 1 : 0));
    const bool compares = !options_.problem.empty();
    warnings_.say(
        {"going on at step ", std::to_string(shown),
         forward ? ", forward, commit " : ", reverse, commit ", std::to_string(commit.generation),
         compares ? "" : "; the option problem is empty, so parameters were not compared",
         begins_anew()},
        ANADROME_LOG_NOTICE);
  });
}

// A program that does not ask sets x_0 once more, or lacks what was added up before. Programs ask
// on one rank and tell the others, so one is enough.
void Resumption::require_asked() {
  SweepState::Resumed& resumed = sweep_.resumed;
  meeting_.agree(Call::kGoOn);
  double asked = resumed.asked ? 1 : 0;
  agreement_.ranks().largest(std::span(&asked, 1));
  resumed.open = false;
  if (asked > 0) return recovery_.reset();
  const bool forward = resumed.phase == ANADROME_PHASE_FORWARD;
  refusal_ = {
      ANADROME_ERR_ORDER,
      "this run continues at step " + std::to_string(resumed.step) + " of its " +
          (forward ? "forward" : "reverse") +
          " sweep, where another process left it, and no rank has asked anadrome_resumed where; "
          "ask after anadrome_begin, and set no initial state where it reports a step; or set "
          "resume=off to start over. What was committed stays as it is"};
  throw Error(refusal_.status, refusal_.message);
}

// ---- commits ----

void Resumption::bring(Agreement::Input& input, bool stop) {
  if (committer_ == nullptr) return;
  using Commit = Agreement::Input::Commit;
  const bool busy = committer_->busy();  // first: one that ends now was under way
  input.committed = committer_->committed();
  input.commit = !may_commit()               ? Commit::kNotDue
                 : busy                      ? Commit::kBusy
                 : committer_->due() || stop ? Commit::kDue
                                             : Commit::kNotDue;
  input.hold_stop = true;
}

store::JournalCommit Resumption::describe() const {
  store::JournalCommit commit;
  const schedule::Sweep& sweep = *plan_.sweep;
  const schedule::Course course = sweep.course();
  const schedule::AnchorList& anchors = sweep.anchors();
  const bool forward = sweep_.phase == ANADROME_PHASE_FORWARD;
  commit.phase =
      forward ? store::JournalCommit::Phase::kForward : store::JournalCommit::Phase::kReverse;
  commit.position = forward ? anchors.newest_step() : sweep.course().adjoints_left;
  commit.steps = course.steps;
  commit.anchors = anchors.count();
  for (const auto& [number, step, spacing] : anchors.stretches()) {
    commit.stretches.push_back({number, step, spacing});
  }
  commit.interval = course.interval;
  commit.slots = course.slots;
  return commit;
}

// A commit could not tell in which of its reverse sweeps the program was, nor what it added up
// where it registered no adjoint fields. The states after the newest anchor are those of the
// forward sweep, where a run that goes on would have others if a codec has changed that anchor.
bool Resumption::may_commit() const {
  if (sweep_.phase == ANADROME_PHASE_FORWARD) return !sweep_.rewound;
  if (sweep_.phase != ANADROME_PHASE_REVERSE) return false;
  const schedule::Sweep& sweep = *plan_.sweep;
  const bool same_states =
      !options_.is_lossy() || sweep.course().adjoints_left <= sweep.anchors().newest_step();
  return !sweep_.rewound && fields_.has(ANADROME_ROLE_ADJOINT) && same_states;
}

// Steps that are reversed from memory for long would end in no agreement, and in no commit. So what
// was done since the last one is counted, in times that were agreed on: every rank comes to the
// same number. Often enough for commits to be on time, and so seldom that the steps take much
// longer than an agreement. As long as no time of an adjoint step is agreed on (a sweep that went
// on has none at all), after 1, 2, 4, ... of them.
void Resumption::commit_between_anchors() {
  if (committer_ == nullptr) return;
  constexpr double kPerCommit = 8, kLeastSeconds = 0.01;
  const schedule::StepCosts costs = planning_.costs(plan_);
  const double seconds = real(sweep_.adjoints - sweep_.agreed_at.adjoints) * costs.adjoint +
                         real(sweep_.advances - sweep_.agreed_at.advances) * costs.forward;
  const bool measures = measured_.agreed().adjoint <= 0 &&
                        std::has_single_bit(static_cast<std::uint64_t>(sweep_.adjoints));
  const bool due = seconds >= std::max(options_.checkpoint_interval / kPerCommit, kLeastSeconds);
  if (!due && !measures) return;
  if (plan_.sweep->course().adjoints_left == 0) return;
  commit_if_due(Call::kAdjoint, meeting_.agree(Call::kAdjoint));
}

// Once no commit is under way. One agreement more where one failed, and none where that was
// reported: a disk that stays full is not worth a line a minute. Collective.
void Resumption::report_failed_commit(Call call, std::int64_t last_common) {
  const bool failed = !committer_->made(last_common);
  if (failed && !commit_failed_) {
    const Failure why = meeting_.agree(call, committer_->failure()).lost;
    warnings_.say({"a commit could not be made: ", why.message,
                   last_common > 0 ? "; until one can, a killed run resumes from the one before it"
                                   : "; until one can, a killed run starts over"});
  }
  commit_failed_ = failed;
}

// Everything follows from what was agreed, so all ranks do the same.
void Resumption::commit_if_due(Call call, const Agreement::Output& agreed) {
  if (committer_ == nullptr) return;
  using Commit = Agreement::Input::Commit;
  Agreement::Output now = agreed;
  if (agreed.stop) {
    committer_->wait();
    now = meeting_.agree(call);
  }
  const auto commit = [&] {
    held_.attempt([&] {
      keeper_.disk_tier()->queue_first_block_at_home();
      const DiskSpace* const fast = storage_.space(store::kFast);
      std::span<const store::JournalSegment> fast_segments;
      if (fast != nullptr) fast_segments = fast->records();
      committer_->start(describe(), now.committed, storage_.space()->records(), fast_segments);
    });
  };
  const bool due = now.commit == Commit::kDue;
  if (due) {
    report_failed_commit(call, now.committed);
    held_.attempt([&] { committer_->pack(); });  // on all ranks: callbacks may communicate
    if (!held_.failure()) commit();
  }
  if (!agreed.stop) return;
  const auto wait = [&] {
    committer_->wait();
    now = meeting_.agree(call);
    report_failed_commit(call, now.committed);
  };
  wait();
  // Beside a fast volume it does without the states on their way. They are waited for at close in
  // any case, but who is stopped may soon be killed: so there are two.
  if (due && !commit_failed_ && storage_.space(store::kFast) != nullptr) {
    held_.attempt([&] { keeper_.disk_tier()->flush(); });
    commit();
    wait();
  }
  const char* what =
      commit_failed_       ? "stopped as asked; the last commit could not be made"
      : now.committed == 0 ? "stopped as asked; nothing was committed, and the run starts over"
      : sweep_.rewound     ? "stopped as asked; with resume=on the run continues in its first "
                             "reverse sweep"
      : !may_commit() ? "stopped as asked; with resume=on the run continues from its last commit, "
                        "in the forward sweep"
                      : "stopped as asked; with resume=on the run continues from here";
  throw Error(ANADROME_STOPPED, what);
}

}  // namespace anadrome::engine
