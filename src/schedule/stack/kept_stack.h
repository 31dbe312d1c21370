// SPDX-License-Identifier: BSD-2-Clause
// The states and tapes that a StackSweep keeps, ordered by step. The anchors that stay on disk come
// first: an AnchorList, so that 1e9 of them take no memory. All others are entries above them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/index.h"
#include "schedule/words/action.h"
#include "schedule/words/anchor_list.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

class KeptStack {
 public:
  struct Entry {
    std::int64_t step;   ///< of the state; or the step whose tape it is
    std::int64_t slot;   ///< its first unit, or its place on disk
    std::int64_t units;  ///< of RAM
    Place place;
  };
  /// The lowest entries, and what they take.
  struct Part {
    std::size_t depth = 0;
    std::int64_t units = 0, disk_slots = 0;
  };

  /// `tape_restarts`: the tape of step k holds x_{k+1}.
  explicit KeptStack(bool tape_restarts) : tape_restarts_(tape_restarts) {}
  void reserve(std::int64_t entries) { entries_.reserve(size(entries)); }

  bool has_entries() const { return all_.depth > 0; }
  bool empty() const { return !has_entries() && active_ == 0; }
  const Part& all() const { return all_; }
  const Entry& top() const { return top(all_); }
  const Entry& top(const Part& part) const { return entries_[part.depth - 1]; }
  bool top_is(Place place, std::int64_t step) const {
    return has_entries() && top().place == place && top().step == step;
  }
  /// Step of the newest state or tape, anchors included; kUnknown: there is none.
  std::int64_t top_step() const { return has_entries() ? top().step : base_; }
  bool has_tape(std::int64_t step) const {
    return std::any_of(entries_.data(), entries_.data() + all_.depth, [step](const Entry& entry) {
      return entry.place == Place::kTape && entry.step == step;
    });
  }
  Kept kept(std::size_t index) const { return kept(entries_[index]); }

  /// The step that the newest one of a part, or of the anchors, makes live; kUnknown: none.
  std::int64_t restarts_at(const Part& part) const {
    if (part.depth == 0) return base_;
    if (top(part).place != Place::kTape) return top(part).step;
    return tape_restarts_ ? top(part).step + 1 : kUnknown;
  }
  /// Where x_step is, if it is that one.
  Place held(std::int64_t step, const Part& part) const {
    if (restarts_at(part) != step) return Place::kNowhere;
    return part.depth > 0 ? top(part).place : Place::kDisk;
  }
  /// Where the newest one is restored from.
  Kept source() const { return has_entries() ? kept(all_.depth - 1) : newest_anchor(); }

  Kept push(std::int64_t step, Place place, std::int64_t units) {
    std::int64_t slot = place == Place::kDisk ? all_.disk_slots++ : all_.units;
    all_.units += units;
    if (all_.depth == entries_.size()) {
      entries_.push_back({});
    } else if (replaced_any_) {
      slot = entries_[all_.depth].slot;
    }
    Entry& entry = entries_[all_.depth++];
    entry = {step, slot, units, place};
    return kept(entry);
  }
  void pop(Part& part) const {
    part.units -= top(part).units;
    if (top(part).place == Place::kDisk) --part.disk_slots;
    --part.depth;
  }
  Kept pop() {
    pop(all_);
    return kept(all_.depth);
  }
  /// All entries that were popped are there again, or the first `depth`.
  void put_back() { put_back(entries_.size()); }
  void put_back(std::size_t depth) {
    for (; all_.depth < depth; ++all_.depth) {
      all_.units += entries_[all_.depth].units;
      if (entries_[all_.depth].place == Place::kDisk) ++all_.disk_slots;
    }
  }
  /// A state of one unit, as if it had been pushed as the entry `index` and popped.
  Kept leave(std::size_t index, std::int64_t step) {
    auto slot = static_cast<std::int64_t>(index);
    if (index == entries_.size()) {
      entries_.push_back({});
    } else if (replaced_any_) {
      slot = entries_[index].slot;
    }
    entries_[index] = {step, slot, 1, Place::kRam};
    return kept(index);
  }
  /// Another state takes over the place of the entry `index`. sort() is due afterwards.
  Kept replace(std::size_t index, std::int64_t step) {
    replaced_any_ = true;
    entries_[index].step = step;
    return kept(index);
  }
  void sort() {
    std::sort(entries_.data(), entries_.data() + all_.depth,
              [](const Entry& a, const Entry& b) { return a.step < b.step; });
  }

  const AnchorList& anchors() const { return anchors_; }
  std::int64_t active() const { return active_; }  ///< anchors that the reverse sweep still needs
  std::int64_t base() const { return base_; }      ///< step of the newest one of them, or kUnknown
  void make_room_for_anchors() { anchors_.make_room(); }
  Kept add_anchor(std::int64_t step) {
    anchors_.append(step);
    use_anchors(anchors_.count());
    return newest_anchor();
  }
  void set_anchors(const AnchorList& anchors) {
    anchors_ = anchors;
    use_anchors(anchors_.count());
  }
  void truncate_anchors(std::int64_t count) {
    anchors_.truncate(count);
    use_anchors(anchors_.count());
  }
  /// The first `count` are active.
  void use_anchors(std::int64_t count) {
    active_ = count;
    base_ = count > 0 ? anchors_.step(count - 1) : kUnknown;
  }

 private:
  Kept newest_anchor() const { return {.tier = kDiskTier, .step = base_, .place = active_ - 1}; }
  // A branch for the disk is faster than a choice for each field.
  static Kept kept(const Entry& entry) {
    Kept kept;
    kept.what = entry.place == Place::kTape ? What::kTape : What::kState;
    kept.step = entry.step;
    kept.place = entry.slot;
    if (entry.place == Place::kDisk) {
      kept.tier = kDiskTier;
    } else {
      kept.room = {entry.slot, entry.units};
    }
    return kept;
  }

  std::vector<Entry> entries_;  ///< those above all_ remember free slots
  Part all_;
  bool tape_restarts_;
  bool replaced_any_ = false;  ///< slots of RAM are not in order
  AnchorList anchors_;
  std::int64_t active_ = 0, base_ = kUnknown;
};

}  // namespace anadrome::schedule
