// SPDX-License-Identifier: BSD-2-Clause
// What Enzyme makes of a checkpointed loop, by the documentation of its checkpoint.h: a forward
// sweep up to the first turn, and a reverse sweep. Steps and their adjoints are written by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "api/c/enzyme_table.h"

namespace anadrome::test {

/// u <- u + 0.01 u (1 - u) + 1e-4 i, and a counter that is part of the state.
struct Model {
  std::vector<double> u, adjoint;
  std::int64_t counter = 0, forward = 0, turns = 0;

  explicit Model(std::size_t size) : u(size), adjoint(size) {
    for (std::size_t i = 0; i < size; ++i)
      u[i] = static_cast<double>(i) / static_cast<double>(size);
  }
  virtual ~Model() = default;
  virtual void step(std::int64_t i) {
    for (double& value : u) value += 0.01 * value * (1 - value) + 1e-4 * static_cast<double>(i);
    ++counter;
  }
  /// A step and its adjoint, as a turn is.
  virtual void reverse(std::int64_t i) {
    for (std::size_t j = 0; j < u.size(); ++j) adjoint[j] *= 1 + 0.01 * (1 - 2 * u[j]);
    step(i);
    ++turns;
  }
  virtual std::vector<EnzymeCkptRegion> regions(std::uint32_t space = 0) {
    return {{u.data(), sizeof(double) * u.size(), space, 0}, {&counter, sizeof counter, 0, 0}};
  }
};

/// Faults of the scheme are counted: an action whose state is not the one that it names.
class Driver {
 public:
  Driver(const EnzymeCheckpointScheme& scheme, Model& model) : scheme_(scheme), model_(model) {}

  void run(void* data, std::int64_t steps, bool known) {
    std::uint64_t bytes = 0;
    for (const EnzymeCkptRegion& region : model_.regions()) bytes += region.bytes;
    state_ = scheme_.init(data, known ? steps : -1, bytes);
    steps_ = steps;
    std::int64_t last = -1;
    for (EnzymeCkptAction action = next(); action.flag != ENZYME_CKPT_DONE; action = next()) {
      if (action.flag == ENZYME_CKPT_FIRSTUTURN) {
        last = action.iteration - 1;
        expect(last == steps - 1 && model_.counter == last);
        store(-2, last);
        model_.step(last);
        break;
      }
      carry_out(action, !known);
    }
    expect(model_.counter == steps);
    model_.adjoint = model_.u;  // J = u^2 / 2
    store(-1, steps);
    if (last >= 0) {
      restore(-2, last);
      model_.reverse(last);
      left_ = last;
      for (EnzymeCkptAction action = next(); action.flag != ENZYME_CKPT_DONE; action = next())
        carry_out(action, false);
    }
    expect(left_ <= 0);
    restore(-1, steps);
    expect(model_.counter == steps);
    scheme_.finalize(state_);
  }
  int faults() const { return faults_; }
  std::int64_t forward_steps() const { return forward_; }

 private:
  EnzymeCkptAction next() {
    EnzymeCkptAction action{};
    scheme_.next_action(state_, &action);
    return action;
  }
  void expect(bool holds) { faults_ += holds ? 0 : 1; }
  void store(std::int64_t slot, std::int64_t step) {
    const auto regions = model_.regions();
    scheme_.store(state_, slot, step, regions.data(), regions.size());
  }
  void restore(std::int64_t slot, std::int64_t step) {
    const auto regions = model_.regions();
    scheme_.restore(state_, slot, step, regions.data(), regions.size());
  }
  void carry_out(const EnzymeCkptAction& action, bool may_end) {
    switch (action.flag) {
      case ENZYME_CKPT_STORE:
        expect(action.iteration == model_.counter);
        held_[action.cpnum] = action.iteration;
        store(action.cpnum, action.iteration);
        break;
      case ENZYME_CKPT_RESTORE:
        expect(held_.count(action.cpnum) > 0 && held_[action.cpnum] == action.iteration);
        restore(action.cpnum, action.iteration);
        expect(model_.counter == action.iteration);
        break;
      case ENZYME_CKPT_FORWARD:
        expect(model_.counter == action.startiteration && action.startiteration < action.iteration);
        for (std::int64_t i = action.startiteration; i < action.iteration; ++i) {
          model_.step(i);
          ++forward_;
          if (may_end && i == steps_ - 1) return scheme_.set_nsteps(state_, steps_);
        }
        break;
      case ENZYME_CKPT_UTURN:
        expect(action.iteration == left_ && model_.counter == left_ - 1);
        model_.reverse(--left_);
        break;
      default:
        expect(false);
    }
  }

  const EnzymeCheckpointScheme& scheme_;
  Model& model_;
  void* state_ = nullptr;
  std::int64_t steps_ = 0, left_ = 0, forward_ = 0;
  std::map<std::int64_t, std::int64_t> held_;
  int faults_ = 0;
};

}  // namespace anadrome::test
