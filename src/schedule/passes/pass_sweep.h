// SPDX-License-Identifier: BSD-2-Clause
// Passes over a trajectory once it was swept: forward, every step is visited in rising order;
// reverse, every step is adjoined. It begins with what a sweep has left, and what a pass has left
// serves the next one.
//
// A step's state is live, in RAM, or an anchor; or it is advanced to from the newest one below. A
// forward pass leaves in RAM what a reverse one wants first: the last states. A reverse pass is
// Revolve between the states that are kept, and gives a state up only where its place is needed; so
// its last states, the first ones of the trajectory, are there for a forward pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/words/sweep.h"

namespace anadrome::schedule {

class PassSweep final : public Sweep {
 public:
  /// As after Done. Throws ERR_INTERNAL if x_0 and the tapes are missing.
  explicit PassSweep(Remains remains);

  Action next() override;

  /// Adjoint steps that are left: visits, in a pass forward.
  Course course() const override;
  std::int64_t advances_remaining() const override;

  /// The anchors of this one's block are passed over from here on; those above them are not.
  bool lose(std::int64_t number) override;

  /// A pass in reverse whose TURN has x_n.
  void rewind(std::int64_t restorable) override;
  void begin_pass(const Pass& pass) override;

  const AnchorList& anchors() const override;

 private:
  struct Entry {
    std::int64_t step, slot;
  };
  using Entries = std::vector<Entry>;

  void begin(const Pass& pass, bool turn_has_x_n);
  Action forward();
  Action reverse();
  Action visit();
  Action end();
  Action advance(std::int64_t to, bool record);
  Action start_from(std::int64_t number);
  Action start_below(std::int64_t step);
  Action restore(const Entry& entry);
  Action restore_tape();
  Action keep();
  Action drop(const Entry& entry);
  Action by_revolve(std::int64_t target);
  void give_up_above(std::int64_t step);

  bool serves_later() const;
  bool has_tapes() const { return !tapes_.empty(); }
  bool is_there() const { return (record_ ? tape_ : live_) == at_; }
  std::int64_t target() const;
  Entries::const_iterator ram_at(std::int64_t step) const;
  bool is_lost(std::int64_t number) const;
  bool is_read(std::int64_t number) const;
  std::int64_t newest_anchor(std::int64_t step) const;
  std::int64_t anchor_at(std::int64_t step);
  std::int64_t free_units() const;

  // ---- what to have in RAM ----
  void choose_targets();
  void add_targets(std::int64_t first, std::int64_t steps, std::int64_t kept, std::int64_t freed);
  void choose_kept();

  // ---- how much is left ----
  std::int64_t read_below(std::int64_t number) const;
  std::int64_t advances_forward() const;
  uint128 advances_reverse() const;
  uint128 reversal(std::int64_t end, std::size_t lowest, std::int64_t free) const;
  uint128 gaps(std::int64_t first, std::int64_t last, std::int64_t free) const;

  Course course_;
  std::int64_t steps_, units_;  ///< units: without those of x_0 and of tapes
  bool record_;
  std::optional<Kept> x_0_;  ///< where x_0 is, if it is no anchor that stays
  AnchorList anchors_;       ///< x_0 is the first in any case; without x_0: none
  bool anchors_stay_;
  std::vector<Kept> tapes_;         ///< of all steps, or none
  Entries ram_;                     ///< states that are of use, by step
  Entries spare_;                   ///< states whose place may be needed: the last one goes first
  std::vector<std::int64_t> free_;  ///< slots
  /// Blocks of anchors. So many have memory: a rank that has none loses one like the others.
  std::vector<std::int64_t> lost_;
  static constexpr std::int64_t kMostLost = 1 << 16;

  Pass pass_;
  bool done_ = true;
  bool turn_has_x_n_ = false;          ///< live, as after a rewind
  bool turned_ = false;                ///< in reverse: TURN was there
  std::int64_t at_ = 0;                ///< the step to be visited or adjoined
  std::int64_t live_ = kUnknown;       ///< step of the live state
  std::int64_t tape_ = kUnknown;       ///< step whose tape is in the caller's fields
  bool live_is_read_ = false;          ///< it came from disk
  std::int64_t next_anchor_ = 0;       ///< forward: anchors below this one are passed
  std::int64_t active_ = 0;            ///< reverse: anchors that are still needed
  std::vector<std::int64_t> targets_;  ///< forward: states to be kept, by step
  std::size_t next_target_ = 0;
  Entries victims_;  ///< forward: what may make room for them, once it is passed
  std::size_t next_victim_ = 0;
  Splitter splitter_;
};

}  // namespace anadrome::schedule
