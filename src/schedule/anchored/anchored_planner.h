// SPDX-License-Identifier: BSD-2-Clause
// Anchors at intervals, in between them RAM checkpoints by Revolve, or by MixedPlanner where tapes
// are kept; n known or not. Where no anchor is worth it any more, the rest is reversed from RAM.
//
// The rule is one for both directions: to reach step i, start from the newest kept state and place
// checkpoints in the slots that are free. Who answers its questions is a planner derived from it.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/stack/mixed.h"
#include "schedule/stack/online_planner.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

struct AnchoredOptions {
  std::int64_t steps = 0;       ///< n, or kUnknown
  std::int64_t slots = 1;       ///< RAM checkpoints, the start of the current interval included
  std::int64_t most_slots = 0;  ///< `slots` is never set to more; 0: it stays as it is
  std::int64_t interval = 0;    ///< steps between anchors; 0: asked for at every anchor
  bool all_anchors = false;     ///< up to the end of the sweep, as for files that are to be kept
  bool record = false;          ///< the adjoint of a step needs its tape
  std::int64_t tape_units = 0;  ///< slots that a kept tape takes; 0: tapes are not kept
};

class AnchoredPlanner : public Planner {
 public:
  /// Throws ERR_ARGUMENT on options that make no sense.
  explicit AnchoredPlanner(const AnchoredOptions& options);

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;
  uint128 advances_ahead(const Segment& segment) override;
  bool leads() const override { return phase_ != Phase::kReverse; }
  bool ready() const override {
    return phase_ == Phase::kReverse || (interval_ > 0 && phase_ != Phase::kProbe);
  }
  void end_is(std::int64_t steps) override;
  void use_all(std::int64_t slots) override { all_slots_ = slots; }

  /// Answers to an open question (kAsk): an anchor every `interval` steps from here on, reversed
  /// with `slots` slots; or ask again after `steps` more.
  void set_interval(std::int64_t interval, std::int64_t slots);
  void probe(std::int64_t steps);
  /// Or none: all that follows the newest anchor is reversed from RAM with `slots` slots. n is
  /// known.
  void end_in_ram(std::int64_t slots);

  std::int64_t usable(std::int64_t) const override { return slots_ - 1; }
  std::int64_t interval() const override { return interval_; }
  std::int64_t slots() const { return slots_; }
  std::int64_t steps_since_anchor() const { return live_ - from_; }
  std::int64_t ahead() const override {
    return phase_ == Phase::kTowardsAnchor || phase_ == Phase::kPlace ? anchor_due_ : kUnknown;
  }
  bool on_the_way() const override {
    return phase_ != Phase::kAtAnchor && phase_ != Phase::kOnline && phase_ != Phase::kReverse;
  }

 private:
  enum class Phase {
    kAtAnchor,
    kAsked,
    kProbe,          ///< straight to the next question
    kTowardsAnchor,  ///< straight there
    kPlace,          ///< the same, with checkpoints on the way: TURN may come before
    kOnline,         ///< no anchor follows, and the end is not known
    kReverse         ///< no anchor follows, or TURN was there
  };

  void at_anchor(bool may_add);
  void enter_interval();
  void use_interval(std::int64_t interval, std::int64_t slots);
  Placement place_on_the_way(const Segment& segment);
  void require_asked(bool fits, const char* what) const;

  AnchoredOptions options_;
  Phase phase_ = Phase::kAtAnchor;
  std::int64_t slots_;
  std::int64_t all_slots_ = 0;  ///< beyond the newest anchor, where the disk is full
  std::int64_t interval_ = 0;
  std::int64_t tail_ = 0;        ///< the longest distance to the end at which no anchor follows
  std::int64_t from_ = 0;        ///< step of the newest anchor
  std::int64_t live_ = 0;        ///< the live step of the last question
  bool keep_due_ = false;        ///< kPlace: the live state was advanced to in order to be kept
  std::int64_t anchor_due_ = 0;  ///< step of the next anchor, or of the next question
  Splitter splitter_;
  std::optional<MixedPlanner> mixed_;
  std::optional<OnlinePlanner> online_;
};

}  // namespace anadrome::schedule
