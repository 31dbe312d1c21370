// SPDX-License-Identifier: BSD-2-Clause
// A nonlinear model on a ring of cells that are spread over the ranks, with an adjoint in which one
// mistake can be made: what checks of gradients are tested with.
//
// Two state fields of different size, u and v; a running cost, which is a state without an adjoint
// variable; controls: the diffusivity of every cell and u_0.
#pragma once

#include <anadrome/gradient.h>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "mpi_main.h"
#include "own_loop.h"

namespace anadrome::test {

enum class Mistake {
  kNone,
  kSign,         ///< the adjoint variables of one step
  kFactor,       ///< they are twice as large
  kTerm,         ///< v does not act on u
  kHalo,         ///< what the neighbour's cell sends is left out
  kStaleState,   ///< the state is that of the last step that was run
  kNextState,    ///< the adjoint runs the step first, and reads x_{k+1}
  kNan,          ///< one value on the last rank
  kAccumulator,  ///< the gradient by the diffusivity gets half of the step's part
  kTurn,         ///< the derivative of the objective at the end has a wrong sign
  kHidden,       ///< steps read a counter that nothing resets
  kPerturb       ///< epsilon 0 does not give the controls back
};

struct RingOptions {
  bool linear = false;
  Mistake mistake = Mistake::kNone;
  std::int64_t step = 0;  ///< of the mistake, if it is one of a step
  bool tape = false;
  bool exchanged = false;
  bool start = true;   ///< the model has the callback
  bool pairs = true;   ///< dot products are asked for
  double scale = 1e6;  ///< of v
};

template <class Real>
class Ring {
 public:
  explicit Ring(const RingOptions& options)
      : options_(options), cells_(6 + static_cast<std::size_t>(rank() % 2)) {
    for (Values* values : {&u_, &v_, &lu_, &lv_, &gc_, &c_, &c0_, &u0_, &tape_, &last_u_}) {
      values->resize(cells_);
    }
    std::mt19937 random(7U + static_cast<unsigned>(rank()));
    std::uniform_real_distribution<double> uniform(0.5, 1.5);
    for (std::size_t i = 0; i < cells_; ++i) {
      c0_[i] = static_cast<Real>(uniform(random));
      u0_[i] = static_cast<Real>(uniform(random));
    }
    c_ = c0_;
    set_x_0(0);
    add_fields();
  }
  ~Ring() { anadrome_close(&run_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  anadrome_run* run() { return run_; }

  anadrome_model model() {
    anadrome_model model = {};
    model.size = sizeof model;
    model.context = this;
    model.advance = [](void* self, std::int64_t first, std::int64_t last, std::int64_t*) {
      for (std::int64_t k = first; k < last; ++k) of(self).step();
      return 0;
    };
    model.record = [](void* self, std::int64_t, std::int64_t*) {
      Ring& ring = of(self);
      const Values u(ring.u_now(), ring.u_now() + ring.cells_);
      ring.step();
      std::copy(u.begin(), u.end(), ring.tape_.begin());
      return 0;
    };
    model.turn = [](void* self, std::int64_t) { return of(self).turn(), 0; };
    model.adjoint = [](void* self, std::int64_t k) { return of(self).adjoint(k), 0; };
    if (options_.start) model.start = [](void* self) { return of(self).start(), 0; };
    return model;
  }

  anadrome_gradient gradient() {
    anadrome_gradient gradient = {};
    gradient.size = sizeof gradient;
    gradient.context = this;
    gradient.perturb = [](void* self, std::int64_t seed, double epsilon) {
      return of(self).perturb(seed, epsilon), 0;
    };
    gradient.objective = [](void* self, double* objective) {
      return *objective = of(self).objective_, 0;
    };
    gradient.derivative = [](void* self, std::int64_t seed, double* derivative) {
      return *derivative = of(self).derivative(seed), 0;
    };
    if (options_.pairs) gradient.pairs = "u=lambda_u v=lambda_v";
    return gradient;
  }

  anadrome_gradient_check check(std::int64_t steps) { return check(steps, gradient()); }
  anadrome_gradient_check check(std::int64_t steps, const anadrome_gradient& gradient) {
    const anadrome_model model = this->model();
    anadrome_gradient_check check = {};
    check.size = sizeof check;
    EXPECT_EQ(anadrome_check_gradient(run_, steps, &model, &gradient, &check), ANADROME_OK)
        << anadrome_last_error();
    return check;
  }

  /// The gradient by u_0 and by the diffusivities, of a sweep without a check.
  std::vector<Real> gradient_of_solve(std::int64_t steps) {
    const anadrome_model model = this->model();
    EXPECT_EQ(anadrome_solve(run_, steps, &model), ANADROME_OK) << anadrome_last_error();
    std::vector<Real> both = lu_;
    both.insert(both.end(), gc_.begin(), gc_.end());
    return both;
  }

  bool controls_are_as_they_were() const { return c_ == c0_ && du_ == 0; }
  const std::vector<Real>& u() const { return u_; }

 private:
  using Values = std::vector<Real>;
  struct Halo {
    Real left, right;
  };
  static constexpr double kDt = 0.05;

  static Ring& of(void* self) { return *static_cast<Ring*>(self); }

  void add_fields() {
    EXPECT_EQ(anadrome_open(MPI_COMM_WORLD, &run_), ANADROME_OK);
    anadrome_set(run_, "directory", directory().c_str());
    anadrome_set(run_, "schedule", "revolve");
    anadrome_set(run_, "checkpoints", "3");
    anadrome_set(run_, "audit", "off");  // the check has to see what they would
    if (options_.exchanged) {
      for (const auto& [name, field] : {std::pair("u", &u_field_), {"v", &v_field_}})
        EXPECT_EQ(
            anadrome_add_exchanged(run_, name, ANADROME_ROLE_STATE, kTypeOf<Real>, cells_, field),
            ANADROME_OK);
    } else {
      add_array(run_, "u", u_);
      add_array(run_, "v", v_);
    }
    EXPECT_EQ(
        anadrome_add_packed(run_, "cost", ANADROME_ROLE_STATE, sizeof cost_, pack, unpack, &cost_),
        ANADROME_OK);
    add_array(run_, "lambda_u", lu_, ANADROME_ROLE_ADJOINT);
    add_array(run_, "lambda_v", lv_, ANADROME_ROLE_ADJOINT);
    add_array(run_, "gradient", gc_, ANADROME_ROLE_ADJOINT);
    if (options_.tape) add_array(run_, "tape", tape_, ANADROME_ROLE_TAPE);
  }
  static int pack(void* cost, void* buffer, std::size_t bytes) {
    std::memcpy(buffer, cost, bytes);
    return 0;
  }
  static int unpack(void* cost, const void* buffer, std::size_t bytes) {
    std::memcpy(cost, buffer, bytes);
    return 0;
  }

  // ---- the state ----

  const Real* now(int field, const Values& values) const {
    return options_.exchanged ? static_cast<const Real*>(anadrome_now(run_, field)) : values.data();
  }
  const Real* u_now() const { return now(u_field_, u_); }
  const Real* v_now() const { return now(v_field_, v_); }
  void write(const Values& from, int field, Values& to) {
    std::copy(from.begin(), from.end(),
              options_.exchanged ? static_cast<Real*>(anadrome_then(run_, field)) : to.data());
  }
  void write_next(const Values& u, const Values& v) {
    write(u, u_field_, u_);
    write(v, v_field_, v_);
  }

  Values direction(std::int64_t seed, unsigned part) const {
    std::mt19937 random(static_cast<unsigned>(seed) * 1000U + part * 100U +
                        static_cast<unsigned>(rank()));
    std::uniform_real_distribution<double> uniform(-1, 1);
    Values values(cells_);
    for (Real& value : values) value = static_cast<Real>(uniform(random));
    return values;
  }

  void set_x_0(std::int64_t seed) {
    const Values du = direction(seed, 0);
    for (std::size_t i = 0; i < cells_; ++i) {
      u_[i] = u0_[i] + static_cast<Real>(du_) * du[i];
      v_[i] = static_cast<Real>(options_.scale);
    }
    cost_ = 0;
  }

  void perturb(std::int64_t seed, double epsilon) {
    if (options_.mistake == Mistake::kPerturb && epsilon == 0) return;
    const Values dc = direction(seed, 1);
    for (std::size_t i = 0; i < cells_; ++i) {
      c_[i] = c0_[i] + static_cast<Real>(epsilon) * dc[i];
    }
    du_ = epsilon;
    seed_ = seed;
    if (!options_.start) set_x_0(seed);
  }

  void start() {
    set_x_0(seed_);
    if (options_.exchanged) write_next(Values(u_), Values(v_));
  }

  double quadratic() const { return options_.linear ? 0 : 0.4; }

  // The values of the neighbours' cells beside this rank's.
  Halo halo(const Real* values) const { return halo(values[0], values[cells_ - 1]); }
  static Halo halo(Real first, Real last) {
    const int left = (rank() + ranks() - 1) % ranks(), right = (rank() + 1) % ranks();
    Halo halo{};
    MPI_Sendrecv(&last, sizeof(Real), MPI_BYTE, right, 1, &halo.left, sizeof(Real), MPI_BYTE, left,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&first, sizeof(Real), MPI_BYTE, left, 2, &halo.right, sizeof(Real), MPI_BYTE,
                 right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return halo;
  }

  void step() {
    const Real* const u = u_now();
    const Real* const v = v_now();
    last_u_.assign(u, u + cells_);
    std::fill(tape_.begin(), tape_.end(), static_cast<Real>(NAN));  // scratch, unless recorded
    const Halo beside = halo(u);
    const double q = quadratic(),
                 drift = options_.mistake == Mistake::kHidden ? 1e-4 * hidden_++ : 0;
    Values next_u(cells_), next_v(cells_);
    for (std::size_t i = 0; i < cells_; ++i) {
      const double left = i > 0 ? u[i - 1] : beside.left;
      const double right = i + 1 < cells_ ? u[i + 1] : beside.right;
      const double slope = c_[i] * (left - 2 * u[i] + right) - q * u[i] * (u[i] - left) +
                           0.7 * v[i] / options_.scale + drift;
      next_u[i] = static_cast<Real>(u[i] + kDt * slope);
      next_v[i] = static_cast<Real>(
          v[i] + kDt * (-0.3 * v[i] + options_.scale * (q * u[i] * u[i] + 0.1 * u[i])));
      cost_ += options_.linear ? kDt * u[i] : kDt * u[i] * u[i];
    }
    write_next(next_u, next_v);
  }

  void turn() {
    double sum = cost_;
    const double sign = options_.mistake == Mistake::kTurn ? -1 : 1;
    for (std::size_t i = 0; i < cells_; ++i) {
      const double u = u_now()[i];
      sum += (options_.linear ? u : 0.5 * u * u) + v_now()[i] / options_.scale;
      lu_[i] = static_cast<Real>(sign * (options_.linear ? 1 : u));
      lv_[i] = static_cast<Real>(1 / options_.scale);
      gc_[i] = 0;
    }
    MPI_Allreduce(&sum, &objective_, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }

  void adjoint(std::int64_t k) {
    const Mistake mistake = k == options_.step ? options_.mistake : Mistake::kNone;
    const Values kept_u(u_), kept_v(v_);
    const double kept_cost = cost_;
    if (mistake == Mistake::kNextState) step();
    const Real* u = options_.tape ? tape_.data() : u_now();
    if (mistake == Mistake::kStaleState) u = last_u_.data();
    const Values reached(u, u + cells_);
    adjoint_of(reached, mistake);
    if (!options_.exchanged) {
      u_ = kept_u;
      v_ = kept_v;
    }
    cost_ = kept_cost;
    const double factor = mistake == Mistake::kSign ? -1 : mistake == Mistake::kFactor ? 2 : 1;
    for (std::size_t i = 0; i < cells_; ++i) {
      lu_[i] = static_cast<Real>(factor * lu_[i] + kDt * (options_.linear ? 1 : 2 * reached[i]));
      lv_[i] = static_cast<Real>(factor * lv_[i]);
    }
    if (mistake == Mistake::kNan && rank() == ranks() - 1) lu_[2] = static_cast<Real>(NAN);
  }

  void adjoint_of(const Values& u, Mistake mistake) {
    const double q = quadratic(), dt = kDt;
    const std::size_t last = cells_ - 1;
    const Halo of_u = halo(u.data());
    // What row i gives to the cell right of it, and to the one left of it.
    const auto to_right = [&](std::size_t i) { return static_cast<Real>(dt * c_[i] * lu_[i]); };
    const auto to_left = [&](std::size_t i) {
      return static_cast<Real>(dt * lu_[i] * (c_[i] + q * u[i]));
    };
    const Real from_left = halo(0, to_right(last)).left, from_right = halo(to_left(0), 0).right;
    Values lu(cells_), lv(cells_);
    for (std::size_t i = 0; i < cells_; ++i) {
      const double left = i > 0 ? u[i - 1] : of_u.left, right = i < last ? u[i + 1] : of_u.right;
      double sum = lu_[i] * (1 - 2 * dt * c_[i] - dt * q * (2 * u[i] - left));
      if (i > 0 || mistake != Mistake::kHalo) sum += i > 0 ? to_right(i - 1) : from_left;
      sum += i < last ? to_left(i + 1) : from_right;
      sum += lv_[i] * dt * options_.scale * (2 * q * u[i] + 0.1);
      lu[i] = static_cast<Real>(sum);
      const double of_v = mistake == Mistake::kTerm ? 0 : lu_[i] * dt * 0.7 / options_.scale;
      lv[i] = static_cast<Real>(lv_[i] * (1 - 0.3 * dt) + of_v);
      const double part = mistake == Mistake::kAccumulator ? 0.5 : 1;
      gc_[i] += static_cast<Real>(part * lu_[i] * dt * (left - 2 * u[i] + right));
    }
    lu_ = lu;
    lv_ = lv;
  }

  double derivative(std::int64_t seed) const {
    const Values du = direction(seed, 0), dc = direction(seed, 1);
    double sum = 0;
    for (std::size_t i = 0; i < cells_; ++i) sum += lu_[i] * du[i] + gc_[i] * dc[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }

  RingOptions options_;
  std::size_t cells_;
  anadrome_run* run_ = nullptr;
  int u_field_ = -1, v_field_ = -1;
  Values u_, v_, lu_, lv_, gc_, c_, c0_, u0_, tape_, last_u_;
  double cost_ = 0, objective_ = 0, du_ = 0, hidden_ = 0;
  std::int64_t seed_ = 0;
};

}  // namespace anadrome::test
