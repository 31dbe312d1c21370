/* SPDX-License-Identifier: BSD-2-Clause */
/* A TS on a DMPlex, with its adjoint, since no tutorial of PETSc's has one: nonlinear diffusion
   between the cells of a mesh, u_t = div((1 + u^2) grad u) + u (1 - u), by finite volumes; J =
   |u(T)|^2 / 2. The trajectory is an option, as in the tutorials; so is the partitioner, for which
   cases.csv has `simple`: PTScotch crashes in Debian's PETSc with 64-bit indices. */
#include <petscdmplex.h>
#include <petscts.h>

static PetscErrorCode CreateMesh(DM* mesh) {
  PetscSection cells;
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, mesh));
  PetscCall(DMSetType(*mesh, DMPLEX));
  PetscCall(DMSetBasicAdjacency(*mesh, PETSC_TRUE, PETSC_FALSE));
  PetscCall(DMSetFromOptions(*mesh));
  PetscCall(DMPlexGetHeightStratum(*mesh, 0, &first, &end));
  PetscCall(PetscSectionCreate(PETSC_COMM_WORLD, &cells));
  PetscCall(PetscSectionSetChart(cells, first, end));
  for (PetscInt cell = first; cell < end; ++cell) PetscCall(PetscSectionSetDof(cells, cell, 1));
  PetscCall(PetscSectionSetUp(cells));
  PetscCall(DMSetLocalSection(*mesh, cells));
  PetscCall(PetscSectionDestroy(&cells));
  PetscFunctionReturn(0);
}

/* The places in a local vector of the cells at both sides of a face; none at the boundary. */
static PetscErrorCode CellsOf(DM mesh, PetscInt face, PetscInt places[2], PetscBool* both) {
  const PetscInt* cells;
  PetscInt count;
  PetscSection section;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalSection(mesh, &section));
  PetscCall(DMPlexGetSupportSize(mesh, face, &count));
  PetscCall(DMPlexGetSupport(mesh, face, &cells));
  *both = (PetscBool)(count == 2);
  for (PetscInt i = 0; i < count; ++i)
    PetscCall(PetscSectionGetOffset(section, cells[i], &places[i]));
  PetscFunctionReturn(0);
}

static PetscErrorCode RightSide(TS ts, PetscReal t, Vec U, Vec F, void* context) {
  DM mesh;
  Vec local_u, local_f;
  const PetscScalar* u;
  PetscScalar* f;
  PetscInt first, end, size;

  PetscFunctionBeginUser;
  (void)t, (void)context;
  PetscCall(TSGetDM(ts, &mesh));
  PetscCall(DMGetLocalVector(mesh, &local_u));
  PetscCall(DMGetLocalVector(mesh, &local_f));
  PetscCall(DMGlobalToLocal(mesh, U, INSERT_VALUES, local_u));
  PetscCall(VecGetLocalSize(local_u, &size));
  PetscCall(VecGetArrayRead(local_u, &u));
  PetscCall(VecGetArray(local_f, &f));
  for (PetscInt i = 0; i < size; ++i) f[i] = u[i] * (1.0 - u[i]);
  PetscCall(DMPlexGetHeightStratum(mesh, 1, &first, &end));
  for (PetscInt face = first; face < end; ++face) {
    PetscInt at[2];
    PetscBool both;
    PetscCall(CellsOf(mesh, face, at, &both));
    if (!both) continue;
    const PetscScalar mean = 0.5 * (u[at[0]] + u[at[1]]);
    const PetscScalar flux = (1.0 + mean * mean) * (u[at[1]] - u[at[0]]);
    f[at[0]] += flux;
    f[at[1]] -= flux;
  }
  PetscCall(VecRestoreArray(local_f, &f));
  PetscCall(VecRestoreArrayRead(local_u, &u));
  PetscCall(
      DMLocalToGlobal(mesh, local_f, INSERT_VALUES, F)); /* the owner has all faces of its cells */
  PetscCall(DMRestoreLocalVector(mesh, &local_f));
  PetscCall(DMRestoreLocalVector(mesh, &local_u));
  PetscFunctionReturn(0);
}

static PetscErrorCode Jacobian(TS ts, PetscReal t, Vec U, Mat A, Mat P, void* context) {
  DM mesh;
  Vec local_u;
  PetscSection global, section;
  const PetscScalar* u;
  PetscInt first, end, row, begin, after;

  PetscFunctionBeginUser;
  (void)t, (void)context;
  PetscCall(TSGetDM(ts, &mesh));
  PetscCall(DMGetLocalSection(mesh, &section));
  PetscCall(DMGetGlobalSection(mesh, &global));
  PetscCall(DMGetLocalVector(mesh, &local_u));
  PetscCall(DMGlobalToLocal(mesh, U, INSERT_VALUES, local_u));
  PetscCall(VecGetArrayRead(local_u, &u));
  PetscCall(MatZeroEntries(P));
  PetscCall(MatGetOwnershipRange(P, &begin, &after));
  PetscCall(DMPlexGetHeightStratum(mesh, 0, &first, &end));
  for (PetscInt cell = first; cell < end; ++cell) {
    PetscInt place;
    PetscCall(PetscSectionGetOffset(global, cell, &row));
    PetscCall(PetscSectionGetOffset(section, cell, &place));
    if (row < begin || row >= after) continue; /* another rank's: negative */
    PetscCall(MatSetValue(P, row, row, 1.0 - 2.0 * u[place], ADD_VALUES));
    const PetscInt* faces;
    PetscInt count;
    PetscCall(DMPlexGetConeSize(mesh, cell, &count));
    PetscCall(DMPlexGetCone(mesh, cell, &faces));
    for (PetscInt i = 0; i < count; ++i) {
      PetscInt at[2], column;
      PetscBool both;
      const PetscInt* cells;
      PetscCall(CellsOf(mesh, faces[i], at, &both));
      if (!both) continue;
      PetscCall(DMPlexGetSupport(mesh, faces[i], &cells));
      const PetscInt other = cells[0] == cell ? 1 : 0;
      PetscCall(PetscSectionGetOffset(global, cells[other], &column));
      if (column < 0) column = -(column + 1);
      const PetscScalar mean = 0.5 * (u[at[0]] + u[at[1]]), step = u[at[other]] - u[place];
      PetscCall(MatSetValue(P, row, column, 1.0 + mean * mean + mean * step, ADD_VALUES));
      PetscCall(MatSetValue(P, row, row, -(1.0 + mean * mean) + mean * step, ADD_VALUES));
    }
  }
  PetscCall(VecRestoreArrayRead(local_u, &u));
  PetscCall(DMRestoreLocalVector(mesh, &local_u));
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  if (A != P) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  DM mesh;
  TS ts;
  Vec u, lambda;
  Mat jacobian;
  PetscInt first, end;
  PetscReal norm;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(CreateMesh(&mesh));
  PetscCall(DMCreateGlobalVector(mesh, &u));
  PetscCall(DMCreateMatrix(mesh, &jacobian));
  PetscCall(VecGetOwnershipRange(u, &first, &end));
  for (PetscInt i = first; i < end; ++i)
    PetscCall(VecSetValue(u, i, 0.5 + 0.3 * PetscSinReal((PetscReal)(7 * i)), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(u));
  PetscCall(VecAssemblyEnd(u));

  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, mesh));
  PetscCall(TSSetRHSFunction(ts, NULL, RightSide, NULL));
  PetscCall(TSSetRHSJacobian(ts, jacobian, jacobian, Jacobian, NULL));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetSaveTrajectory(ts));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "|u| = %.16g\n", (double)norm));
  PetscCall(VecDuplicate(u, &lambda));
  PetscCall(VecCopy(u, lambda));
  PetscCall(TSSetCostGradients(ts, 1, &lambda, NULL));
  PetscCall(TSAdjointSolve(ts));
  PetscCall(VecNorm(lambda, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "|dJ/du(0)| = %.16g\n", (double)norm));

  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&jacobian));
  PetscCall(VecDestroy(&lambda));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&mesh));
  PetscCall(PetscFinalize());
  return 0;
}
