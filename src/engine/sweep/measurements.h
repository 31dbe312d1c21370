// SPDX-License-Identifier: BSD-2-Clause
// The times of steps and transfers: measured on this rank, and as all ranks agreed on them. They
// last as long as the run, so that a sweep knows the times of the one before.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "base/index.h"
#include "engine/ranks/agreement.h"
#include "schedule/anchored/interval_times.h"
#include "schedule/words/two_volumes.h"
#include "store/memory/meter.h"
#include "store/tiers/disk_tier.h"

namespace anadrome::engine {

/// The largest of any rank. Seconds, 0: not measured yet; and how full the disk is. Doubles alone:
/// an agreement takes them as they lie here.
struct AgreedNumbers {
  double forward = 0, adjoint = 0;         ///< a step
  double write = 0, read = 0;              ///< a state; write: what the first has taken so far
  double write_taken = 0, read_taken = 0;  ///< the caller's time that a state's transfer takes
  double elapsed = 0, waited = 0;    ///< since the sweep began, without comparing; for transfers
  double copy = 0, anchor_copy = 0;  ///< of a state
  store::Filled filled = {};         ///< by this sweep; the share may be an earlier one's
  double fast_write = 0, fast_read = 0;  ///< of a fast volume; write and read are home's then
  double home_writes = 0;                ///< blocks that are on their way home
  double fastest = 0;                    ///< a step that took least

  static AgreedNumbers from(const Agreement::Numbers& numbers) {
    return std::bit_cast<AgreedNumbers>(numbers);
  }
  Agreement::Numbers in_order() const { return std::bit_cast<Agreement::Numbers>(*this); }
};

/// An agreement at an anchor, which ends an interval of the forward sweep.
struct IntervalEnd {
  std::int64_t anchor = 0;  ///< the number of the one that was kept last
  std::int64_t advances = 0;
};

/// What is copied: an anchor's block leaves the caches as it is written, and a slot stays there.
enum class Copied { kSlot, kAnchor };

class Measurements {
 public:
  // ---- this rank's ----
  /// Is the action that comes next to be timed? `steps` of an advance.
  bool times_advance(std::int64_t steps) {
    return forward_sampler_.due(forward_.seconds() * static_cast<double>(steps));
  }
  bool times_adjoint() { return adjoint_sampler_.due(adjoint_.seconds()); }
  void add_forward(double seconds, std::int64_t steps) {
    forward_.add(seconds, steps);
    step_took(seconds, steps);
  }
  /// A step that is run once more, to compare, tells how fast steps are, too.
  void step_took(double seconds, std::int64_t steps) {
    if (steps > 0) fastest_ = std::min(fastest_, seconds / real(steps));
  }
  /// States were compared with what they were: no interval is the longer for that.
  void compared(double seconds) { comparing_ += seconds; }
  void add_adjoint(double seconds) { adjoint_.add(seconds, 1); }
  bool times_visit() { return visit_sampler_.due(visit_.seconds()); }
  void add_visit(double seconds) { visit_.add(seconds, 1); }
  double visit() const { return visit_.seconds(); }
  /// The seconds that one that was timed stands for, with those that were not.
  double advances_like(double seconds) const { return forward_sampler_.stands_for(seconds); }
  double adjoints_like(double seconds) const { return adjoint_sampler_.stands_for(seconds); }
  bool times_copy(Copied what, bool always) { return copies(what).due(always); }
  /// Returns the seconds that it stands for, with copies that were not timed.
  double add_copy(Copied what, double seconds) { return copies(what).add(seconds); }
  double forward() const { return forward_.seconds(); }
  double adjoint() const { return adjoint_.seconds(); }
  /// To or from a slot; until that is known, as to an anchor. 0 for want of samples.
  double copy() const {
    return slot_copies_.seconds() > 0 ? slot_copies_.seconds() : anchor_copy();
  }
  double anchor_copy() const { return anchor_copies_.seconds(); }
  store::TransferTimes& transfers(int volume) { return transfers_[at(volume)]; }

  // ---- agreed ----
  /// `tier`: NULL without a disk.
  void bring(Agreement::Input& input, const store::DiskTier* tier) const;
  void take(const Agreement::Output& output);
  /// At an agreement that ends an interval: what it took.
  void learn(const IntervalEnd& end);
  /// A sweep begins: what came before is no interval of it.
  void begin_sweep();
  const schedule::IntervalTimes& interval_times() const { return interval_times_; }
  const AgreedNumbers& agreed() const { return agreed_; }
  /// Seconds of a state to disk and back: of both volumes together, if there are two that take
  /// states.
  schedule::VolumeCosts disk() const;
  /// This sweep has other volumes from here on.
  void use_volumes(bool home, bool fast) { uses_ = {home, fast}; }
  /// Has every rank written a state? Agreed.
  bool write_times_known() const { return write_times_known_; }
  /// The agreed times are those of an earlier sweep on the same disk.
  bool of_earlier_sweep() const { return of_earlier_sweep_; }
  void sweep_is_done(bool with_disk) {
    of_earlier_sweep_ = with_disk && agreed_.forward > 0 && write_times_known_;
  }
  /// What a compressed block takes of its full size, as far as is known from this sweep and the one
  /// before.
  double share_of_block() const {
    return knows_share() ? std::max(agreed_.filled.share, share_before_) : 1;
  }
  bool knows_share() const { return agreed_.filled.share > 0 || share_before_ > 0; }
  /// Transfers go to another disk from here on. `cores_are_busy`: no core is left for I/O threads.
  void begin_disk(bool cores_are_busy);
  /// The agreed times, with a guess for those that are not measured yet.
  schedule::StepCosts costs(std::int64_t state_bytes) const;

 private:
  class Copies {
   public:
    bool due(bool always) { return sampler_.due(always ? 0 : time_.seconds()); }
    double add(double seconds) {
      time_.add(seconds, 1);
      return sampler_.stands_for(seconds);
    }
    /// The first ones touch memory for the first time.
    double seconds() const { return time_.samples() < kFew ? 0 : time_.seconds(); }

   private:
    static constexpr std::int64_t kFew = 4;
    store::Meter time_;
    store::Sampler sampler_;
  };
  Copies& copies(Copied what) { return what == Copied::kAnchor ? anchor_copies_ : slot_copies_; }

  store::Meter forward_, adjoint_, visit_;
  double fastest_ = std::numeric_limits<double>::infinity();
  store::Sampler forward_sampler_, adjoint_sampler_, visit_sampler_;
  Copies slot_copies_, anchor_copies_;
  std::array<store::TransferTimes, store::kMostVolumes> transfers_;
  AgreedNumbers agreed_;
  struct {
    bool home = true, fast = false;
  } uses_;
  double began_ = now_seconds();  ///< the sweep
  double comparing_ = 0;          ///< of its seconds
  /// The agreement at which the interval under way began.
  struct IntervalBegan {
    bool known = false;
    IntervalEnd end;
    double elapsed = 0, waited = 0;
  } interval_began_;
  schedule::IntervalTimes interval_times_;
  double share_before_ = 0;  ///< filled.mean at the end of the sweep before; 0: unknown
  bool write_times_known_ = false, of_earlier_sweep_ = false;
  bool cores_are_busy_ = false;
};

}  // namespace anadrome::engine
