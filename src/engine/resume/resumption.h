// SPDX-License-Identifier: BSD-2-Clause
// Lets a run go on after it was killed: commits on the way, and the way back in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/disk/recovery.h"
#include "engine/keep/keeper.h"
#include "engine/plan/planning.h"
#include "engine/ranks/meeting.h"
#include "engine/resume/committer.h"
#include "engine/sweep/context.h"

namespace anadrome::engine {

class Resumption {
 public:
  Resumption(Peers& peers, Meeting& meeting, const Asked& asked, Play& play, Notes& notes,
             const Planning& planning, Storage& storage, Keeper& keeper)
      : agreement_(peers.agreement),
        meeting_(meeting),
        held_(peers.held),
        options_(asked.options),
        fields_(asked.fields),
        measured_(notes.measured),
        planning_(planning),
        storage_(storage),
        keeper_(keeper),
        plan_(play.plan),
        sweep_(play.sweep),
        warnings_(notes.warnings) {}

  /// Is there a run to go on with? Only a new object looks for one: what it finds cannot be its
  /// own. Collective.
  void look();
  std::optional<Recovery>& recovery() { return recovery_; }
  /// The shape of that run's blocks; NULL: this run begins anew.
  const store::BlockShape* shape() const {
    return recovery_ ? &recovery_->journal.header.shape : nullptr;
  }
  /// Collective.
  void begin_journal();
  /// Goes on where the commit says. Blocks that cannot be read are lost. Collective.
  void go_on();
  /// Before the first action of a run that went on: some rank's program must have asked where it
  /// is. Throws ERR_ORDER on all ranks otherwise, and no sweep of this object begins any more: the
  /// commit stays for a program that asks. Collective.
  void require_asked();
  const Failure& refusal() const { return refusal_; }
  void abandon() { committer_.reset(); }

  /// This rank's commits, for an agreement; `stop` was asked for on this rank.
  void bring(Agreement::Input& input, bool stop);
  void take(const Agreement::Output& output) { committed_ = output.committed; }
  /// See Meeting::commit_if_due.
  void commit_if_due(Call call, const Agreement::Output& agreed);
  /// After an adjoint step. Collective where it has to be.
  void commit_between_anchors();

  /// Is there a state of the run that another process can go on from?
  bool can_be_left() const { return committed_ > 0 || recovery_.has_value(); }

 private:
  /// Where the run that was found goes on: without adjoint fields nobody knows what was added up
  /// in its reverse sweep, so that is begun again.
  bool goes_on_forward() const;
  std::string begins_anew() const;
  void give_back_room(std::int64_t newest_anchor);
  bool may_commit() const;
  void report_failed_commit(Call call, std::int64_t last_common);
  store::JournalHeader header() const;
  store::JournalCommit describe() const;

  Agreement& agreement_;
  Meeting& meeting_;
  Held& held_;
  const Options& options_;
  const Fields& fields_;
  const Measurements& measured_;
  const Planning& planning_;
  Storage& storage_;
  Keeper& keeper_;
  SweepPlan& plan_;
  SweepState& sweep_;
  Warnings& warnings_;
  std::unique_ptr<Committer> committer_;  ///< uses the transport and the files
  std::optional<Recovery> recovery_;      ///< of a run that died, until the first action
  std::int64_t committed_ = 0;            ///< generation; agreed
  bool commit_failed_ = false;            ///< the newest one, and it was reported; agreed
  Failure refusal_;                       ///< nobody asked where the run goes on
};

}  // namespace anadrome::engine
