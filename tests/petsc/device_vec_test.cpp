// SPDX-License-Identifier: BSD-2-Clause
// Vectors whose values are on a device: a type of this test on the fake one. Who touches their copy
// on the host gets an error, and the gradient is that of PETSc's own trajectory.
#include <anadrome/petsc.h>
#include <gtest/gtest.h>
#include <petsc/private/vecimpl.h>
#include <petscts.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "api/petsc/records/petsc_private.h"
#include "fake_device.h"
#include "mpi_main.h"

namespace {

using fake_device::at;

constexpr PetscInt kSize = 300;

std::map<Vec, PetscScalar*>& memory() {
  static std::map<Vec, PetscScalar*> all;
  return all;
}
int touched = 0;

// Queues body(i) for each element, on the default stream.
template <class Body>
PetscErrorCode on_device(const Body& body) {
  fake_device::launch(nullptr, [body] {
    for (PetscInt i = 0; i < kSize; ++i) body(i);
  });
  return PETSC_SUCCESS;
}

PetscErrorCode make(Vec* made);
PetscErrorCode duplicate(Vec, Vec* made) { return make(made); }
// PETSc 3.22 would take one array of the host for all of them.
PetscErrorCode duplicate_vecs(Vec, PetscInt count, Vec** made) {
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, made));
  for (PetscInt k = 0; k < count; ++k) PetscCall(make(*made + k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode destroy_vecs(PetscInt count, Vec* made) {
  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; ++k) PetscCall(VecDestroy(made + k));
  PetscCall(PetscFree(made));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode destroy(Vec v) {
  fake_device::release(memory().at(v));
  memory().erase(v);
  return PETSC_SUCCESS;
}
PetscErrorCode copy(Vec x, Vec y) {
  return on_device([x = memory().at(x), y = memory().at(y)](PetscInt i) { at(y)[i] = at(x)[i]; });
}
PetscErrorCode set(Vec x, PetscScalar a) {
  return on_device([x = memory().at(x), a](PetscInt i) { at(x)[i] = a; });
}
PetscErrorCode scale(Vec x, PetscScalar a) {
  return on_device([x = memory().at(x), a](PetscInt i) { at(x)[i] *= a; });
}
PetscErrorCode axpy(Vec y, PetscScalar a, Vec x) {
  return on_device(
      [x = memory().at(x), y = memory().at(y), a](PetscInt i) { at(y)[i] += a * at(x)[i]; });
}
PetscErrorCode aypx(Vec y, PetscScalar b, Vec x) {
  return on_device([x = memory().at(x), y = memory().at(y), b](PetscInt i) {
    at(y)[i] = at(x)[i] + b * at(y)[i];
  });
}
PetscErrorCode axpby(Vec y, PetscScalar a, PetscScalar b, Vec x) {
  return on_device([x = memory().at(x), y = memory().at(y), a, b](PetscInt i) {
    at(y)[i] = a * at(x)[i] + b * at(y)[i];
  });
}
PetscErrorCode waxpy(Vec w, PetscScalar a, Vec x, Vec y) {
  return on_device([w = memory().at(w), x = memory().at(x), y = memory().at(y), a](PetscInt i) {
    at(w)[i] = at(y)[i] + a * at(x)[i];
  });
}
PetscErrorCode maxpy(Vec y, PetscInt count, const PetscScalar* a, Vec* x) {
  for (PetscInt k = 0; k < count; ++k) axpy(y, a[k], x[k]);
  return PETSC_SUCCESS;
}
PetscErrorCode norm(Vec x, NormType, PetscReal* result) {
  fake_device::synchronize(nullptr);
  *result = 0;
  for (PetscInt i = 0; i < kSize; ++i) *result += PetscSqr(PetscAbsScalar(at(memory().at(x))[i]));
  *result = std::sqrt(*result);
  return PETSC_SUCCESS;
}

PetscErrorCode refuse(Vec, PetscScalar**) {
  ++touched;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "the host's copy of a vector on a device is touched");
}
PetscErrorCode refuse_reading(Vec v, const PetscScalar**) { return refuse(v, nullptr); }
PetscErrorCode get(Vec v, PetscScalar** values, PetscMemType* type) {
  *values = memory().at(v);
  if (type != nullptr) *type = PETSC_MEMTYPE_CUDA;
  return PETSC_SUCCESS;
}
PetscErrorCode get_reading(Vec v, const PetscScalar** values, PetscMemType* type) {
  return get(v, const_cast<PetscScalar**>(values), type);
}
PetscErrorCode restore(Vec, PetscScalar**) { return PETSC_SUCCESS; }
PetscErrorCode restore_reading(Vec, const PetscScalar**) { return PETSC_SUCCESS; }
PetscErrorCode restore_writing(Vec, PetscScalar**, PetscMemType*) { return PETSC_SUCCESS; }

PetscErrorCode make(Vec* made) {
  auto* const values =
      static_cast<PetscScalar*>(fake_device::allocate(kSize * sizeof(PetscScalar)));
  PetscFunctionBegin;
  // Of what it has from VECSEQ nothing looks at the array, which no host can.
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, kSize, values, made));
  memory()[*made] = values;
  auto& ops = *(*made)->ops;
  ops.duplicate = duplicate;
  ops.duplicatevecs = duplicate_vecs;
  ops.destroyvecs = destroy_vecs;
  ops.destroy = destroy;
  ops.copy = copy;
  ops.set = set;
  ops.scale = scale;
  ops.axpy = axpy;
  ops.aypx = aypx;
  ops.axpby = axpby;
  ops.waxpy = waxpy;
  ops.maxpy = maxpy;
  ops.norm = norm;
  ops.getarray = ops.getarraywrite = refuse;
  ops.getarrayread = refuse_reading;
  ops.getarrayandmemtype = ops.getarraywriteandmemtype = get;
  ops.getarrayreadandmemtype = get_reading;
  ops.restorearrayandmemtype = restore;
  ops.restorearrayreadandmemtype = restore_reading;
  ops.restorearraywriteandmemtype = restore_writing;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// u' = u (1 - u) + t, each element by itself.
PetscErrorCode right_side(TS, PetscReal t, Vec u, Vec f, void*) {
  return on_device([u = memory().at(u), f = memory().at(f), t](PetscInt i) {
    at(f)[i] = at(u)[i] * (1.0 - at(u)[i]) + t;
  });
}
PetscErrorCode jacobian(TS, PetscReal, Vec u, Mat J, Mat, void*) {
  Vec at_u = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(J, &at_u));
  PetscCall(VecCopy(u, at_u));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode multiply(Mat J, Vec x, Vec y) {
  Vec at_u = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(J, &at_u));
  PetscCall(on_device([u = memory().at(at_u), x = memory().at(x), y = memory().at(y)](PetscInt i) {
    at(y)[i] = (1.0 - 2.0 * at(u)[i]) * at(x)[i];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The adjoint of 40 steps with these options.
PetscErrorCode gradient(const std::string& options, std::vector<PetscScalar>* result) {
  Vec u = nullptr, lambda = nullptr, at_u = nullptr;
  Mat J = nullptr;
  TS ts = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscOptionsClear(nullptr));
  PetscCall(PetscOptionsInsertString(nullptr, options.c_str()));
  PetscCall(make(&u));
  PetscCall(make(&lambda));
  PetscCall(make(&at_u));
  PetscCall(on_device([u = memory().at(u)](PetscInt i) {
    at(u)[i] = 0.1 + 0.5 * static_cast<double>(i) / static_cast<double>(kSize);
  }));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, kSize, kSize, kSize, kSize, at_u, &J));
  PetscCall(MatShellSetOperation(J, MATOP_MULT, reinterpret_cast<void (*)()>(multiply)));
  PetscCall(MatShellSetOperation(J, MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)()>(multiply)));
  PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSRKSetType(ts, TSRK4));
  PetscCall(TSSetRHSFunction(ts, nullptr, right_side, nullptr));
  PetscCall(TSSetRHSJacobian(ts, J, J, jacobian, nullptr));
  PetscCall(TSSetTimeStep(ts, 0.05));
  PetscCall(TSSetMaxSteps(ts, 40));
  PetscCall(TSSetMaxTime(ts, 2.0));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetSaveTrajectory(ts));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(VecCopy(u, lambda));
  PetscCall(TSSetCostGradients(ts, 1, &lambda, nullptr));
  PetscCall(TSAdjointSolve(ts));
  fake_device::synchronize(nullptr);
  result->resize(kSize);
  fake_device::read(result->data(), memory().at(lambda), kSize * sizeof(PetscScalar));
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&J));
  for (Vec* v : {&u, &lambda, &at_u}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST(DeviceVectors, AreNotTouchedOnTheHost) {
  ASSERT_EQ(PetscInitializeNoArguments(), 0);
  ASSERT_EQ(AnadromePetscRegister(), 0);
  fake_device::make_context();
  std::vector<PetscScalar> expected, found;
  ASSERT_EQ(gradient("-ts_trajectory_type memory", &expected), 0);
  const std::string ours = "-ts_trajectory_type anadrome", key = " -ts_trajectory_anadrome_";
  const std::string directory = key + "directory " + anadrome::test::directory();
  const std::string disk = key + "memory 64KiB" + key + "schedule async";
  for (const std::string& options :
       {key + "memory 1MiB",
        key + "memory 64KiB" + key + "schedule revolve" + key + "checkpoints 3",
        disk + key + "interval 3", disk + key + "resume on"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      fake_device::seed(seed);
      ASSERT_EQ(gradient(ours + options + directory, &found), 0) << options;
      EXPECT_EQ(found, expected) << options;
    }
  }
  EXPECT_EQ(touched, 0);
  EXPECT_TRUE(memory().empty());
}

}  // namespace
