// Run, the part that lets a run go on after it was killed: commits on the way, and the way back in.
#include <algorithm>
#include <bit>

#include "engine/run.h"
#include "store/field_table.h"

namespace anadrome::engine {
namespace {

[[noreturn]] void throw_untouched(const Error& error) {
  throw Error(error.status(), std::string(error.what()) +
                                  "; the run that was left is untouched: begin again, or set "
                                  "resume=off to begin anew");
}

}  // namespace

store::JournalHeader Run::journal_header(std::int64_t steps) const {
  store::JournalHeader header;
  header.run_id_low = run_id_low_;
  header.run_id_high = run_id_high_;
  header.sweep = sweep_;
  header.ranks = agreement_.size();
  header.rank = agreement_.rank();
  header.steps = steps;
  header.shape = memory_plan_.shape;
  header.fields = store::field_table(fields_);
  header.options = std::string("layout=") + to_string(options_.layout) + "\n";
  header.problem = options_.problem;
  return header;
}

// Is there a run to go on with? Only a new object looks for one: what it finds cannot be its own.
void Run::look_for_recovery(std::int64_t steps) {
  recovery_.reset();
  resumed_phase_ = ANADROME_PHASE_IDLE;
  resumed_step_ = 0;
  if (!options_.resume || disk_ != nullptr) return;
  std::string directory;
  store::JournalHeader wanted;
  attempt([&] {
    directory = store::RunDirectory::path(options_.directory, options_.name);
    wanted = journal_header(steps);
  });
  agree_on_begin();
  const char* why_not = "";
  try {
    recovery_ = find_recovery(agreement_, directory, wanted, commit_bytes(), why_not);
  } catch (const Error& error) {
    if (error.status() == ANADROME_ERR_IO) throw_untouched(error);
    throw;
  }
  if (*why_not != '\0') warn({directory, " holds a run that cannot go on: ", why_not});
}

// The directory, with the files of the run that goes on or without any.
void Run::open_disk() {
  const auto make = [&](store::Leftovers leftovers) {
    std::unique_ptr<DiskSpace> disk;
    attempt([&] {
      disk = std::make_unique<DiskSpace>(agreement_, options_, memory_plan_.layout, state_fields_,
                                         run_id_);
      run_id_low_ = hash_of(run_id_);
      run_id_high_ = hash_of(run_id_ + "'");
    });
    agree_on_begin();
    disk->open(leftovers);
    disk_ = std::move(disk);
  };
  if (!recovery_) return make(store::Leftovers::kRemove);
  make(store::Leftovers::kTakeOver);
  const Failure failure = failure_from([&] { disk_->reopen(recovery_->journal.segments); });
  try {
    agreement_.agree({.call = Call::kBegin, .failure = failure});
    run_id_low_ = recovery_->journal.header.run_id_low;
    run_id_high_ = recovery_->journal.header.run_id_high;
  } catch (const Error& error) {
    if (error.status() == ANADROME_ERR_PEER) throw;
    if (error.status() != ANADROME_ERR_CORRUPT) {  // its files may be whole
      failure_from([&] { disk_->leave(); });
      disk_.reset();
      throw_untouched(error);
    }
    warn({"the run that was left cannot go on: ", error.what()});
    recovery_.reset();
    disk_->release();
    agree_on_begin();  // nobody has a file open any more
    hold(disk_->remove());
    disk_.reset();
    agree_on_begin();
    make(store::Leftovers::kRemove);
  }
}

void Run::begin_journal(std::int64_t steps) {
  committer_.reset();
  committed_ = 0;
  if (!options_.resume) return;
  attempt([&] {
    const std::vector<store::Field> fields = fields_of(ANADROME_ROLE_ADJOINT);
    const double seconds = options_.checkpoint_interval;
    if (recovery_) {
      const bool forward = recovery_->commit.phase == store::JournalCommit::Phase::kForward;
      const std::int64_t states = memory_plan_.layout.states();
      const std::int64_t blocks = (recovery_->commit.anchors + states - 1) / states;
      committer_ = std::make_unique<Committer>(disk_->path(), *recovery_, forward ? blocks : -1,
                                               fields, seconds, *transport_);
      committed_ = recovery_->commit.generation;
    } else {
      committer_ = std::make_unique<Committer>(disk_->path(), journal_header(steps), fields,
                                               seconds, *transport_);
    }
  });
  agree_on_begin();
}

// ---- back in ----

// Where the commit says. What cannot be read is lost here as it is anywhere else.
void Run::resume_sweep() {
  const store::JournalCommit& commit = recovery_->commit;
  const bool forward = commit.phase == store::JournalCommit::Phase::kForward;
  schedule::AnchorList anchors;
  hold(failure_from([&] {
    std::vector<schedule::AnchorList::Stretch> stretches;
    for (const auto& [number, step, spacing] : commit.stretches) {
      stretches.push_back({number, step, spacing});
    }
    anchors = schedule::AnchorList::of(commit.anchors, stretches);
    if (forward && anchors.newest_step() != commit.position) {
      throw Error(ANADROME_ERR_CORRUPT, "the journal's position is not that of an anchor");
    }
    tier_->take_over(
        anchors.count(), [&](std::int64_t number) { return anchors.step(number); },
        recovery_->journal.blocks);
  }));
  agree(Call::kBegin);
  if (forward) {
    std::int64_t number = anchors.count() - 1;
    while (!load_anchor(Call::kBegin, number)) {
      number = first_of_block(number) - 1;
      if (number < 0) throw Error(lost_.status, lost_.message + "; nothing before it is kept");
    }
    anchors.truncate(number + 1);
    tier_->truncate(number + 1);
    newest_anchor_ = number;
    agreed_block_ = tier_->block_of(number);
    attempt([&] { tier_->restore(*live_, number); });
    attempt([&] { sequence().resume_forward(anchors, commit.position); });
  } else {
    newest_anchor_ = anchors.count() - 1;
    attempt([&] { sequence().resume_reverse(anchors, commit.steps, commit.position); });
  }
  attempt([&] { committer_->unpack(); });
  agree(Call::kBegin);
  resumed_phase_ = forward ? ANADROME_PHASE_FORWARD : ANADROME_PHASE_REVERSE;
  resumed_step_ = commit.position;
  phase_ = resumed_phase_;
  if (!forward) turn_time_ = begin_time_;
  recovery_.reset();
}

// ---- commits ----

store::JournalCommit Run::describe_commit() {
  store::JournalCommit commit;
  const schedule::AnchorList& anchors = sequence().anchors();
  const bool forward = phase_ == ANADROME_PHASE_FORWARD;
  commit.phase =
      forward ? store::JournalCommit::Phase::kForward : store::JournalCommit::Phase::kReverse;
  commit.position = forward ? anchors.newest_step() : sequence().adjoints_remaining();
  commit.steps = script_->steps();
  commit.anchors = anchors.count();
  for (const auto& [number, step, spacing] : anchors.stretches()) {
    commit.stretches.push_back({number, step, spacing});
  }
  commit.interval = sequence().interval();
  commit.slots = sequence().slots();
  return commit;
}

// After an adjoint step. Steps that are reversed from memory for long would end in no agreement,
// and in no commit. So what was done since the last one is counted, in times that were agreed on:
// every rank comes to the same number. Often enough for commits to be on time, and so seldom that
// the steps take much longer than an agreement. As long as no time of an adjoint step is agreed on
// (a sweep that went on has none at all), after 1, 2, 4, ... of them.
void Run::commit_between_anchors() {
  constexpr double kPerCommit = 8, kLeastSeconds = 0.01;
  const schedule::StepCosts costs = agreed_costs();
  const double seconds = static_cast<double>(adjoints_ - adjoints_agreed_at_) * costs.adjoint +
                         static_cast<double>(advances_ - advances_agreed_at_) * costs.forward;
  const bool measures =
      agreed_[1] <= 0 && std::has_single_bit(static_cast<std::uint64_t>(adjoints_));
  const bool due = seconds >= std::max(options_.checkpoint_interval / kPerCommit, kLeastSeconds);
  if (!due && !measures) return;
  if (script_->adjoints_remaining() == 0) return;
  commit_if_due(Call::kAdjoint, agree(Call::kAdjoint));
}

// At an agreement that came out as `agreed`: everything follows from that, so all ranks do the
// same.
void Run::commit_if_due(Call call, const Agreement::Output& agreed) {
  if (committer_ == nullptr) return;
  using Commit = Agreement::Input::Commit;
  Agreement::Output now = agreed;
  if (agreed.stop) {
    committer_->wait();
    now = agree(call);
  }
  if (now.commit == Commit::kDue) {
    attempt([&] { committer_->start(describe_commit(), now.committed, disk_->records()); });
  }
  if (!agreed.stop) return;
  committer_->wait();
  now = agree(call);
  const bool whole = now.committed == committer_->last_started();
  const char* what =
      !whole     ? "stopped as asked; the last commit could not be made"
      : rewound_ ? "stopped as asked; with resume=on the run goes on in its first reverse sweep"
                 : "stopped as asked; with resume=on the run goes on from here";
  throw Error(ANADROME_STOPPED, what);
}

}  // namespace anadrome::engine
