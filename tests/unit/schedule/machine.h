// SPDX-License-Identifier: BSD-2-Clause
// A machine for schedule=async, in numbers: a solver, a disk beside it that slows its steps, and
// other programs that take the processor or the disk now and then. The planner is the real one; it
// sees what the engine would have measured. As there, the newest anchors stay in memory as long as
// nothing else needs it, and need no read, nor a write that has not begun.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <numbers>
#include <random>
#include <utility>
#include <variant>

#include "schedule/anchored/async_planner.h"
#include "schedule/stack/stack_sweep.h"
#include "store/memory/meter.h"

namespace anadrome::schedule {

struct MachineSpeed {
  const char* name = "";
  double forward = 0, adjoint = 0, copy = 0;  ///< seconds
  double write = 0, write_slows = 0;          ///< of a state; by so much it makes the steps longer
  double read = 0, read_slows = 0;
  std::int64_t steps = 0;
  std::int64_t blocks = 8;
};

/// Other programs on the machine.
struct Disturbance {
  const char* name = "";
  double spread = 0;                                    ///< of each step and each transfer
  double interruptions = 0, shortest = 0, longest = 0;  ///< per second, and how long
  double stalls = 0;  ///< share of the writes that let the solver wait for its processor once
  double solver_burst = 1, disk_burst = 1;  ///< so much slower for one second of three
  double cold = 1;  ///< so much slower are the first steps, which touch memory for the first time
};

class Machine {
 public:
  Machine(const MachineSpeed& speed, const Disturbance& others, unsigned seed)
      : speed_(speed), others_(others), random_(seed) {
    phase_ = 3 * uniform();
    await_interruption();
  }

  /// Seconds of a sweep with this interval; 0: as the planner finds it.
  double sweep(std::int64_t interval, IntervalTimes& times);
  /// Seconds of Revolve alone in the same memory.
  double revolve();
  /// The step from which on intervals were of one step; -1: never.
  std::int64_t one_from() const { return one_from_; }

 private:
  double uniform() { return std::uniform_real_distribution<>(0, 1)(random_); }
  double varied() { return std::exp(others_.spread * std::normal_distribution<>()(random_)); }
  void await_interruption() {
    interruption_ =
        others_.interruptions > 0 ? now_ - std::log(1 - uniform()) / others_.interruptions : 1e300;
  }
  bool burst() const { return std::fmod(now_ + phase_, 3) < 1; }
  void pass(double seconds);
  void compute(double seconds);
  void begin_transfer(double seconds, double slows);
  void put();
  void load(std::int64_t number);
  void hold_in_ram(std::int64_t more);
  void read_ahead();
  void read(std::int64_t number);

  static constexpr std::int64_t kColdSteps = 16;
  MachineSpeed speed_;
  Disturbance others_;
  std::mt19937_64 random_;
  double now_ = 0, waited_ = 0, phase_ = 0, interruption_ = 0;
  double left_ = 0, whole_ = 1, slows_ = 0, began_ = 0;  ///< the transfer under way
  bool writes_ = false;
  std::int64_t queued_ = 0;              ///< writes, the one under way included
  std::int64_t anchors_ = 0, held_ = 0;  ///< all of them; the newest, which are in memory
  std::int64_t in_ram_ = 0;              ///< other states in memory
  std::int64_t read_ = -1;               ///< the anchor that is being read, or was
  std::int64_t ahead_ = 1;               ///< blocks that others are read to
  store::RecentMedian write_;
  store::Meter forward_, copy_;
  double fastest_ = 1e300;
  std::int64_t one_from_ = -1;
  bool turned_ = false;
};

inline void Machine::begin_transfer(double seconds, double slows) {
  whole_ = left_ = seconds * varied() * (burst() ? others_.disk_burst : 1);
  slows_ = slows / seconds;
  began_ = now_;
  if (writes_ && uniform() < others_.stalls)
    interruption_ = std::min(interruption_, now_ + uniform() * left_);
}

inline void Machine::pass(double seconds) {
  while (left_ > 0 && seconds > 0) {
    const double passed = std::min(seconds, left_);
    left_ -= passed;
    seconds -= passed;
    now_ += passed;
    if (left_ > 1e-15) continue;
    left_ = 0;
    if (!std::exchange(writes_, false)) continue;
    write_.add(now_ - began_, 1);
    if (--queued_ > 0) {
      writes_ = true;
      begin_transfer(speed_.write, speed_.write_slows);
    } else {
      read_ahead();
    }
  }
  now_ += seconds;
}

inline void Machine::compute(double seconds) {
  double work = seconds * varied() * (burst() ? others_.solver_burst : 1);
  while (work > 1e-15) {
    const double rate = left_ > 0 ? std::max(0.05, 1 - slows_) : 1;
    double passes = left_ > 0 ? std::min(work / rate, left_) : work / rate;
    const bool interrupted = now_ + passes >= interruption_;
    if (interrupted) passes = std::max(0.0, interruption_ - now_);
    work -= passes * rate;
    pass(passes);
    if (!interrupted) continue;
    pass(others_.shortest + (others_.longest - others_.shortest) * uniform());
    await_interruption();
  }
}

inline void Machine::put() {
  const double began = now_;
  while (queued_ >= speed_.blocks - 1) pass(left_);
  waited_ += now_ - began;
  const double copies = now_;
  compute(speed_.copy);
  copy_.add(now_ - copies, 1);
  ++anchors_;
  ++held_;
  hold_in_ram(0);
  if (++queued_ > 1) return;
  writes_ = true;
  begin_transfer(speed_.write, speed_.write_slows);
}

inline void Machine::hold_in_ram(std::int64_t more) {
  in_ram_ += more;
  held_ = std::min(held_, std::max<std::int64_t>(speed_.blocks - ahead_ - in_ram_, 0));
}

// The newest one that is not in memory, while the steps above it are reversed.
inline void Machine::read_ahead() {
  const std::int64_t next = anchors_ - held_ - 1;
  if (turned_ && ahead_ > 0) read(next);
}

inline void Machine::read(std::int64_t number) {
  if (left_ > 0 || number < 0 || read_ == number) return;
  read_ = number;
  begin_transfer(speed_.read, speed_.read_slows);
}

inline void Machine::load(std::int64_t number) {
  const std::int64_t above = anchors_ - 1 - number;
  held_ = std::max<std::int64_t>(held_ - above, 0);
  anchors_ -= above;
  if (queued_ > 0) queued_ = std::max<std::int64_t>(queued_ - above, 1);
  while (held_ == 0 && (read_ != number || left_ > 0)) {
    if (left_ > 0) {
      pass(left_);
    } else {
      read(number);
    }
  }
  held_ = std::max<std::int64_t>(held_, 1);  // until the steps above it are reversed
  read_ahead();
  compute(speed_.copy);
}

inline double Machine::sweep(std::int64_t interval, IntervalTimes& times) {
  now_ = waited_ = left_ = 0;
  queued_ = anchors_ = held_ = in_ram_ = 0;
  read_ = -1;
  ahead_ = 1;
  turned_ = writes_ = false;
  await_interruption();
  AsyncOptions options;
  options.memory.blocks = speed_.blocks;
  options.prefetch_depth = 1;
  options.anchored.steps = speed_.steps;
  options.anchored.slots = options.memory.slots(1);
  options.anchored.most_slots = options.memory.slots(0);
  options.anchored.interval = interval;
  StackOptions stack;
  stack.steps = speed_.steps;
  stack.units = options.anchored.most_slots - 1;
  stack.disk_slots = kNoLimit;
  stack.anchors_stay = true;
  stack.x_0 = Place::kDisk;
  StackSweep sweep(stack, std::make_unique<AsyncPlanner>(options));
  Measured measured;
  measured.times = &times;
  measured.of_earlier_sweep = times.pieces() > 0;
  std::int64_t live = 0, anchors = 0, began_at = -1;
  double began = 0, waited = 0, elapsed_now = 0, waited_now = 0;
  const auto agree = [&] {
    ++measured.agreement;
    elapsed_now = now_;
    waited_now = waited_;
    measured.write_times_known = measured.write_times_known || write_.seconds() > 0;
    StepCosts costs;
    costs.forward = forward_.seconds();
    costs.adjoint = 2 * costs.forward;
    costs.write = costs.read =
        write_.seconds() > 0 ? write_.seconds() : std::max(8e-3, now_ - began_);
    times.fastest_step_is(fastest_);
    measured.costs = times.costs(times.newest(), costs);
  };
  for (;;) {
    const Action action = sweep.next();
    if (std::holds_alternative<Done>(action)) break;
    if (const auto* advance = std::get_if<Advance>(&action)) {
      for (std::int64_t k = advance->first; k < advance->last; ++k) {
        const double step = now_;
        compute(speed_.forward * (advance->again || turned_ ? 1
                                  : k == 0                  ? 10
                                  : k < kColdSteps          ? others_.cold
                                                            : 1));
        if (!advance->again) forward_.add(now_ - step, 1);
        fastest_ = std::min(fastest_, now_ - step);
      }
      live = advance->last;
    } else if (const auto* kept = std::get_if<Keep>(&action)) {
      if (kept->tier == kRamTier) {
        hold_in_ram(1);
        compute(speed_.copy);
        continue;
      }
      put();
      agree();
      if (anchors++ < 1) continue;
      if (began_at >= 0)
        times.add(static_cast<double>(live - began_at), 1,
                  elapsed_now - began - (copy_.samples() < 4 ? 0 : copy_.seconds()),
                  waited_now - waited);
      began_at = live;
      began = elapsed_now;
      waited = waited_now;
    } else if (std::holds_alternative<Decide>(action)) {
      while (sweep.decide(measured) == Next::kAgree) agree();
      if (sweep.course().interval == 1 && one_from_ < 0) one_from_ = live;
    } else if (const auto* restored = std::get_if<Restore>(&action)) {
      if (restored->tier == kRamTier) {
        compute(speed_.copy);
      } else {
        load(restored->place);
      }
    } else if (std::holds_alternative<Turn>(action)) {
      turned_ = true;
      ahead_ = std::min<std::int64_t>(sweep.course().prefetch_depth, 1);
    } else if (const auto* dropped = std::get_if<Drop>(&action)) {
      if (dropped->tier == kRamTier) hold_in_ram(-1);
    } else if (std::holds_alternative<Adjoint>(action)) {
      compute(speed_.adjoint);
    }
  }
  return now_;
}

inline double Machine::revolve() {
  now_ = 0;
  await_interruption();
  const auto steps = static_cast<double>(extra_advances(speed_.steps + 1, speed_.blocks));
  const auto n = static_cast<double>(speed_.steps);
  for (double done = 0; done < n; ++done)
    compute(speed_.forward * steps / n + speed_.adjoint + 2 * speed_.copy);
  return now_;
}

}  // namespace anadrome::schedule
