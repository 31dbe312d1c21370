// SPDX-License-Identifier: BSD-2-Clause
// Compares the live state with what it was when it was computed first, on all ranks, and says what
// a difference means for the sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/fingerprint.h"
#include "engine/live_state.h"
#include "engine/meeting.h"

namespace anadrome::engine {

/// Of each state field, in their order.
using Fingerprints = std::span<Fingerprint>;

/// A state that is not the same when it is computed again. The same on all ranks.
struct Difference {
  std::size_t field = 0;  ///< the state field with the largest difference
  int rank = 0;           ///< where it is largest
  double part = 0;        ///< of the field's norm, the largest of any rank; infinite: no numbers
  bool rounding = false;  ///< no more than rounding explains, in every field
};

/// What to look for where nothing more is known.
extern const char* const kUsualCauses;

class Comparison {
 public:
  Comparison(Context& context, Meeting& meeting) : context_(context), meeting_(meeting) {}

  /// Before a sweep's first action. Collective.
  void begin(bool needed);
  std::size_t fields() const { return context_.fields.state().size(); }
  /// Are packed fields too large to be packed for this alone? They are left out then.
  bool leaves_out_packed() const { return leaves_out_packed_; }
  /// Of the live state. Packed fields are packed, on all ranks or on none; `room`: to pack those
  /// that are left out otherwise.
  void take(const LiveState& live, Fingerprints prints, std::span<std::byte> room = {});
  /// Nothing: all fields have the same bits on all ranks. `steps` were run again. Collective.
  std::optional<Difference> compare(Call call, std::span<const Fingerprint> first,
                                    std::span<const Fingerprint> again, std::int64_t steps);
  /// An error on all ranks, or a warning, as option audit says; `what` differs, and `cause` is what
  /// it looks like.
  void judge(const Difference& difference, const std::string& what, const std::string& cause);

 private:
  Context& context_;
  Meeting& meeting_;
  std::vector<std::byte> packed_;
  bool leaves_out_packed_ = false;
  std::vector<double> distances_;  ///< of each field, and then the norms
};

}  // namespace anadrome::engine
