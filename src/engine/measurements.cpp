#include "engine/measurements.h"

#include <algorithm>

namespace anadrome::engine {

double Measurements::add_copy(double seconds) {
  copy_.add(seconds, 1);
  return copy_sampler_.stands_for(seconds);
}

void Measurements::finish_step_tables(Ranks& ranks) {
  for (StepTable* table : {&step_costs_, &adjoint_costs_, &state_bytes_}) {
    if (table->measuring()) table->finish(ranks);
  }
}

void Measurements::bring(Agreement::Input& input, const store::DiskTier* tier) const {
  AgreedTimes mine;
  mine.forward = forward_.seconds();
  mine.adjoint = adjoint_.seconds();
  if (tier != nullptr) {
    const store::Tier::Cost cost = tier->cost();
    mine.write = cost.write;
    mine.read = cost.read;
    // No more than the I/O thread computes: what else keeps the caller waiting is not its doing.
    const auto taken = [this](const store::Meter& start, const store::Meter& processor) {
      return cores_are_busy_ ? processor.seconds() : std::min(start.seconds(), processor.seconds());
    };
    mine.write_taken = taken(transfers_.write_start, transfers_.write_processor);
    mine.read_taken = taken(transfers_.read_start, transfers_.read_processor);
    // Whether a time is known must be known of all ranks: the smallest says so.
    if (transfers_.write.seconds() > 0) input.smallest = tier->is_writing() ? 1 : 2;
  }
  input.largest = {mine.forward, mine.adjoint,     mine.write,
                   mine.read,    mine.write_taken, mine.read_taken};
}

void Measurements::take(const Agreement::Output& output) {
  const auto& [forward, adjoint, write, read, write_taken, read_taken] = output.largest;
  agreed_ = {forward, adjoint, write, read, write_taken, read_taken};
  write_times_known_ = output.smallest >= 1;
  nobody_writes_ = output.smallest == 2;
}

void Measurements::begin_disk(bool cores_are_busy) {
  transfers_ = {};
  of_earlier_sweep_ = false;
  cores_are_busy_ = cores_are_busy;
}

schedule::StepCosts Measurements::costs(std::int64_t state_bytes) const {
  schedule::StepCosts costs;
  costs.forward = std::max(agreed_.forward, 1e-9);
  constexpr double kAdjointPerForward = 2;  // until an adjoint step was measured
  costs.adjoint = agreed_.adjoint > 0 ? agreed_.adjoint : kAdjointPerForward * costs.forward;
  costs.write = agreed_.write;
  if (!write_times_known_) {  // no write is done yet
    constexpr double kGuessedBytesPerSecond = 1e9;
    const double guess = static_cast<double>(state_bytes) / kGuessedBytesPerSecond;
    costs.write = std::max(guess, agreed_.write);
  }
  costs.read = agreed_.read > 0 ? agreed_.read : costs.write;
  costs.write_taken = agreed_.write_taken;
  costs.read_taken = agreed_.read_taken > 0 ? agreed_.read_taken : agreed_.write_taken;
  return costs;
}

}  // namespace anadrome::engine
