// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_beam.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>

#include "base/index.h"
#include "planners/lists/clock.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

AdvanceTable::AdvanceTable(std::int64_t most_steps, std::int64_t slots)
    : stride_(size(most_steps) + 1) {
  constexpr double kNever = 1e12;
  table_.assign(stride_ * (size(slots) + 1), 0);
  for (std::int64_t s = 0; s <= slots; ++s) {
    for (std::int64_t l = 2; l <= most_steps; ++l) {
      table_[size(s) * stride_ + size(l)] =
          s == 0 ? kNever : static_cast<double>(extra_advances(l, s));
    }
  }
}

namespace {

// A state of the machine of overlapped.h between two moves of the processor. Positions count from
// the base's, which is 1; 0 is kPrevious.

struct BeamSlot {
  std::int32_t position = -1;  ///< or -1: free, at once or from `busy_until` on
  double ready = 0;            ///< the state is there from then on
  double busy_until = 0;       ///< the state is being written until then
};

/// The moves from one state to the next; a transition has few.
struct BeamMoves {
  static constexpr std::size_t kMost = 16;
  std::array<OverlapMove, kMost> moves;
  std::size_t count = 0;

  bool full() const { return count + 4 > kMost; }
  void add(OverlapKind kind, std::int32_t position, std::int32_t last = 0) {
    moves[count++] = {kind, position - 1, last - 1};
  }
};

struct BeamState {
  Clock<double> clock;
  double expected = 0;     ///< end of the plan, as estimated
  std::int32_t left = 0;   ///< positions below this one are still to be adjoined
  std::int32_t live = -1;  ///< position of the live state
  std::int32_t parent = -1;
  std::uint64_t places = 0;  ///< a hash of what is in slots and on disk, whichever the slots
  std::array<BeamSlot, kMostBeamSlots> slots;
  std::bitset<kMostBeamSteps + 2> on_disk;  ///< or queued for it: the queue is served in order
  BeamMoves moves;                          ///< that lead here from `parent`

  int slot_of(std::int32_t position, int slot_count) const {
    for (int i = 0; i < slot_count; ++i) {
      if (slots[at(i)].position == position) return i;
    }
    return -1;
  }
  BeamSlot& slot(int i) { return slots[at(i)]; }
  const BeamSlot& slot(int i) const { return slots[at(i)]; }
  bool disk(std::int32_t position) const { return on_disk[at(position)]; }

  /// The value that `places` should have.
  std::uint64_t hash_of_places(int slot_count) const {
    std::uint64_t in_slots = 0;
    for (int i = 0; i < slot_count; ++i) {
      std::uint64_t mixed = static_cast<std::uint64_t>(slot(i).position + 2) * 0x9e3779b97f4a7c15U;
      mixed ^= mixed >> 29;
      in_slots += mixed * 0xbf58476d1ce4e5b9U;
    }
    return in_slots ^ (std::hash<std::bitset<kMostBeamSteps + 2>>()(on_disk) * 0x94d049bb133111ebU);
  }

  void drop(int i) {
    moves.add(OverlapKind::kDrop, slot(i).position);
    slot(i).position = -1;
  }
  void keep(int i, double free_from) {
    clock.wait(free_from);
    slot(i) = {live, 0, 0};
    moves.add(OverlapKind::kKeep, live);
  }
  void write(int i, double seconds) {
    slot(i).busy_until = clock.transfer(seconds, clock.now());
    on_disk.set(size(slot(i).position));
    moves.add(OverlapKind::kWrite, slot(i).position);
  }
  void read(int i, double free_from, std::int32_t position, double seconds) {
    slot(i) = {position, clock.transfer(seconds, std::max(clock.now(), free_from)), 0};
    moves.add(OverlapKind::kRead, position);
  }
};

class Beam {
 public:
  Beam(const BeamInterval& interval, std::int64_t slots, const OverlapTimes& times,
       const AdvanceTable& advances, const BeamOptions& options)
      : interval_(interval),
        slots_(static_cast<int>(slots)),
        times_(times),
        advances_(advances),
        options_(options),
        top_(interval.steps + 1),
        stages_(size(interval.steps) + 2) {}

  BeamResult run();

 private:
  struct Node {
    std::int32_t parent;
    std::uint32_t first_move, moves;
  };
  struct Slot {
    int number;
    double free_from;
  };

  double still_needed(const BeamState& state) const;
  double advances_of_open_gap(const BeamState& state, std::int32_t base, std::int64_t slots) const;
  void find_slots(const BeamState& state, double when, std::vector<Slot>& found) const;
  void with_transfers(const BeamState& state, double until, int most,
                      std::vector<BeamState>& variants) const;
  void expand(const BeamState& state);
  void begin_from_a_kept_state(const BeamState& state);
  void step_forward(const BeamState& state);
  void turn(const BeamState& state);
  void offer(BeamState& state, std::vector<BeamState>& stage);
  void keep_the_best(std::vector<BeamState>& stage, std::vector<BeamState>& best);
  BeamResult finish(const std::vector<BeamState>& last);
  bool same_and_no_earlier(const BeamState& state, const BeamState& than) const;

  std::vector<BeamState>& stage(std::int32_t live) { return stages_[size(live + 1)]; }
  bool in_first_sweep(const BeamState& state) const {
    return interval_.first_sweep && state.left == top_;
  }

  BeamInterval interval_;
  int slots_;
  OverlapTimes times_;
  const AdvanceTable& advances_;
  BeamOptions options_;
  std::int32_t top_;                            ///< one position beyond the last
  std::vector<std::vector<BeamState>> stages_;  ///< those of one `left`, by the live state
  std::vector<BeamState> next_;                 ///< one step less is left, nothing is live
  std::vector<Node> nodes_;
  std::vector<OverlapMove> moves_;
  std::int64_t states_ = 0;
};

// Advances from here on for the steps from `base`, the newest kept state at or below the live one,
// to the end, if all that is kept stays where it is.
double Beam::advances_of_open_gap(const BeamState& state, std::int32_t base,
                                  std::int64_t slots) const {
  const std::int32_t live = state.live, end = state.left;
  const double direct = end - 1 - live;
  if (live <= base) {
    const double again = advances_(end - base, slots);
    if (!in_first_sweep(state) || live < base) return again;
    return std::min(again, direct + options_.future * (end - base));
  }
  double least = direct + advances_(end - 1 - base, slots);
  const std::int32_t last_keep = in_first_sweep(state) ? live : end - 2;
  for (std::int32_t at = live; slots > 1 && at <= last_keep; ++at) {
    least =
        std::min(least, (at - live) + advances_(end - at, slots - 1) + advances_(at - base, slots));
  }
  if (in_first_sweep(state)) least = std::min(least, direct + options_.future * (end - base));
  return least;
}

// Gaps between kept states are reversed with the slots not pinned below; what is on disk is read.
double Beam::still_needed(const BeamState& state) const {
  std::bitset<kMostBeamSteps + 2> in_ram;
  for (int i = 0; i < slots_; ++i) {
    if (state.slot(i).position >= 0) in_ram.set(size(state.slot(i).position));
  }
  double advances = 0;
  std::int32_t base = -1;
  std::int64_t pinned = 0, pinned_below_base = 0, reads = 0;
  for (std::int32_t p = 0; p < state.left; ++p) {
    const bool ram = in_ram[size(p)], disk = state.disk(p);
    if (!ram && !disk) continue;
    if (!ram) ++reads;
    if (base >= 0)
      advances += advances_(p - base, std::max<std::int64_t>(slots_ - pinned_below_base, 1));
    base = p;
    pinned_below_base = pinned;
    if (ram && !disk) ++pinned;
  }
  advances +=
      advances_of_open_gap(state, base, std::max<std::int64_t>(slots_ - pinned_below_base, 1));
  const double computing = (state.left - 1) * times_.adjoint + advances;
  const double waiting = std::max(state.clock.link_free() - state.clock.now(), 0.0);
  const double moving = waiting + (reads > 0 ? real(reads) * times_.read + times_.adjoint : 0);
  constexpr double kTieBreak = 1e-4;
  return std::max(computing, moving) + options_.lesser * std::min(computing, moving) +
         kTieBreak * waiting;
}

// For a state that is kept or read: the free slot, one that is on disk, too, or one given up.
void Beam::find_slots(const BeamState& state, double when, std::vector<Slot>& found) const {
  found.clear();
  int best = -1, on_disk = -1;
  for (int i = 0; i < slots_; ++i) {
    const BeamSlot& slot = state.slot(i);
    if (slot.position < 0 && (best < 0 || slot.busy_until < state.slot(best).busy_until)) best = i;
    if (slot.position >= 0 && state.disk(slot.position) && slot.ready <= state.clock.now() &&
        (on_disk < 0 || slot.position < state.slot(on_disk).position)) {
      on_disk = i;
    }
  }
  if (best >= 0) found.push_back({best, std::max(when, state.slot(best).busy_until)});
  if (best >= 0 && found.back().free_from <= when) return;
  if (on_disk >= 0) found.push_back({on_disk, std::max(when, state.slot(on_disk).busy_until)});
  constexpr std::size_t kMostWays = 4;
  for (int i = 0; i < slots_ && found.size() < kMostWays; ++i) {
    const BeamSlot& slot = state.slot(i);
    if (slot.position > 1 && !state.disk(slot.position) && slot.ready <= state.clock.now()) {
      found.push_back({i, when});
    }
  }
}

// The state itself, and with up to `most` transfers queued that begin before `until`.
void Beam::with_transfers(const BeamState& state, double until, int most,
                          std::vector<BeamState>& variants) const {
  variants.push_back(state);
  if (most == 0 || state.clock.link_free() >= until || state.moves.full()) return;
  const double begin = std::max(state.clock.now(), state.clock.link_free());
  // Among the states in RAM only: the oldest two, which are used last, and the newest.
  std::array<int, 3> to_write{-1, -1, -1};
  for (int i = 0; i < slots_; ++i) {
    const BeamSlot& slot = state.slot(i);
    if (slot.position < 0 || slot.position >= state.left - 1 || state.disk(slot.position) ||
        slot.ready > begin) {
      continue;
    }
    const auto older = [&](int other) {
      return other < 0 || slot.position < state.slot(other).position;
    };
    if (to_write[2] < 0 || !older(to_write[2])) to_write[2] = i;
    if (older(to_write[0])) {
      to_write[1] = to_write[0];
      to_write[0] = i;
    } else if (older(to_write[1])) {
      to_write[1] = i;
    }
  }
  for (std::size_t k = 0; k < to_write.size(); ++k) {
    const int i = to_write[k];
    if (i < 0 || (k == 2 && (i == to_write[0] || i == to_write[1]))) continue;
    BeamState next = state;
    next.write(i, times_.write);
    with_transfers(next, until, most - 1, variants);
  }
  std::vector<Slot> slots;
  int tried = 0;
  for (std::int32_t p = state.left - 1; p >= 0 && tried < 2; --p) {
    if (!state.disk(p) || p == state.live || state.slot_of(p, slots_) >= 0) continue;
    ++tried;
    find_slots(state, begin, slots);
    for (const Slot& slot : slots) {
      BeamState next = state;
      if (next.slot(slot.number).position >= 0) next.drop(slot.number);
      next.read(slot.number, slot.free_from, p, times_.read);
      with_transfers(next, until, most - 1, variants);
    }
  }
}

void Beam::offer(BeamState& state, std::vector<BeamState>& stage) {
  if (state.clock.now() + (state.left - 1) * times_.adjoint >= options_.most) return;
  state.expected = state.clock.now() + still_needed(state);
  state.places = state.hash_of_places(slots_);
  stage.push_back(state);
}

void Beam::expand(const BeamState& state) {
  ++states_;
  if (state.live < 0) {
    begin_from_a_kept_state(state);
  } else if (state.live == state.left - 1) {
    turn(state);
  } else {
    step_forward(state);
  }
}

void Beam::begin_from_a_kept_state(const BeamState& state) {
  std::vector<BeamState> variants;
  with_transfers(state, std::numeric_limits<double>::infinity(), 2, variants);
  for (const BeamState& variant : variants) {
    // The newest state; or the one before it, while the newest has not been read.
    std::int32_t below = variant.left;
    for (int tried = 0; tried < 2; ++tried) {
      int newest = -1;
      for (int i = 0; i < slots_; ++i) {
        const std::int32_t p = variant.slot(i).position;
        if (p > 0 && p < below && (newest < 0 || p > variant.slot(newest).position)) newest = i;
      }
      if (newest < 0) break;
      BeamState next = variant;
      below = next.live = next.slot(newest).position;
      next.moves.add(OverlapKind::kRestore, next.live);
      const bool there = next.slot(newest).ready <= next.clock.now();
      next.clock.wait(next.slot(newest).ready);
      offer(next, stage(below));
      if (there) break;
    }
  }
}

void Beam::turn(const BeamState& state) {
  BeamState before = state;
  const int own = before.slot_of(before.live, slots_);
  if (own >= 0) before.drop(own);
  std::vector<BeamState> variants;
  with_transfers(before, before.clock.now() + times_.adjoint, 3, variants);
  for (BeamState& next : variants) {
    next.moves.add(OverlapKind::kAdjoint, next.live);
    next.clock.compute(times_.adjoint);
    next.on_disk.reset(size(next.live));
    --next.left;
    next.live = -1;
    offer(next, next_);
  }
}

void Beam::step_forward(const BeamState& state) {
  std::vector<BeamState> kept{state}, variants;
  if (state.slot_of(state.live, slots_) < 0) {
    std::vector<Slot> slots;
    find_slots(state, state.clock.now(), slots);
    for (const Slot& slot : slots) {
      BeamState next = state;
      if (next.slot(slot.number).position >= 0) next.drop(slot.number);
      next.keep(slot.number, slot.free_from);
      kept.push_back(next);
    }
  }
  for (const BeamState& way : kept) {
    variants.clear();
    with_transfers(way, way.clock.now() + 1, 2, variants);
    for (BeamState& next : variants) {
      next.moves.add(OverlapKind::kAdvance, next.live, next.live + 1);
      next.clock.compute(1);
      ++next.live;
      offer(next, stage(next.live));
    }
  }
}

// `than` has the same states in the same places, as far as a hash tells, and everything as early.
bool Beam::same_and_no_earlier(const BeamState& state, const BeamState& than) const {
  if (state.places != than.places) return false;
  double busy = state.clock.now(), busy_than = than.clock.now();
  for (int i = 0; i < slots_; ++i) {
    busy = std::max({busy, state.slot(i).ready, state.slot(i).busy_until});
    busy_than = std::max({busy_than, than.slot(i).ready, than.slot(i).busy_until});
  }
  return than.clock.now() <= state.clock.now() && busy_than <= busy &&
         than.clock.link_free() <= std::max(state.clock.link_free(), state.clock.now());
}

void Beam::keep_the_best(std::vector<BeamState>& stage, std::vector<BeamState>& best) {
  best.clear();
  std::vector<std::size_t> order(stage.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stage[a].expected < stage[b].expected;
  });
  for (const std::size_t i : order) {
    if (std::ssize(best) >= options_.width) break;
    BeamState& state = stage[i];
    const bool known = std::any_of(best.begin(), best.end(), [&](const BeamState& other) {
      return same_and_no_earlier(state, other);
    });
    if (known) continue;
    const BeamMoves& moves = state.moves;
    nodes_.push_back({state.parent, static_cast<std::uint32_t>(moves_.size()),
                      static_cast<std::uint32_t>(moves.count)});
    moves_.insert(moves_.end(), moves.moves.begin(),
                  moves.moves.begin() + static_cast<std::ptrdiff_t>(moves.count));
    state.parent = static_cast<std::int32_t>(nodes_.size()) - 1;
    state.moves.count = 0;
    best.push_back(state);
  }
  stage.clear();
}

BeamResult Beam::finish(const std::vector<BeamState>& last) {
  BeamResult result;
  result.states = states_;
  BeamState winner;
  for (BeamState state : last) {
    double end = state.clock.now();
    if (interval_.has_previous) {
      const int slot = state.slot_of(0, slots_);
      if (slot < 0) state.read(0, 0, 0, times_.read);
      end = std::max(end, state.slot(slot < 0 ? 0 : slot).ready);
    }
    if (end >= result.duration) continue;
    result.duration = end;
    winner = state;
  }
  if (last.empty()) return result;
  std::vector<Node> path;
  for (std::int32_t at = winner.parent; at >= 0; at = path.back().parent) {
    path.push_back(nodes_[size(at)]);
  }
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    const auto first = moves_.begin() + static_cast<std::ptrdiff_t>(node->first_move);
    result.piece.insert(result.piece.end(), first,
                        first + static_cast<std::ptrdiff_t>(node->moves));
  }
  result.piece.insert(result.piece.end(), winner.moves.moves.begin(),
                      winner.moves.moves.begin() + static_cast<std::ptrdiff_t>(winner.moves.count));
  return result;
}

BeamResult Beam::run() {
  BeamState start;
  start.left = top_;
  start.live = 1;
  start.slot(0).position = 1;
  start.on_disk.set(0, interval_.has_previous);
  start.on_disk.set(1, !interval_.first_sweep);
  stage(1).push_back(start);
  std::vector<BeamState> best;
  for (std::int32_t left = top_; left > 1; --left) {
    for (std::int32_t live = -1; live < left; ++live) {
      if (live == 0 || stage(live).empty()) continue;
      keep_the_best(stage(live), best);
      for (const BeamState& state : best) expand(state);
    }
    stage(-1).swap(next_);
    next_.clear();
  }
  return finish(stage(-1));
}

}  // namespace

BeamResult beam_search(const BeamInterval& interval, std::int64_t slots, const OverlapTimes& times,
                       const AdvanceTable& advances, const BeamOptions& options) {
  return Beam(interval, slots, times, advances, options).run();
}

}  // namespace anadrome::schedule
