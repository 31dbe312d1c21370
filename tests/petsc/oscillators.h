// SPDX-License-Identifier: BSD-2-Clause
// Van der Pol oscillators, a few on each rank (none on the last of several), and what PETSc
// programs do with a TS: solve, go back, look at records, optimise. Used as a program would: types
// and limits are options.
#pragma once

#include <petscts.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace anadrome::test {

/// Method and step control.
struct Method {
  std::string name;
  std::string options;
};
const std::vector<Method>& methods();

/// How a trajectory is kept; "basic" is PETSc's own.
struct Keeping {
  std::string name;
  std::string options;
};
const std::vector<Keeping>& keepings();

/// For GoogleTest.
inline void PrintTo(const Method& method, std::ostream* out) { *out << method.options; }
inline void PrintTo(const Keeping& keeping, std::ostream* out) { *out << keeping.options; }

/// One number that is integrated along the way, and its derivative: `slope` by every `every`th
/// value of a rank from `first` on, 0 by all others and by the parameter.
struct Integrand {
  PetscErrorCode (*rate)(TS, PetscReal, Vec, Vec, void*);
  void* context;
  PetscInt first, every;
  PetscScalar slope;
};

class Oscillators {
 public:
  /// `options` are its options database. Without the parameter, x_0 alone is differentiated by.
  explicit Oscillators(const std::string& options, bool with_parameter = true);
  ~Oscillators();
  Oscillators(const Oscillators&) = delete;
  Oscillators& operator=(const Oscillators&) = delete;

  /// x_0, step 0, time 0; `along` times a fixed direction is added to x_0.
  void start(double along = 0);
  void integrate(PetscBool in_forward, const Integrand& integrand);  ///< or in the reverse sweep
  PetscErrorCode solve(PetscReal until);                             ///< from where it is
  void turn();                                                       ///< lambda and mu
  PetscErrorCode back(PetscInt steps = 0);                           ///< so many steps, or all
  std::vector<double> adjoint();  ///< all the way back from here; values()
  /// lambda, mu and the solution of this rank.
  std::vector<double> values() const;
  /// The Hessian of |x(until)|^2 / 2 by x_0, times that direction: second-order adjoint,
  /// without the parameter (PETSc would add its tangent).
  std::vector<double> hessian_product(PetscReal until);
  /// Record `step` as TSTrajectoryGet gives it: time, step size, solution and stages.
  std::vector<double> record(PetscInt step);

  /// The TS is at that record again, for another reverse sweep.
  void go_to(PetscInt step);

  TS ts() const { return ts_; }
  Vec solution() const { return u_; }
  TSTrajectory trajectory() const;
  PetscInt steps() const;

  static inline PetscInt pairs = 3;     ///< on a rank, about; before the first one is made
  double stiffness = 3;                 ///< a parameter of the right-hand side
  std::function<void(Vec)> after_step;  ///< PostStep

 private:
  static PetscErrorCode right_hand_side(TS ts, PetscReal t, Vec u, Vec rate, void* self);
  static PetscErrorCode jacobian(TS ts, PetscReal t, Vec u, Mat a, Mat p, void* self);
  static PetscErrorCode by_stiffness(TS ts, PetscReal t, Vec u, Mat a, void* self);
  static PetscErrorCode second_derivative(TS ts, PetscReal t, Vec u, Vec* left, Vec right,
                                          Vec* product, void* self);
  static PetscErrorCode post_step(TS ts);

  bool with_parameter_;
  PetscOptions options_ = nullptr;
  TS ts_ = nullptr;
  Vec u_ = nullptr, lambda_ = nullptr, mu_ = nullptr;
  Vec direction_ = nullptr, lambda2_ = nullptr, product_ = nullptr;
  Mat by_state_ = nullptr, by_parameter_ = nullptr;
};

/// Makes PETSc's errors return values while it lives, and keeps the first message.
class CaughtErrors {
 public:
  CaughtErrors();
  ~CaughtErrors();
  static const std::string& message();
};

/// Puts `from` at the end of `to`.
inline void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Largest difference relative to the largest value, over all ranks.
double difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace anadrome::test
