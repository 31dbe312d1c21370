#include "engine/why.h"

#include <algorithm>
#include <cstdio>

#include "base/byte_size.h"
#include "schedule/mixed.h"
#include "schedule/revolve.h"

namespace anadrome::engine {
namespace {

// Copies of one step, forward and reverse: each adjoint step begins with a restored state; states
// between anchors are kept once more.
double copies_per_step(const SweepCosts& costs) {
  if (!costs.disk) return 2;
  const double anchors = 1 / static_cast<double>(costs.plan.interval);
  return 1 + anchors + (costs.plan.interval > 1 && costs.plan.slots > 1 ? 1 - anchors : 0);
}

// Per step, what transfers cost beside the computation.
double stalls_forward(const SweepCosts& costs) {
  if (!costs.disk) return 0;
  const double steps = static_cast<double>(costs.plan.interval);
  const double write = costs.step.write / steps, taken = costs.step.write_taken / steps;
  return costs.memory.overlaps ? std::max(write - costs.step.forward, taken) : write;
}

double stalls_reverse(const SweepCosts& costs) {
  if (!costs.disk) return 0;
  const double steps = static_cast<double>(costs.plan.interval);
  if (!costs.memory.overlaps || costs.plan.prefetch_depth == 0) return costs.step.read / steps;
  const double advances = static_cast<double>(schedule::advances_from_anchor(
      costs.plan.interval, costs.plan.slots, costs.memory.tape_units));
  const double computing = advances * costs.step.forward + steps * costs.step.adjoint;
  return std::max(costs.step.read - computing, costs.step.read_taken) / steps;
}

double agreements_per_step(const SweepCosts& costs) {
  if (!costs.disk) return 0;
  return 2 / static_cast<double>(costs.plan.interval * costs.memory.states_per_block);
}

// A sweep of the kind that was run, in `memory` and with other times of transfers.
double modelled_seconds(const SweepCosts& costs, double memory_factor, double disk_factor) {
  const double n = static_cast<double>(costs.steps);
  if (!costs.disk) {
    const auto slots =
        static_cast<std::int64_t>(static_cast<double>(costs.plan.slots) * memory_factor);
    const double advances =
        costs.memory.tape_units > 0
            ? n + static_cast<double>(
                      schedule::mixed_advances(costs.steps, slots, costs.memory.tape_units, false))
            : static_cast<double>(schedule::extra_advances(costs.steps + 1, slots));
    return advances * costs.step.forward + n * costs.step.adjoint;
  }
  schedule::StepCosts step = costs.step;
  step.write /= disk_factor;
  step.read /= disk_factor;
  schedule::SharedMemory memory = costs.memory;
  memory.blocks = static_cast<std::int64_t>(static_cast<double>(memory.blocks) * memory_factor);
  if (memory.slots(0) >= costs.steps) return n * (step.forward + step.adjoint);
  return n * schedule::best_plan(step, memory, 1, std::max<std::int64_t>(costs.steps, 1))
                 .seconds_per_step;
}

std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %%", part < 0.0995 ? 1 : 0, 100 * part);
  return text;
}

}  // namespace

double predict_seconds(const SweepCosts& costs, const SweepProgress& progress) {
  const double n = static_cast<double>(costs.steps);
  const double forward_left = static_cast<double>(costs.steps - progress.forward_steps);
  return progress.seconds + static_cast<double>(progress.advances_to_come) * costs.step.forward +
         n * costs.step.adjoint + forward_left * stalls_forward(costs) +
         n * (stalls_reverse(costs) + copies_per_step(costs) * costs.copy +
              agreements_per_step(costs) * costs.agreement);
}

std::string explain(const SweepCosts& costs, const SweepTimes& times) {
  const double n = static_cast<double>(costs.steps);
  const double ideal = n * (costs.step.forward + costs.step.adjoint);
  if (costs.steps == 0 || ideal <= 0 || times.total <= 0) return "";
  if (!costs.modelled) {
    return format_seconds(times.total) + ", and its steps alone, each taken once, " +
           format_seconds(ideal);
  }
  const double now = modelled_seconds(costs, 1, 1);
  const double memory_gain = 1 - modelled_seconds(costs, 2, 1) / now;
  const double disk_gain = costs.disk ? 1 - modelled_seconds(costs, 1, 2) / now : 0;
  const double recomputing = now / ideal - 1;
  const double stalled = times.stalled / times.total;
  constexpr double kLittle = 0.03;

  const char* bound = "the solver";
  if (recomputing > kLittle || stalled > kLittle) {
    bound = costs.disk && disk_gain >= memory_gain ? "the disk" : "memory";
    const bool nothing_gains = std::max(disk_gain, memory_gain) < kLittle;
    if (nothing_gains && costs.step.write_taken > 0) {
      bound = "the processors, which transfers take from the solver";
    }
  }
  std::string text = std::string("bound by ") + bound + ": " + format_seconds(times.total) +
                     ", and its steps alone, each taken once, " + format_seconds(ideal);
  const auto add_knob = [&](const std::string& knob, double gain) {
    text += "; " + knob + (gain < 0.005 ? " gains nothing" : " gains about " + percent(gain));
  };
  add_knob("twice the memory", memory_gain);
  if (costs.disk) add_knob("a disk twice as fast", disk_gain);
  if (costs.disk && !costs.memory.overlaps) {
    SweepCosts overlapped = costs;
    overlapped.memory.overlaps = true;
    add_knob("transport=direct", 1 - modelled_seconds(overlapped, 1, 1) / now);
  }
  // Small states would be copied all the same.
  const bool large = costs.memory.states_per_block == 1;
  if (large && times.copying > kLittle * times.total) {
    add_knob("exchanged fields instead of copies", times.copying / times.total);
  }
  return text;
}

}  // namespace anadrome::engine
