// SPDX-License-Identifier: BSD-2-Clause
/* u' = sin(u) with TSRK; the derivative of sum(u(T)^2)/2 by TSAdjoint, with PETSc's memory
 * trajectory and with anadrome's. Prints "equal" if both have the same bits. */
#include <anadrome/petsc.h>
#include <petscts.h>

static PetscErrorCode right_side(TS ts, PetscReal t, Vec u, Vec f, void* context) {
  const PetscScalar* from;
  PetscScalar* to;
  PetscInt count;
  (void)ts, (void)t, (void)context;
  PetscCall(VecGetLocalSize(u, &count));
  PetscCall(VecGetArrayRead(u, &from));
  PetscCall(VecGetArray(f, &to));
  for (PetscInt i = 0; i < count; ++i) to[i] = PetscSinScalar(from[i]);
  PetscCall(VecRestoreArray(f, &to));
  PetscCall(VecRestoreArrayRead(u, &from));
  return 0;
}

static PetscErrorCode jacobian(TS ts, PetscReal t, Vec u, Mat a, Mat p, void* context) {
  const PetscScalar* from;
  PetscInt first, last;
  (void)ts, (void)t, (void)p, (void)context;
  PetscCall(VecGetOwnershipRange(u, &first, &last));
  PetscCall(VecGetArrayRead(u, &from));
  for (PetscInt i = first; i < last; ++i)
    PetscCall(MatSetValue(a, i, i, PetscCosScalar(from[i - first]), INSERT_VALUES));
  PetscCall(VecRestoreArrayRead(u, &from));
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return 0;
}

static PetscErrorCode gradient(const char* type, Vec* lambda) {
  TS ts;
  TSTrajectory trajectory;
  TSAdapt adapt;
  Mat a;
  Vec u;
  PetscInt first, last;
  PetscCall(
      MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 100, 100, 1, NULL, 0, NULL, &a));
  PetscCall(MatCreateVecs(a, &u, lambda));
  PetscCall(VecGetOwnershipRange(u, &first, &last));
  for (PetscInt i = first; i < last; ++i)
    PetscCall(VecSetValue(u, i, 0.1 + 0.01 * i, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(u));
  PetscCall(VecAssemblyEnd(u));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetProblemType(ts, TS_NONLINEAR));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSRKSetType(ts, TSRK4));
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE)); /* with fixed steps all bits agree */
  PetscCall(TSSetRHSFunction(ts, NULL, right_side, NULL));
  PetscCall(TSSetRHSJacobian(ts, a, a, jacobian, NULL));
  PetscCall(TSSetTimeStep(ts, 0.01));
  PetscCall(TSSetMaxSteps(ts, 80));
  PetscCall(TSSetMaxTime(ts, 100.0));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetSaveTrajectory(ts));
  PetscCall(TSGetTrajectory(ts, &trajectory));
  PetscCall(TSTrajectorySetType(trajectory, ts, type));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(VecCopy(u, *lambda));
  PetscCall(TSSetCostGradients(ts, 1, lambda, NULL));
  PetscCall(TSAdjointSolve(ts));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&a));
  return 0;
}

int main(int argc, char** argv) {
  Vec expected, found;
  PetscReal norm;
  PetscBool equal;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(AnadromePetscRegister());
  PetscCall(gradient(TSTRAJECTORYMEMORY, &expected));
  PetscCall(gradient(TSTRAJECTORYANADROME, &found));
  PetscCall(VecEqual(expected, found, &equal));
  PetscCall(VecNorm(found, NORM_2, &norm));
  if (!(norm > 1.0)) equal = PETSC_FALSE;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", equal ? "equal" : "DIFFERENT"));
  PetscCall(VecDestroy(&expected));
  PetscCall(VecDestroy(&found));
  PetscCall(PetscFinalize());
  return equal ? 0 : 1;
}
