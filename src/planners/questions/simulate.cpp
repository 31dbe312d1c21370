// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/simulate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <tuple>

#include "base/index.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

class Simulation {
 public:
  Simulation(const Machine& machine, const SweepSinks& sinks)
      : machine_(machine), sinks_(sinks), clock_(machine.costs, machine.disk, machine.fast) {}

  void play(const Turn&) {
    turned_ = true;
    const double before = clock_.now();
    for (int link = 0; link < (machine_.fast ? 2 : 1); ++link) clock_.turn(link);
    tell_wait(before, run_before_);
    const bool two = machine_.fast.has_value();
    for (std::size_t link = 0; link < freed_.size(); ++link) {
      const std::int64_t ahead = two && link == 0 ? 1 : machine_.disk.reads_ahead;
      freed_[link].assign(size(std::max<std::int64_t>(ahead, 1)), clock_.now());
    }
  }

  // Steps that were not run before, then those that were: an advance may be both.
  void play(const Advance& run) {
    const std::int64_t again = std::clamp(run_before_, run.first, run.last);
    solve(Doing::kRecompute, run.first, again);
    solve(Doing::kAdvance, again, run.last);
    run_before_ = std::max(run_before_, run.last);
  }

  void play(const Adjoint& adjoint) {
    if (!turned_) play(Turn{});
    if (adjoint.step == machine_.turn_step) return;
    pass(Doing::kAdjoint, machine_.costs.adjoint, adjoint.step + 1, adjoint.step);
  }

  void play(const Keep& kept) {
    wait(busy_.free_at(kept.room, clock_.now()), kept.step);
    hold(kept, clock_.now());
    if (!goes_to_disk(kept)) return;
    const double taken = overlaps() ? machine_.costs.write_taken : 0;
    const double before = clock_.now() + taken;
    const int link = clock_.link_of_next(kept.step);
    if (machine_.fast) links_[kept.place] = link;
    clock_.write(link);
    tell_transfer(Doing::kWrite, kept.step, before, link);
    if (machine_.fast && kept.step == 0) clock_.transfer(machine_.costs.write, clock_.link_free(1));
    if (!overlaps()) return;
    stay_.push_back(kept.place);
    if (std::ssize(stay_) > machine_.newest_stay) stay_.pop_front();
    loaded_ = machine_.newest_stay > 0 ? kept.place : -1;
    sinks_.held({kRamTier, 0, 1, clock_.now(), clock_.link_free(link)});
  }

  void play(const Restore& kept) {
    if (!goes_to_disk(kept)) {
      const auto held = held_.find(place_of(kept));
      return held == held_.end() ? void() : wait(held->second.there, kept.step);
    }
    if (overlaps() && loaded_ == kept.place) return;  // its block is still in memory
    const double before = clock_.now();
    const int link = machine_.fast ? links_[kept.place] : 0;
    std::deque<double>& freed = freed_[at(link)];
    if (freed.empty()) freed.push_back(0);
    const bool stays = overlaps() && std::erase(stay_, kept.place) > 0;
    if (!stays) {
      clock_.read(freed.front(), link);
      tell_transfer(Doing::kRead, kept.step, before, link);
    }
    loaded_ = kept.place;
    freed.pop_front();
    freed.push_back(clock_.now());
    if (overlaps()) held_[kBlock].since = clock_.now();
  }

  void play(const Drop& kept) {
    if (goes_to_disk(kept)) std::erase(stay_, kept.place);
    drop(place_of(kept), kept.room);
  }

  void play(const Write& kept) {
    InMemory& state = held_[place_of(kept)];
    const double from = std::max(clock_.now(), state.there);
    state.written = clock_.transfer(machine_.costs.write, from);
    tell_transfer(Doing::kWrite, kept.step);
  }

  void play(const Read& kept) {
    const double from = busy_.free_at(kept.room, clock_.now());
    hold(kept, clock_.transfer(machine_.costs.read, from));
    tell_transfer(Doing::kRead, kept.step);
  }

  template <class Other>
  void play(const Other&) {}

  double finish() {
    while (!held_.empty()) drop(held_.begin()->first, {});
    return clock_.now();
  }

 private:
  using Place = std::tuple<What, std::int32_t, std::int64_t>;  ///< tier and slot
  static constexpr Place kBlock = {What::kState, kRamTier, 0};

  struct InMemory {
    double since = 0, there = 0, written = 0;  ///< taken; read; free to be given up
  };

  static Place place_of(const Kept& kept) { return {kept.what, kept.tier, kept.place}; }
  bool goes_to_disk(const Kept& kept) const {
    return kept.tier == kDiskTier && !machine_.transfers;
  }
  bool overlaps() const { return machine_.disk.overlaps; }

  void solve(Doing doing, std::int64_t first, std::int64_t last) {
    if (first == last) return;
    pass(doing, real(last - first) * machine_.costs.forward, first, last);
  }

  void pass(Doing doing, double seconds, std::int64_t first, std::int64_t last) {
    const double start = clock_.now();
    clock_.compute(seconds);
    sinks_.span({doing, start, clock_.now(), first, last});
  }

  void tell_wait(double since, std::int64_t step) {
    if (clock_.now() > since) sinks_.span({Doing::kWait, since, clock_.now(), step, step});
  }

  void tell_transfer(Doing doing, std::int64_t step, int link = 0) {
    const bool writes = doing == Doing::kWrite;
    const double seconds = writes ? clock_.write_seconds(link) : clock_.read_seconds(link);
    const double end = clock_.link_free(link);
    sinks_.span({doing, end - seconds, end, step, step, link});
  }

  void tell_transfer(Doing doing, std::int64_t step, double waits_since, int link) {
    tell_wait(waits_since, step);
    tell_transfer(doing, step, link);
  }

  void wait(double until, std::int64_t step) {
    const double before = clock_.now();
    clock_.wait(until);
    tell_wait(before, step);
  }

  void hold(const Kept& kept, double there) {
    held_[place_of(kept)] = {clock_.now(), there, there};
  }

  void drop(Place place, const Room& room) {
    const auto held = held_.find(place);
    if (held == held_.end()) return;
    const auto [what, tier, slot] = place;
    const double end = std::max({clock_.now(), held->second.there, held->second.written});
    if (end > clock_.now()) busy_.add(room, end);
    const std::int64_t slots = what == What::kTape ? machine_.tape_slots : 1;
    sinks_.held({tier, slot, slots, held->second.since, end});
    held_.erase(held);
    if (overlaps() && tier == kDiskTier && slot == loaded_) drop(kBlock, {});
  }

  const Machine& machine_;
  const SweepSinks& sinks_;
  DiskClock clock_;
  bool turned_ = false;
  /// By each link: when memory became free, of each state that may be read ahead.
  std::array<std::deque<double>, 2> freed_;
  std::deque<std::int64_t> stay_;      ///< places of the newest states, which are in memory
  std::map<std::int64_t, int> links_;  ///< of the states on disk, where there are two
  std::int64_t run_before_ = 0, loaded_ = -1;
  std::map<Place, InMemory> held_;
  BusyRooms<double> busy_;
};

}  // namespace

double simulate(const std::function<Action()>& next, const Machine& machine,
                const SweepSinks& sinks) {
  Simulation simulation(machine, sinks);
  for (Action action = next(); !std::holds_alternative<Done>(action); action = next()) {
    std::visit([&](const auto& one) { simulation.play(one); }, action);
  }
  return simulation.finish();
}

}  // namespace anadrome::questions
