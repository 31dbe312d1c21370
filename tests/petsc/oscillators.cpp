// SPDX-License-Identifier: BSD-2-Clause
#include "oscillators.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace anadrome::test {
namespace {

#define MUST(call)                                   \
  do {                                               \
    if ((call) != 0) MPI_Abort(PETSC_COMM_WORLD, 9); \
  } while (0)

std::string first_message;

PetscErrorCode note_error(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                          PetscErrorType type, const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL && first_message.empty()) first_message = message;
  return code;
}

PetscInt pairs_here() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks > 1 && rank == ranks - 1 ? 0 : Oscillators::pairs + rank;
}

void append(std::vector<double>& values, Vec v) {
  const PetscScalar* x = nullptr;
  PetscInt local = 0;
  MUST(VecGetLocalSize(v, &local));
  MUST(VecGetArrayRead(v, &x));
  constexpr std::size_t kParts = sizeof(PetscScalar) / sizeof(PetscReal);
  const auto* reals = reinterpret_cast<const PetscReal*>(x);
  values.insert(values.end(), reals, reals + kParts * static_cast<std::size_t>(local));
  MUST(VecRestoreArrayRead(v, &x));
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      {"rk4", "-ts_type rk -ts_rk_type 4 -ts_adapt_type none"},
      {"rk3bs_adaptive", "-ts_type rk -ts_rk_type 3bs -ts_rtol 1e-6 -ts_atol 1e-6"},
      {"rk5bs_adaptive", "-ts_type rk -ts_rk_type 5bs -ts_rtol 1e-8 -ts_atol 1e-8"},
      {"rk5dp_adaptive", "-ts_type rk -ts_rk_type 5dp -ts_rtol 1e-8 -ts_atol 1e-8"},
      {"cn", "-ts_type cn"},
      {"beuler", "-ts_type beuler"},
      {"midpoint", "-ts_type theta -ts_theta_theta 0.5"},
      {"cn_adaptive", "-ts_type cn -ts_theta_adapt -ts_adapt_type basic -ts_atol 1e-3"},
      {"cn_extrapolated", "-ts_type cn -ts_theta_initial_guess_extrapolate"},
  };
  return all;
}

const std::vector<Keeping>& keepings() {
  // Memory that is sure to be used is touched at once: little of it for little problems.
  static const std::string type =
      "-ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 4MiB ";
  static const std::vector<Keeping> all = {
      {"store_all", type + "-ts_trajectory_anadrome_schedule store_all"},
      {"few", type + "-ts_trajectory_max_cps_ram 4"},
      {"few_solutions", type + "-ts_trajectory_max_cps_ram 4 -ts_trajectory_solution_only"},
      {"disk", type + "-ts_trajectory_stride 3 -ts_trajectory_anadrome_checkpoints 2"},
      {"disk_and_few", type + "-ts_trajectory_max_cps_disk 5 -ts_trajectory_max_cps_ram 3"},
      {"as_it_comes", type},
  };
  return all;
}

Oscillators::Oscillators(const std::string& options, bool with_parameter)
    : with_parameter_(with_parameter) {
  MUST(PetscOptionsCreate(&options_));
  MUST(PetscOptionsInsertString(options_, options.c_str()));
  const PetscInt local = 2 * pairs_here();
  MUST(VecCreateMPI(PETSC_COMM_WORLD, local, PETSC_DETERMINE, &u_));
  MUST(VecDuplicate(u_, &lambda_));
  MUST(VecDuplicate(u_, &lambda2_));
  MUST(VecDuplicate(u_, &product_));
  MUST(VecDuplicate(u_, &direction_));
  for (PetscInt i = 0, first = 0; i < local; ++i) {
    MUST(VecGetOwnershipRange(u_, &first, nullptr));
    MUST(VecSetValue(direction_, first + i, std::sin(1.0 + static_cast<double>(first + i)),
                     INSERT_VALUES));
  }
  MUST(VecAssemblyBegin(direction_));
  MUST(VecAssemblyEnd(direction_));
  PetscInt size = 0;
  MUST(VecGetSize(u_, &size));
  MUST(
      MatCreateAIJ(PETSC_COMM_WORLD, local, local, size, size, 2, nullptr, 0, nullptr, &by_state_));
  MUST(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, size, 1, nullptr, &by_parameter_));
  MUST(MatSetUp(by_parameter_));
  MUST(MatCreateVecs(by_parameter_, &mu_, nullptr));

  MUST(TSCreate(PETSC_COMM_WORLD, &ts_));
  MUST(PetscObjectSetOptions(reinterpret_cast<PetscObject>(ts_), options_));
  MUST(TSSetRHSFunction(ts_, nullptr, right_hand_side, this));
  MUST(TSSetRHSJacobian(ts_, by_state_, by_state_, jacobian, this));
  if (with_parameter_) MUST(TSSetRHSJacobianP(ts_, by_parameter_, by_stiffness, this));
  MUST(TSSetEquationType(ts_, TS_EQ_ODE_EXPLICIT));  // BEuler's second-order adjoint wants it
  MUST(TSSetType(ts_, TSRK));
  MUST(TSSetApplicationContext(ts_, this));
  MUST(TSSetPostStep(ts_, post_step));
  MUST(TSSetExactFinalTime(ts_, TS_EXACTFINALTIME_MATCHSTEP));
  MUST(TSSetSaveTrajectory(ts_));
  MUST(PetscObjectSetOptions(reinterpret_cast<PetscObject>(trajectory()), options_));
  MUST(TSSetFromOptions(ts_));
  start();
}

Oscillators::~Oscillators() {
  MUST(TSDestroy(&ts_));
  MUST(MatDestroy(&by_state_));
  MUST(MatDestroy(&by_parameter_));
  MUST(VecDestroy(&u_));
  MUST(VecDestroy(&lambda_));
  MUST(VecDestroy(&mu_));
  MUST(VecDestroy(&direction_));
  MUST(VecDestroy(&lambda2_));
  MUST(VecDestroy(&product_));
  MUST(PetscOptionsDestroy(&options_));
}

PetscErrorCode Oscillators::right_hand_side(TS, PetscReal t, Vec u, Vec rate, void* self) {
  const double mu = static_cast<Oscillators*>(self)->stiffness;
  const PetscScalar* x;
  PetscScalar* r;
  PetscInt local = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &local));
  PetscCall(VecGetArrayRead(u, &x));
  PetscCall(VecGetArray(rate, &r));
  for (PetscInt i = 0; i < local; i += 2) {
    r[i] = x[i + 1];
    r[i + 1] = mu * (1 - x[i] * x[i]) * x[i + 1] - x[i] + 0.2 * std::cos(3 * t);
  }
  PetscCall(VecRestoreArrayRead(u, &x));
  PetscCall(VecRestoreArray(rate, &r));
  PetscFunctionReturn(0);
}

PetscErrorCode Oscillators::jacobian(TS, PetscReal, Vec u, Mat, Mat p, void* self) {
  const double mu = static_cast<Oscillators*>(self)->stiffness;
  const PetscScalar* x;
  PetscInt first = 0, last = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(u, &first, &last));
  PetscCall(VecGetArrayRead(u, &x));
  for (PetscInt i = first; i < last; i += 2, x += 2) {
    const PetscInt at[2] = {i, i + 1};
    const PetscScalar entries[4] = {0, 1, -2 * mu * x[0] * x[1] - 1, mu * (1 - x[0] * x[0])};
    PetscCall(MatSetValues(p, 2, at, 2, at, entries, INSERT_VALUES));
  }
  x -= last - first;
  PetscCall(VecRestoreArrayRead(u, &x));
  PetscCall(MatAssemblyBegin(p, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode Oscillators::by_stiffness(TS, PetscReal, Vec u, Mat a, void*) {
  const PetscScalar* x;
  PetscInt first = 0, last = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(u, &first, &last));
  PetscCall(VecGetArrayRead(u, &x));
  for (PetscInt i = 0; i < last - first; i += 2) {
    PetscCall(MatSetValue(a, first + i + 1, 0, (1 - x[i] * x[i]) * x[i + 1], INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayRead(u, &x));
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode Oscillators::second_derivative(TS, PetscReal, Vec u, Vec* left, Vec right,
                                              Vec* product, void* self) {
  const double mu = static_cast<Oscillators*>(self)->stiffness;
  const PetscScalar *x, *l, *r;
  PetscScalar* p;
  PetscInt local = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &local));
  PetscCall(VecGetArrayRead(u, &x));
  PetscCall(VecGetArrayRead(left[0], &l));
  PetscCall(VecGetArrayRead(right, &r));
  PetscCall(VecGetArray(product[0], &p));
  for (PetscInt i = 0; i < local; i += 2) {
    p[i] = -2 * mu * l[i + 1] * (x[i + 1] * r[i] + x[i] * r[i + 1]);
    p[i + 1] = -2 * mu * l[i + 1] * x[i] * r[i];
  }
  PetscCall(VecRestoreArrayRead(u, &x));
  PetscCall(VecRestoreArrayRead(left[0], &l));
  PetscCall(VecRestoreArrayRead(right, &r));
  PetscCall(VecRestoreArray(product[0], &p));
  PetscFunctionReturn(0);
}

PetscErrorCode Oscillators::post_step(TS ts) {
  Oscillators* self = nullptr;
  PetscFunctionBeginUser;
  PetscCall(TSGetApplicationContext(ts, &self));
  if (self->after_step) {
    Vec u = nullptr;
    PetscCall(TSGetSolution(ts, &u));
    self->after_step(u);
  }
  PetscFunctionReturn(0);
}

void Oscillators::start(double along) {
  PetscInt first = 0, last = 0;
  MUST(VecGetOwnershipRange(u_, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    MUST(VecSetValue(u_, i, i % 2 == 0 ? 2.0 : -0.6 - 0.01 * static_cast<double>(i % 100),
                     INSERT_VALUES));
  }
  MUST(VecAssemblyBegin(u_));
  MUST(VecAssemblyEnd(u_));
#if defined(PETSC_USE_COMPLEX)
  MUST(VecScale(u_, PetscCMPLX(1, 0.1)));
#endif
  MUST(VecAXPY(u_, along, direction_));
  MUST(TSSetStepNumber(ts_, 0));
  MUST(TSSetTime(ts_, 0));
  MUST(TSSetTimeStep(ts_, 0.05));
}

void Oscillators::integrate(PetscBool in_forward, const Integrand& integrand) {
  TS integrator = nullptr;
  PetscInt begin = 0, end = 0;
  MUST(VecGetOwnershipRange(u_, &begin, &end));
  MUST(TSCreateQuadratureTS(ts_, in_forward, &integrator));
  MUST(TSSetRHSFunction(integrator, nullptr, integrand.rate, integrand.context));
  Mat by[2] = {};  // the states and the parameter; constant
  for (const bool parameter : {false, true}) {
    Mat& made = by[parameter];
    const PetscInt here = parameter ? PETSC_DECIDE : end - begin, rows = parameter ? 1 : -1;
    MUST(MatCreateDense(PETSC_COMM_WORLD, here, PETSC_DECIDE, rows, 1, nullptr, &made));
    for (PetscInt i = begin + integrand.first; i < end && !parameter; i += integrand.every)
      MUST(MatSetValue(made, i, 0, integrand.slope, INSERT_VALUES));
    MUST(MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY));
  }
  const auto as_is = [](TS, PetscReal, Vec, Mat, Mat, void*) { return PetscErrorCode{}; };
  const auto none = [](TS, PetscReal, Vec, Mat, void*) { return PetscErrorCode{}; };
  MUST(TSSetRHSJacobian(integrator, by[0], by[0], as_is, nullptr));
  MUST(TSSetRHSJacobianP(integrator, by[1], none, nullptr));
  for (Mat& made : by) MUST(MatDestroy(&made));
}

PetscErrorCode Oscillators::solve(PetscReal until) {
  PetscFunctionBeginUser;
  PetscCall(TSSetMaxTime(ts_, until));
  PetscCall(TSSolve(ts_, u_));
  PetscFunctionReturn(0);
}

void Oscillators::turn() {
  MUST(VecCopy(u_, lambda_));
  MUST(VecZeroEntries(mu_));
  MUST(TSSetCostGradients(ts_, 1, &lambda_, with_parameter_ ? &mu_ : nullptr));
}

PetscErrorCode Oscillators::back(PetscInt steps) {
  PetscFunctionBeginUser;
  if (steps > 0) PetscCall(TSAdjointSetSteps(ts_, steps));
  PetscCall(TSAdjointSolve(ts_));
  PetscFunctionReturn(0);
}

std::vector<double> Oscillators::adjoint() {
  turn();
  MUST(back());
  return values();
}

std::vector<double> Oscillators::hessian_product(PetscReal until) {
  Mat tangent = nullptr;
  PetscScalar* column = nullptr;
  MUST(TSSetSolution(ts_, u_));
  MUST(TSAdjointReset(ts_));
  MUST(TSSetRHSHessianProduct(ts_, &product_, second_derivative, nullptr, nullptr, nullptr, nullptr,
                              nullptr, nullptr, this));
  MUST(TSSetCostHessianProducts(ts_, 1, &lambda2_, nullptr, direction_));
  MUST(TSAdjointSetForward(ts_, nullptr));
  start();
  MUST(solve(until));
  MUST(TSForwardGetSensitivities(ts_, nullptr, &tangent));
  MUST(MatDenseGetColumn(tangent, 0, &column));
  MUST(VecPlaceArray(product_, column));
  MUST(VecCopy(product_, lambda2_));
  MUST(VecResetArray(product_));
  MUST(MatDenseRestoreColumn(tangent, &column));
  MUST(VecCopy(u_, lambda_));
  MUST(TSSetCostGradients(ts_, 1, &lambda_, nullptr));
  MUST(back());
  std::vector<double> values;
  append(values, lambda2_);
  MUST(TSAdjointReset(ts_));
  MUST(TSAdjointResetForward(ts_));
  return values;
}

TSTrajectory Oscillators::trajectory() const {
  TSTrajectory trajectory = nullptr;
  MUST(TSGetTrajectory(ts_, &trajectory));
  return trajectory;
}

PetscInt Oscillators::steps() const {
  PetscInt steps = 0;
  MUST(TSGetStepNumber(ts_, &steps));
  return steps;
}

std::vector<double> Oscillators::values() const {
  std::vector<double> values;
  append(values, lambda_);
  append(values, mu_);
  append(values, u_);
  return values;
}

void Oscillators::go_to(PetscInt step) {
  MUST(TSSetStepNumber(ts_, step));
  (void)record(step);
}

std::vector<double> Oscillators::record(PetscInt step) {
  std::vector<double> values;
  PetscReal time = 0, size = 0;
  PetscInt count = 0;
  Vec* stages = nullptr;
  if (TSTrajectoryGet(trajectory(), ts_, step, &time) != 0) return values;
  MUST(TSGetTimeStep(ts_, &size));
  values = {time, step == 0 ? 0 : size};
  append(values, u_);
  MUST(TSGetStages(ts_, &count, &stages));
  for (PetscInt i = 0; i < count && step > 0; ++i) append(values, stages[i]);
  return values;
}

CaughtErrors::CaughtErrors() {
  first_message.clear();
  MUST(PetscPushErrorHandler(note_error, nullptr));
}

CaughtErrors::~CaughtErrors() { MUST(PetscPopErrorHandler()); }

const std::string& CaughtErrors::message() { return first_message; }

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most[2] = {a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity(), 0};
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    most[0] =
        std::isnan(apart) ? std::numeric_limits<double>::infinity() : std::max(most[0], apart);
    most[1] = std::max(most[1], std::abs(a[i]));
  }
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return most[0] / (most[1] > 0 ? most[1] : 1);
}

}  // namespace anadrome::test
