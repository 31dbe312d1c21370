// SPDX-License-Identifier: BSD-2-Clause
#include "overlapped_machine.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
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

}  // namespace

double execute(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
               const OverlappedPlan& plan) {
  return Executor(steps, slots, times).run(plan);
}

}  // namespace anadrome::schedule
