// SPDX-License-Identifier: BSD-2-Clause
#include "device_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "fake_device.h"

namespace anadrome::test {
namespace {

using fake_device::at;

constexpr double kTimeStep = 0.125;

struct State {
  double* u;
  std::int64_t* v;
};

void first_state(std::size_t count, State x) {
  for (std::size_t i = 0; i < count; ++i) {
    x.u[i] = 0.25 + 0.5 / static_cast<double>(i + 2);
    x.v[i] = static_cast<std::int64_t>(i * i + 1);
  }
}

// Bounded and chaotic: a wrong bit does not die out.
void forward(std::size_t count, double time, const State& x, State next) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t v =
        static_cast<std::uint64_t>(x.v[i]) * 6364136223846793005U + 1442695040888963407U;
    const double nudge = static_cast<double>(v >> 40) * 0x1p-24;
    next.u[i] = 0.75 * 3.9 * x.u[i] * (1.0 - x.u[i]) + 0.25 * nudge * (time < 1e9 ? 1.0 : 0.0);
    next.v[i] = static_cast<std::int64_t>(v);
  }
}

// One of two u that lead to the same: what is missing may be large.
void undo(std::size_t count, const State& x) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto v = static_cast<std::uint64_t>(x.v[i]);
    const double nudge = static_cast<double>(v >> 40) * 0x1p-24;
    const double root = 1.0 - 4.0 * (x.u[i] - 0.25 * nudge) / (0.75 * 3.9);
    x.u[i] = 0.5 * (1.0 - std::sqrt(std::max(root, 0.0)));
    x.v[i] = static_cast<std::int64_t>((v - 1442695040888963407U) * 13877824140714322085U);
  }
}

void backward(std::size_t count, double time, const State& x, double* adjoint) {
  for (std::size_t i = 0; i < count; ++i) {
    const double slope = 0.75 * 3.9 * (1.0 - 2.0 * x.u[i]);
    adjoint[i] = 0.5 * slope * adjoint[i] + 0.1 * x.u[(i + 7) % count] + time +
                 static_cast<double>(x.v[i] % 1000) * 1e-3;
  }
}

}  // namespace

Numbers reference_gradient(std::size_t count, std::int64_t steps, bool tape) {
  std::vector<Numbers> u(static_cast<std::size_t>(steps) + 1, Numbers(count));
  std::vector<std::vector<std::int64_t>> v(u.size(), std::vector<std::int64_t>(count));
  const auto x = [&](std::int64_t k) {
    return State{u[static_cast<std::size_t>(k)].data(), v[static_cast<std::size_t>(k)].data()};
  };
  first_state(count, x(0));
  for (std::int64_t k = 0; k < steps; ++k)
    forward(count, kTimeStep * static_cast<double>(k), x(k), x(k + 1));
  Numbers adjoint = u.back();
  for (std::int64_t k = steps; k-- > 0;) {
    const double time = kTimeStep * static_cast<double>(k);
    if (!tape) {
      backward(count, time, x(k), adjoint.data());
      continue;
    }
    Numbers recorded(count);
    backward(count, time, x(k), recorded.data());
    for (std::size_t i = 0; i < count; ++i) adjoint[i] = 0.5 * adjoint[i] + recorded[i];
  }
  return adjoint;
}

DeviceModel::DeviceModel(std::size_t count, bool exchanged, bool default_stream, bool tape)
    : count_(count), exchanged_(exchanged), tape_(tape) {
  if (!default_stream) stream_ = fake_device::make_stream();
  owns_stream_ = !default_stream;
  if (count == 0) return;
  const auto numbers = [&] {
    return static_cast<double*>(fake_device::allocate(count * sizeof(double)));
  };
  adjoint_ = numbers();
  if (tape) recorded_ = numbers();
  if (exchanged) return;
  u_ = numbers();
  v_ = static_cast<std::int64_t*>(fake_device::allocate(count * sizeof(std::int64_t)));
}

DeviceModel::~DeviceModel() {
  for (void* memory : {static_cast<void*>(u_), static_cast<void*>(v_), static_cast<void*>(adjoint_),
                       static_cast<void*>(recorded_)}) {
    if (memory != nullptr) fake_device::release(memory);
  }
  if (owns_stream_) fake_device::destroy_stream(stream_);
}

std::size_t DeviceModel::bytes() const {
  const std::size_t arrays = 1 + (tape_ ? 1 : 0) + (exchanged_ ? 0 : 2);
  return arrays * count_ * sizeof(double);
}

anadrome_status DeviceModel::add_fields(anadrome_run* run) {
  anadrome_status worst = ANADROME_OK;
  const auto note = [&](anadrome_status status) { worst = std::max(worst, status); };
  const auto add = [&](const char* name, anadrome_role role, anadrome_type type, void* values) {
    note(anadrome_add_device_field(run, name, role, type, values, count_, stream_));
  };
  const auto add_exchanged = [&](const char* name, anadrome_type type, int* field) {
    note(anadrome_add_exchanged_on_device(run, name, ANADROME_ROLE_STATE, type, count_, stream_,
                                          field));
  };
  if (exchanged_) {
    add_exchanged("u", ANADROME_FLOAT64, &u_field_);
    add_exchanged("v", ANADROME_INT64, &v_field_);
  } else {
    add("u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, u_);
    add("v", ANADROME_ROLE_STATE, ANADROME_INT64, v_);
  }
  if (tape_) add("tape", ANADROME_ROLE_TAPE, ANADROME_FLOAT64, recorded_);
  note(anadrome_add_field(run, "time", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &time_, 1));
  add("adjoint", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, adjoint_);
  return worst;
}

const double* DeviceModel::u_now(anadrome_run* run) const {
  return exchanged_ ? static_cast<const double*>(anadrome_now(run, u_field_)) : u_;
}
const std::int64_t* DeviceModel::v_now(anadrome_run* run) const {
  return exchanged_ ? static_cast<const std::int64_t*>(anadrome_now(run, v_field_)) : v_;
}

void DeviceModel::start(anadrome_run* run) {
  time_ = 0;
  double* const u = exchanged_ ? static_cast<double*>(anadrome_then(run, u_field_)) : u_;
  auto* const v = exchanged_ ? static_cast<std::int64_t*>(anadrome_then(run, v_field_)) : v_;
  if (count_ > 0) fake_device::launch(stream_, [=, this] { first_state(count_, {at(u), at(v)}); });
}

void DeviceModel::step(anadrome_run* run, std::int64_t k, bool record) {
  const double time = time_;
  time_ = kTimeStep * static_cast<double>(k + 1);
  if (count_ == 0) return;
  const double* const u = u_now(run);
  const std::int64_t* const v = v_now(run);
  double* const next_u = exchanged_ ? static_cast<double*>(anadrome_then(run, u_field_)) : u_;
  auto* const next_v = exchanged_ ? static_cast<std::int64_t*>(anadrome_then(run, v_field_)) : v_;
  double* const tape = record ? recorded_ : nullptr;
  fake_device::launch(stream_, [=, this] {
    const State x = {const_cast<double*>(at(u)), const_cast<std::int64_t*>(at(v))};
    Numbers adjoint(count_);
    backward(count_, time, x, adjoint.data());
    if (tape != nullptr) std::copy(adjoint.begin(), adjoint.end(), at(tape));
    forward(count_, time, x, {at(next_u), at(next_v)});
  });
}

void DeviceModel::spoil(double* u, std::int64_t* v) {
  fake_device::launch(stream_, [=, this] {
    std::fill_n(at(u), count_, std::numeric_limits<double>::quiet_NaN());
    std::fill_n(at(v), count_, -1);
  });
}

bool DeviceModel::act(anadrome_run* run, const anadrome_action& action) {
  switch (action.kind) {
    case ANADROME_ADVANCE:
      for (std::int64_t k = action.first; k < action.last; ++k)
        step(run, k, action.record != 0 && k == action.last - 1);
      return true;
    case ANADROME_RETREAT:
      time_ = kTimeStep * static_cast<double>(action.first);
      if (count_ > 0) fake_device::launch(stream_, [this] { undo(count_, {at(u_), at(v_)}); });
      return true;
    case ANADROME_TURN: {
      const double* const u = u_now(run);
      const bool again = action.again != 0;  // then the state is not x_n
      if (count_ > 0) {
        fake_device::launch(stream_, [=, this] {
          if (!again) last_.assign(at(u), at(u) + count_);
          std::copy_n(last_.begin(), count_, at(adjoint_));
        });
      }
      break;
    }
    case ANADROME_ADJOINT: {
      const double* const u = u_now(run);
      const std::int64_t* const v = v_now(run);
      const double time = tape_ ? kTimeStep * static_cast<double>(action.first) : time_;
      if (count_ == 0) break;
      fake_device::launch(stream_, [=, this] {
        double* const adjoint = at(adjoint_);
        if (!tape_) {
          return backward(count_, time,
                          {const_cast<double*>(at(u)), const_cast<std::int64_t*>(at(v))}, adjoint);
        }
        for (std::size_t i = 0; i < count_; ++i) adjoint[i] = 0.5 * adjoint[i] + at(recorded_)[i];
      });
      break;
    }
    default:
      return false;
  }
  if (count_ > 0 && !exchanged_) spoil(u_, v_);
  time_ = -1;
  return true;
}

Numbers DeviceModel::gradient() {
  fake_device::synchronize(stream_);
  Numbers gradient(count_);
  if (count_ > 0) fake_device::read(gradient.data(), adjoint_, count_ * sizeof(double));
  return gradient;
}

void set_options(anadrome_run* run, const std::string& options) {
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    anadrome_set(run, word.substr(0, equals).c_str(), word.substr(equals + 1).c_str());
  }
}

Result play(anadrome_run* run, DeviceModel& model,
            const std::function<void(const anadrome_action&)>& before) {
  Result result;
  anadrome_action action;
  while ((result.status = anadrome_next(run, &action)) == ANADROME_OK) {
    if (before) before(action);
    if (!model.act(run, action)) break;
  }
  if (result.status != ANADROME_OK) {
    result.message = anadrome_last_error();
    return result;
  }
  result.gradient = model.gradient();
  result.stats.size = sizeof result.stats;
  anadrome_statistics(run, &result.stats);
  return result;
}

Result sweep(anadrome_run* run, DeviceModel& model, std::int64_t steps,
             const std::function<void(const anadrome_action&)>& before) {
  Result result;
  result.status = anadrome_begin(run, steps);
  if (result.status != ANADROME_OK) {
    result.message = anadrome_last_error();
    return result;
  }
  model.start(run);
  return play(run, model, before);
}

}  // namespace anadrome::test
