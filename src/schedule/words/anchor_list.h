// SPDX-License-Identifier: BSD-2-Clause
// The steps of the anchors, in order. Equal distances are stored once, so that 1e9 anchors take no
// memory to speak of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anadrome::schedule {

class AnchorList {
 public:
  /// The anchors as stretches of equal distance: number of the first, its step, distance to the
  /// next.
  struct Stretch {
    std::int64_t number, step, spacing;
  };

  std::int64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

  /// Step of anchor number `number`, 0 <= number < count().
  std::int64_t step(std::int64_t number) const;
  std::int64_t newest_step() const { return step(count_ - 1); }
  /// Anchors of steps up to this one.
  std::int64_t count_up_to(std::int64_t step) const;

  /// `step` must be larger than newest_step(). Allocates only where distances changed more than
  /// kRoom times since make_room.
  void append(std::int64_t step);
  static constexpr std::size_t kRoom = 16;
  void make_room();
  /// `stretches` as of an AnchorList with so many anchors. Throws ERR_CORRUPT if no list could say
  /// so.
  static AnchorList of(std::int64_t count, const std::vector<Stretch>& stretches);
  /// Keep the first `count` anchors.
  void truncate(std::int64_t count);

  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  std::int64_t count_ = 0;
  std::vector<Stretch> stretches_;
};

}  // namespace anadrome::schedule
