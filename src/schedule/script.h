// What a run plays: a Sequence (states at intervals, Revolve between them), a Nested (whatever a
// planner says), an OverlappedSweep (a list in which each transfer has its place) or a JoinSweep
// (several branches).
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "schedule/join_sweep.h"
#include "schedule/nested.h"
#include "schedule/overlapped_sweep.h"
#include "schedule/sequence.h"

namespace anadrome::schedule {

class Script {
 public:
  explicit Script(const SequenceOptions& options) : play_(std::in_place_type<Sequence>, options) {}
  Script(const NestedOptions& options, std::unique_ptr<Planner> planner)
      : play_(std::in_place_type<Nested>, options, std::move(planner)) {}
  explicit Script(const OverlappedOptions& options)
      : play_(std::in_place_type<OverlappedSweep>, options) {}
  Script(const JoinSweepOptions& options, const JoinPlan& plan)
      : play_(std::in_place_type<JoinSweep>, options, plan) {}

  /// NULL if it is another one.
  Sequence* sequence() { return std::get_if<Sequence>(&play_); }
  const Sequence* sequence() const { return std::get_if<Sequence>(&play_); }
  Nested* nested() { return std::get_if<Nested>(&play_); }
  const Nested* nested() const { return std::get_if<Nested>(&play_); }
  OverlappedSweep* overlapped() { return std::get_if<OverlappedSweep>(&play_); }
  const OverlappedSweep* overlapped() const { return std::get_if<OverlappedSweep>(&play_); }
  const JoinSweep* join() const { return std::get_if<JoinSweep>(&play_); }

  Action next() {
    return std::visit([](auto& play) { return play.next(); }, play_);
  }
  std::int64_t steps() const {
    return std::visit([](const auto& play) { return play.steps(); }, play_);
  }
  bool may_finish(std::int64_t steps) const {
    return std::visit([&](const auto& play) { return play.may_finish(steps); }, play_);
  }
  void finish_forward(std::int64_t steps) {
    std::visit([&](auto& play) { play.finish_forward(steps); }, play_);
  }
  /// As in Sequence; the first anchor of its block, where blocks have several. Not of a JoinSweep,
  /// which has no anchors.
  bool lose_anchor(std::int64_t number, std::int64_t first_of_block) {
    if (sequence() != nullptr) return sequence()->lose_anchor(first_of_block);
    if (nested() != nullptr) return nested()->lose_anchor(number);
    return overlapped()->lose_anchor(number);
  }
  std::int64_t advances_remaining() const {
    return std::visit([](const auto& play) { return play.advances_remaining(); }, play_);
  }
  std::int64_t adjoints_remaining() const {
    return std::visit([](const auto& play) { return play.adjoints_remaining(); }, play_);
  }

 private:
  std::variant<Sequence, Nested, OverlappedSweep, JoinSweep> play_;
};

}  // namespace anadrome::schedule
