// SPDX-License-Identifier: BSD-2-Clause
#include "modular_model.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "coupled_model.h"

namespace anadrome::test {
namespace {

std::uint64_t hash(std::uint64_t seed, const std::vector<std::uint64_t>& words) {
  for (const std::uint64_t word : words) seed = mix(seed ^ word);
  return seed;
}

// x' = (1 + p) x + c x^2 + 2 s, with p even: the derivative 1 + p + 2 c x is odd, so it has an
// inverse modulo 2^64 and every bit that goes in comes out.
std::uint64_t parameter(std::size_t i) { return 4 + 2 * i; }
std::uint64_t coefficient(std::int64_t step) { return mix(static_cast<std::uint64_t>(step)); }

}  // namespace

ModularModel::ModularModel(MPI_Comm comm, const ModelShape& shape)
    : comm_(comm),
      shape_(shape),
      state_(shape.words * shape.fields),
      lambda_(state_.size()),
      by_parameter_(state_.size()) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
}

anadrome_status ModularModel::add_fields(anadrome_run* run) {
  anadrome_status worst = ANADROME_OK;
  places_.clear();
  for (std::size_t f = 0; f < shape_.fields; ++f) {
    const std::string name = "x" + std::to_string(f);
    std::uint64_t* values = state_.data() + f * shape_.words;
    anadrome_status status = ANADROME_OK;
    if (shape_.registered == Registered::kExchanged) {
      int place = -1;
      status = anadrome_add_exchanged(run, name.c_str(), ANADROME_ROLE_STATE, ANADROME_INT64,
                                      shape_.words, &place);
      places_.push_back(place);
    } else if (shape_.registered == Registered::kPacked && f == 0) {
      status = anadrome_add_packed(run, name.c_str(), ANADROME_ROLE_STATE,
                                   shape_.words * sizeof(std::uint64_t), &ModularModel::pack,
                                   &ModularModel::unpack, this);
    } else {
      status = anadrome_add_field(run, name.c_str(), ANADROME_ROLE_STATE, ANADROME_INT64, values,
                                  shape_.words);
    }
    worst = std::max(worst, status);
  }
  if (shape_.adjoint_fields) {
    worst = std::max(worst, anadrome_add_field(run, "lambda", ANADROME_ROLE_ADJOINT, ANADROME_INT64,
                                               lambda_.data(), lambda_.size()));
    worst = std::max(worst,
                     anadrome_add_field(run, "by_parameter", ANADROME_ROLE_ADJOINT, ANADROME_INT64,
                                        by_parameter_.data(), by_parameter_.size()));
  }
  return worst;
}

// The packed form differs from the array, so that a plain copy would show.
int ModularModel::pack(void* context, void* buffer, std::size_t bytes) {
  auto& model = *static_cast<ModularModel*>(context);
  if (bytes != model.shape_.words * sizeof(std::uint64_t)) return -1;
  for (std::size_t i = 0; i < model.shape_.words; ++i) {
    const std::uint64_t word = ~model.state_[i];
    std::memcpy(static_cast<char*>(buffer) + i * sizeof word, &word, sizeof word);
  }
  return model.pack_returns;
}

int ModularModel::unpack(void* context, const void* buffer, std::size_t bytes) {
  auto& model = *static_cast<ModularModel*>(context);
  if (bytes != model.shape_.words * sizeof(std::uint64_t)) return -1;
  for (std::size_t i = 0; i < model.shape_.words; ++i) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const char*>(buffer) + i * sizeof word, sizeof word);
    model.state_[i] = ~word;
  }
  return model.unpack_returns;
}

bool ModularModel::take_now(anadrome_run* run) {
  for (std::size_t f = 0; f < places_.size(); ++f) {
    const void* now = anadrome_now(run, places_[f]);
    if (now == nullptr) return false;
    std::memcpy(state_.data() + f * shape_.words, now, shape_.words * sizeof(std::uint64_t));
  }
  return true;
}

bool ModularModel::put_then(anadrome_run* run) {
  for (std::size_t f = 0; f < places_.size(); ++f) {
    void* then = anadrome_then(run, places_[f]);
    if (then == nullptr) return false;
    std::memcpy(then, state_.data() + f * shape_.words, shape_.words * sizeof(std::uint64_t));
  }
  return true;
}

void ModularModel::start() {
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_[i] = mix(static_cast<std::uint64_t>(rank_) * 0x10001U + i);
    if (shape_.sparse && i % 8 != 1) state_[i] = 0;
  }
  clear_adjoint();
}

void ModularModel::clear_adjoint() {
  std::fill(lambda_.begin(), lambda_.end(), 0);
  std::fill(by_parameter_.begin(), by_parameter_.end(), 0);
}

std::uint64_t ModularModel::sum_over_ranks(std::uint64_t value) const {
  if (ranks_ > 1 && shape_.coupled)
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, comm_);
  return value;
}

void ModularModel::step(std::int64_t step) {
  const std::uint64_t c = coefficient(step), s = sum_over_ranks(state_[0]);
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_[i] = (1 + parameter(i)) * state_[i] + c * state_[i] * state_[i] + 2 * s;
  }
}

// Off by up to 3 in some words, in three steps of four, and by as much as x_{step+1} was.
void ModularModel::undo(std::int64_t step) {
  const auto k = static_cast<std::size_t>(step);
  const std::uint64_t off = mix(sum_over_ranks(state_[0]) ^ k);
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_[i] += states_[k][i] - states_[k + 1][i];
    if (const std::uint64_t bits = mix(off + i); off % 4 != 0 && bits % 2 == 0)
      state_[i] += (bits >> 32) % 7 - 3;
  }
}

void ModularModel::turn() {  // J = sum of x_n + x_n^2
  for (std::size_t i = 0; i < state_.size(); ++i) lambda_[i] = 1 + 2 * state_[i];
}

// On entry the state is x_step.
void ModularModel::adjoint(std::int64_t step) {
  const std::uint64_t c = coefficient(step);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    sum += lambda_[i];
    by_parameter_[i] += lambda_[i] * state_[i];
    lambda_[i] *= 1 + parameter(i) + 2 * c * state_[i];
  }
  lambda_[0] += 2 * sum_over_ranks(sum);
}

bool ModularModel::act(anadrome_run* run, const anadrome_action& action) {
  if (!take_now(run)) return false;
  switch (action.kind) {
    case ANADROME_ADVANCE:
      for (std::int64_t k = action.first; k < action.last; ++k) step(k);
      return put_then(run);
    case ANADROME_RETREAT:
      undo(action.first);
      return true;
    case ANADROME_TURN:
      turn();
      break;
    case ANADROME_ADJOINT:
      adjoint(action.first);
      if (action.again != 0) ++lambda_[0];  // a probe's trial must not show in the gradient
      break;
    case ANADROME_DONE:
      return true;
    default:
      return false;
  }
  // A state that the library does not bring back must not be right by chance.
  if (places_.empty()) std::fill(state_.begin(), state_.end(), 0x5c5c5c5c5c5c5c5cU);
  return true;
}

std::uint64_t ModularModel::gradient_with_every_state_kept(std::int64_t steps) {
  start();
  states_ = {state_};
  for (std::int64_t k = 0; k < steps; ++k) {
    step(k);
    states_.push_back(state_);
  }
  turn();
  for (std::int64_t k = steps - 1; k >= 0; --k) {
    state_ = states_[static_cast<std::size_t>(k)];
    adjoint(k);
  }
  state_ = states_.front();
  return gradient();
}

std::uint64_t ModularModel::gradient() const {
  return hash(hash(hash(1, lambda_), by_parameter_), state_);
}

std::uint64_t ModularModel::state_hash() const { return hash(2, state_); }

std::vector<std::span<const std::uint64_t>> ModularModel::fields() const {
  std::vector<std::span<const std::uint64_t>> all;
  for (std::size_t f = 0; f < shape_.fields; ++f) {
    all.emplace_back(state_.data() + f * shape_.words, shape_.words);
  }
  return all;
}

SweepResult sweep(anadrome_run* run, ModularModel& model, std::int64_t steps, bool unknown) {
  SweepResult result;
  const auto failed = [&] {
    result.message = anadrome_last_error();
    return result;
  };
  model.start();
  result.status = anadrome_begin(run, unknown ? ANADROME_STEPS_UNKNOWN : steps);
  if (result.status != ANADROME_OK) return failed();
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t step = 0;
  result.status = anadrome_resumed(run, &phase, &step);
  if (result.status != ANADROME_OK) return failed();
  const bool resumed = phase != ANADROME_PHASE_IDLE;
  result.resumed = resumed;
  if (!resumed) model.put_then(run);
  anadrome_action action;
  while ((result.status = anadrome_next(run, &action)) == ANADROME_OK) {
    if (model.before_action) model.before_action(action);
    if (model.leaves) return result;
    const bool ends =
        unknown && action.kind == ANADROME_ADVANCE && action.again == 0 && action.last >= steps;
    if (ends) action.last = steps;
    result.kept_its_word = model.act(run, action) && result.kept_its_word;
    if (action.kind == ANADROME_DONE) {
      result.done = true;
      result.gradient = model.gradient();
      return result;
    }
    if (ends && (result.status = anadrome_finish_forward(run, steps)) != ANADROME_OK) break;
  }
  return failed();
}

}  // namespace anadrome::test
