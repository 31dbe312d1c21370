// SPDX-License-Identifier: BSD-2-Clause
#include "overlapped_machine.h"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

namespace anadrome::schedule {
namespace {

class Executor {
 public:
  Executor(std::int64_t steps, std::int64_t slots, const OverlapTimes& times)
      : left_(steps), slots_(static_cast<std::size_t>(std::min(steps, slots))), times_(times) {}

  double run(const OverlappedPlan& plan) {
    for (const OverlapAction& action : plan.actions) {
      play(action);
      ++played_;
    }
    require(left_ == 0, "steps are left");
    return now_;
  }

 private:
  struct Slot {
    bool held = false;
    std::int64_t step = 0;
    double there = 0, busy_until = 0;
  };

  void require(bool holds, const char* rule) const {
    if (!holds) throw std::logic_error(std::string(rule) + ", action " + std::to_string(played_));
  }
  Slot& slot(const OverlapAction& action, bool held) {
    require(action.slot >= 0 && static_cast<std::size_t>(action.slot) < slots_.size(),
            "no such slot");
    Slot& slot = slots_[static_cast<std::size_t>(action.slot)];
    require(slot.held == held, held ? "the slot is empty" : "the slot is in use");
    require(!held || slot.step == action.first, "the slot holds another state");
    return slot;
  }

  void play(const OverlapAction& action) {
    switch (action.kind) {
      case OverlapKind::kAdvance:
        require(live_ == action.first && action.last > action.first, "not live");
        require(action.last < left_, "runs beyond the next step to be adjoined");
        now_ += static_cast<double>(action.last - action.first) * times_.forward;
        live_ = action.last;
        break;
      case OverlapKind::kKeep: {
        require(live_ == action.first, "not live");
        Slot& to = slot(action, false);
        now_ = std::max(now_, to.busy_until);
        to = {true, action.first, now_, 0};
        break;
      }
      case OverlapKind::kRestore:
        now_ = std::max(now_, slot(action, true).there);
        live_ = action.first;
        break;
      case OverlapKind::kDrop: {
        Slot& dropped = slot(action, true);
        require(dropped.there <= now_, "dropped while it is being read");
        dropped.held = false;
        break;
      }
      case OverlapKind::kWrite: {
        Slot& from = slot(action, true);
        disk_free_ = std::max({now_, disk_free_, from.there}) + times_.write;
        from.busy_until = on_disk_[action.first] = disk_free_;
        break;
      }
      case OverlapKind::kRead: {
        Slot& to = slot(action, false);
        require(on_disk_.contains(action.first), "read of what was not written");
        disk_free_ =
            std::max({now_, disk_free_, to.busy_until, on_disk_[action.first]}) + times_.read;
        to = {true, action.first, disk_free_, 0};
        break;
      }
      case OverlapKind::kAdjoint:
        require(action.first == left_ - 1 && live_ == action.first, "not its turn, or not live");
        now_ += times_.adjoint;
        --left_;
        live_ = -1;
        break;
    }
  }

  std::int64_t left_, live_ = 0, played_ = 0;
  std::vector<Slot> slots_;
  std::map<std::int64_t, double> on_disk_;
  OverlapTimes times_;
  double now_ = 0, disk_free_ = 0;
};

enum Channel : unsigned { kIdle, kWriting, kReading };
enum Processor : unsigned { kFree, kAdvancing, kAdjoining };
constexpr unsigned kNothingLive = 15;

struct State {
  unsigned left, live = 0, ram = 0, disk = 0;
  unsigned channel = kIdle, moved = 0, channel_left = 0;
  unsigned processor = kFree, processor_left = 0;

  std::uint64_t key() const {
    std::uint64_t key = left;
    for (const unsigned field : {live, moved, channel_left, processor_left}) key = key * 16 + field;
    for (const unsigned field : {ram, disk}) key = key * 256 + field;
    return (key * 4 + channel) * 4 + processor;
  }
};

class Exhaustive {
 public:
  Exhaustive(unsigned slots, const WholeTimes& times, int most)
      : slots_(slots), times_(times), most_(most) {}

  int run(unsigned steps) {
    std::vector<State> now{State{steps}}, later;
    for (time_ = 0; time_ <= most_; ++time_) {
      seen_.clear();
      open_.clear();
      for (const State& state : now) {
        if (seen_.insert(state.key()).second) open_.push_back(state);
      }
      later.clear();
      while (!open_.empty()) {
        const State state = open_.back();
        open_.pop_back();
        if (state.left == 0 && state.processor == kFree) return time_;
        begin_something(state);
        later.push_back(tick(state));
      }
      now.swap(later);
    }
    throw std::logic_error("the makespan given cannot be reached");
  }

 private:
  // Adjoints, and the way to the first of them, take at least so long.
  int still_needed(const State& s) const {
    int needed = static_cast<int>(s.left) * times_.adjoint + static_cast<int>(s.processor_left);
    const unsigned live = s.live + (s.processor == kAdvancing ? 1 : 0);
    if (s.live != kNothingLive && live + 1 < s.left) needed += static_cast<int>(s.left - 1 - live);
    return needed;
  }
  void open(State state) {
    const unsigned wanted = (1U << state.left) - 1;
    const unsigned written = state.channel == kWriting ? 1U << state.moved : 0;
    state.disk &= wanted;
    state.ram &= wanted | written;
    if (time_ + still_needed(state) <= most_ && seen_.insert(state.key()).second)
      open_.push_back(state);
  }
  // All that takes no time, and all that can begin.
  void begin_something(const State& s) {
    const unsigned used =
        static_cast<unsigned>(std::popcount(s.ram)) + (s.channel == kReading ? 1 : 0);
    const bool live = s.processor == kFree && s.live != kNothingLive;
    if (live && s.live < s.left && used < slots_ && (s.ram >> s.live & 1) == 0) {
      State next = s;
      next.ram |= 1U << s.live;
      open(next);
    }
    for (unsigned p = 0; p < s.left; ++p) begin_with(s, p, used);
    if (!live || s.live >= s.left) return;
    State next = s;
    const bool adjoint = s.live + 1 == s.left;
    next.processor = adjoint ? kAdjoining : kAdvancing;
    next.processor_left = adjoint ? static_cast<unsigned>(times_.adjoint) : 1;
    if (adjoint) --next.left;
    open(next);
  }
  void begin_with(const State& s, unsigned p, unsigned used) {
    const bool in_ram = (s.ram >> p & 1) != 0, on_disk = (s.disk >> p & 1) != 0;
    if (in_ram && !(s.channel == kWriting && s.moved == p)) {
      State next = s;
      next.ram &= ~(1U << p);
      open(next);
    }
    if (in_ram && s.processor == kFree && s.live != p) {
      State next = s;
      next.live = p;
      open(next);
    }
    if (s.channel != kIdle || in_ram == on_disk || (on_disk && used >= slots_)) return;
    State next = s;
    next.channel = in_ram ? kWriting : kReading;
    next.moved = p;
    next.channel_left = static_cast<unsigned>(in_ram ? times_.write : times_.read);
    open(next);
  }
  State tick(State s) const {
    if (s.channel != kIdle && --s.channel_left == 0) {
      const unsigned moved = 1U << s.moved;
      const bool wanted = s.moved < s.left;
      if (wanted) {
        (s.channel == kWriting ? s.disk : s.ram) |= moved;
      } else if (s.channel == kWriting) {
        s.ram &= ~moved;
      }
      s.channel = kIdle;
      s.moved = 0;
    }
    if (s.processor != kFree && --s.processor_left == 0) {
      s.live = s.processor == kAdvancing ? s.live + 1 : kNothingLive;
      s.processor = kFree;
    }
    return s;
  }

  unsigned slots_;
  WholeTimes times_;
  int most_, time_ = 0;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<State> open_;
};

}  // namespace

double execute(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
               const OverlappedPlan& plan) {
  return Executor(steps, slots, times).run(plan);
}

int exhaustive_optimum(int steps, int slots, const WholeTimes& times, int most) {
  return Exhaustive(static_cast<unsigned>(slots), times, most).run(static_cast<unsigned>(steps));
}

}  // namespace anadrome::schedule
