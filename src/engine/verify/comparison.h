// SPDX-License-Identifier: BSD-2-Clause
// Compares the live state with what it was when it was computed first, on all ranks, and says what
// a difference means for the sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ranks/meeting.h"
#include "engine/sweep/context.h"
#include "engine/sweep/fingerprint.h"
#include "engine/sweep/live_state.h"

namespace anadrome::engine {

/// Of each state field, in their order.
using Fingerprints = std::span<Fingerprint>;

/// A state that is not the same when it is computed again. The same on all ranks.
struct Difference {
  std::size_t field = 0;  ///< the state field with the largest difference
  int rank = 0;           ///< where it is largest
  double part = 0;    ///< a relative difference, the largest of any rank; infinite: no real numbers
  bool each = false;  ///< that of the number with the largest one, not the root mean square
  std::int64_t element = -1;  ///< of that rank, the first that differs; -1: not known
  bool rounding = false;      ///< no more than rounding explains, in every field
};

/// A step that takes longer, in seconds, is not run again for this alone, unless that was asked
/// for.
inline constexpr double kLongStep = 60;
/// What is said of a state that differs: made where it is known that memory may lack.
using Sentence = std::function<std::string()>;
Sentence not_the_same(std::int64_t step);
/// Advice on where to look, if nothing more is known.
extern const char* const kUsualCauses;

class Comparison {
 public:
  Comparison(Peers& peers, Meeting& meeting, const Asked& asked, const SweepPlan& plan,
             Notes& notes)
      : peers_(peers), meeting_(meeting), asked_(asked), plan_(plan), notes_(notes) {}

  /// Before a sweep's first action. Collective.
  void begin(bool needed);
  /// Is a state that is computed again to be what it was? Not where a codec changed the one before
  /// it, nor if option audit is off.
  bool sees_states_again() const;
  std::size_t fields() const { return asked_.fields.state().size(); }
  /// Are packed fields too large to be packed for this alone? They are left out then.
  bool leaves_out_packed() const { return leaves_out_packed_; }
  /// Of the live state. Packed fields are packed, on all ranks or on none; `room`: to pack those
  /// that are left out otherwise.
  void take(const LiveState& live, Fingerprints prints,
            std::optional<std::span<std::byte>> room = {}, std::span<const Fingerprint> first = {});
  /// The live state as it is now, and as it was when it was computed first.
  struct Sides {
    const LiveState& live;
    std::span<const Fingerprint> first, again;
    std::int64_t block = -1;  ///< holds the first one; -1: only its fingerprints are there
  };
  /// Nothing: all fields have the same bits on all ranks. `steps` were run again. Collective; every
  /// rank has a block, or none.
  std::optional<Difference> compare(Call call, const Sides& sides, std::int64_t steps);
  /// An error on all ranks, or a warning, as option audit says; `what` differs, and `cause` is what
  /// it looks like. A rank that has no memory for the words stays with the others.
  void judge(const Difference& difference, const Sentence& what, const char* cause);

 private:
  Apart apart_here(const Sides& sides, std::size_t field) const;

  Peers& peers_;
  Meeting& meeting_;
  const Asked& asked_;
  const SweepPlan& plan_;
  Notes& notes_;
  std::vector<std::byte> packed_;
  bool leaves_out_packed_ = false;
  std::vector<double> distances_;  ///< of each field, and then whether it is more than rounding
};

}  // namespace anadrome::engine
