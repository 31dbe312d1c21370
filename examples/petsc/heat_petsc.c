// SPDX-License-Identifier: BSD-2-Clause
/* The same problem as heat_equation, in PETSc's words: a DMDA for the cells, TS for the steps,
 * TSAdjoint for the gradient with respect to the conductivity and to the initial state.
 * ../heat_equation/README.md has the mathematics. Nothing here knows about anadrome: the trajectory
 * type is an option,
 *   heat_petsc -dll_append /path/to/libanadrome_petsc.so -ts_trajectory_type anadrome */
#include <petscdmda.h>
#include <petscts.h>

static const char help[] =
    "Gradient of a heat equation with respect to conductivity and initial state.\n"
    "  -da_grid_x NX -da_grid_y NY   cells (256)\n"
    "  -ts_max_steps N               steps (200)\n"
    "  -gradient FILE                write both parts, in natural order, as PETSc binary\n\n";

typedef struct {
  DM cells;
  PetscReal hx, hy, dt;
  Vec conductivity, source, target;
} Heat;

typedef PetscReal (*Function)(PetscReal x, PetscReal y);

static PetscReal conductivity(PetscReal x, PetscReal y) {
  return PetscExpReal(0.8 * PetscSinReal(2.0 * PETSC_PI * x) * PetscCosReal(PETSC_PI * y));
}

static PetscReal initial_state(PetscReal x, PetscReal y) {
  return PetscSinReal(PETSC_PI * x) * PetscSinReal(PETSC_PI * y) * (1.0 + 0.5 * x) +
         0.25 * PetscSinReal(3.0 * PETSC_PI * x) * PetscSinReal(2.0 * PETSC_PI * y);
}

static PetscReal source(PetscReal x, PetscReal y) {
  return 20.0 * PetscExpReal(-20.0 * ((x - 0.3) * (x - 0.3) + (y - 0.6) * (y - 0.6)));
}

static PetscReal target(PetscReal x, PetscReal y) {
  return 10.0 * x * (1.0 - x) * y * (1.0 - y) * (1.0 + 0.3 * PetscCosReal(4.0 * x + y));
}

// The four faces of a cell: where the neighbour is, and 1 / h^2 across the face.
typedef struct {
  PetscInt i, j;
  PetscReal scale;
  PetscBool wall;
} Face;

static void faces_of(const Heat* heat, PetscInt nx, PetscInt ny, PetscInt i, PetscInt j,
                     Face faces[4]) {
  const PetscReal across_x = 1.0 / (heat->hx * heat->hx), across_y = 1.0 / (heat->hy * heat->hy);
  faces[0] = (Face){i + 1, j, across_x, i + 1 == nx ? PETSC_TRUE : PETSC_FALSE};
  faces[1] = (Face){i - 1, j, across_x, i == 0 ? PETSC_TRUE : PETSC_FALSE};
  faces[2] = (Face){i, j + 1, across_y, j + 1 == ny ? PETSC_TRUE : PETSC_FALSE};
  faces[3] = (Face){i, j - 1, across_y, j == 0 ? PETSC_TRUE : PETSC_FALSE};
}

static PetscErrorCode fill(const Heat* heat, Function function, Vec field) {
  DMDALocalInfo info;
  PetscScalar** values;
  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(heat->cells, &info));
  PetscCall(DMDAVecGetArray(heat->cells, field, &values));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i)
      values[j][i] = function(((PetscReal)i + 0.5) * heat->hx, ((PetscReal)j + 0.5) * heat->hy);
  PetscCall(DMDAVecRestoreArray(heat->cells, field, &values));
  PetscFunctionReturn(0);
}

// A field with the cells around this rank's block.
static PetscErrorCode open_halo(const Heat* heat, Vec field, Vec* local, void* values) {
  PetscFunctionBeginUser;
  PetscCall(DMGetLocalVector(heat->cells, local));
  PetscCall(DMGlobalToLocal(heat->cells, field, INSERT_VALUES, *local));
  PetscCall(DMDAVecGetArrayRead(heat->cells, *local, values));
  PetscFunctionReturn(0);
}

static PetscErrorCode close_halo(const Heat* heat, Vec* local, const void* values) {
  PetscFunctionBeginUser;
  PetscCall(DMDAVecRestoreArrayRead(heat->cells, *local, (void*)values));
  PetscCall(DMRestoreLocalVector(heat->cells, local));
  PetscFunctionReturn(0);
}

// u_t = div(kappa grad u) + cos(40 t) s; behind a wall u changes sign and kappa goes on.
static PetscErrorCode right_hand_side(TS ts, PetscReal t, Vec u, Vec rate, void* context) {
  const Heat* heat = context;
  DMDALocalInfo info;
  Vec u_local, kappa_local;
  const PetscScalar **v, **kappa, **s;
  PetscScalar** r;
  PetscFunctionBeginUser;
  (void)ts;
  PetscCall(DMDAGetLocalInfo(heat->cells, &info));
  PetscCall(open_halo(heat, u, &u_local, &v));
  PetscCall(open_halo(heat, heat->conductivity, &kappa_local, &kappa));
  PetscCall(DMDAVecGetArrayRead(heat->cells, heat->source, (void*)&s));
  PetscCall(DMDAVecGetArray(heat->cells, rate, &r));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      Face faces[4];
      faces_of(heat, info.mx, info.my, i, j, faces);
      PetscScalar sum = PetscCosReal(40.0 * t) * s[j][i];
      for (int f = 0; f < 4; ++f) {
        const Face* at = &faces[f];
        const PetscScalar beyond = at->wall ? kappa[j][i] : kappa[at->j][at->i];
        const PetscScalar jump = (at->wall ? -v[j][i] : v[at->j][at->i]) - v[j][i];
        sum += 0.5 * at->scale * (kappa[j][i] + beyond) * jump;
      }
      r[j][i] = sum;
    }
  PetscCall(DMDAVecRestoreArray(heat->cells, rate, &r));
  PetscCall(DMDAVecRestoreArrayRead(heat->cells, heat->source, (void*)&s));
  PetscCall(close_halo(heat, &kappa_local, &kappa));
  PetscCall(close_halo(heat, &u_local, &v));
  PetscFunctionReturn(0);
}

// The part of each face in a row of a matrix: the derivative by the cell itself and by its
// neighbour.
typedef void (*FaceDerivatives)(const Face* face, PetscScalar here, PetscScalar there,
                                PetscScalar* by_here, PetscScalar* by_there);

static PetscErrorCode assemble(const Heat* heat, Vec field, FaceDerivatives derivatives,
                               Mat matrix) {
  DMDALocalInfo info;
  Vec local;
  const PetscScalar** v;
  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(heat->cells, &info));
  PetscCall(open_halo(heat, field, &local, &v));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
      const MatStencil row = {.i = i, .j = j};
      MatStencil columns[5] = {{.i = i, .j = j}};
      PetscScalar values[5] = {0};
      PetscInt count = 1;
      Face faces[4];
      faces_of(heat, info.mx, info.my, i, j, faces);
      for (int f = 0; f < 4; ++f) {
        const Face* at = &faces[f];
        PetscScalar by_here, by_there;
        derivatives(at, v[j][i], at->wall ? 0 : v[at->j][at->i], &by_here, &by_there);
        values[0] += by_here;
        if (at->wall) continue;
        columns[count] = (MatStencil){.i = at->i, .j = at->j};
        values[count++] = by_there;
      }
      PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
    }
  PetscCall(close_halo(heat, &local, &v));
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

// By u; `here` and `there` are conductivities.
static void by_state(const Face* face, PetscScalar here, PetscScalar there, PetscScalar* by_here,
                     PetscScalar* by_there) {
  *by_there = 0.5 * face->scale * (here + there);
  *by_here = face->wall ? -2.0 * face->scale * here : -*by_there;
}

// By kappa; `here` and `there` are states.
static void by_conductivity(const Face* face, PetscScalar here, PetscScalar there,
                            PetscScalar* by_here, PetscScalar* by_there) {
  *by_there = 0.5 * face->scale * (there - here);
  *by_here = face->wall ? -2.0 * face->scale * here : *by_there;
}

static PetscErrorCode jacobian(TS ts, PetscReal t, Vec u, Mat A, Mat B, void* context) {
  const Heat* heat = context;
  PetscFunctionBeginUser;
  (void)ts, (void)t, (void)u;
  PetscCall(assemble(heat, heat->conductivity, by_state, B));
  if (A != B) PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(0);
}

static PetscErrorCode jacobian_of_conductivity(TS ts, PetscReal t, Vec u, Mat A, void* context) {
  PetscFunctionBeginUser;
  (void)ts, (void)t;
  PetscCall(assemble(context, u, by_conductivity, A));
  PetscFunctionReturn(0);
}

static PetscErrorCode heat_create(Heat* heat) {
  PetscInt nx, ny;
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                         256, 256, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &heat->cells));
  PetscCall(DMSetFromOptions(heat->cells));
  PetscCall(DMSetUp(heat->cells));
  PetscCall(DMDAGetInfo(heat->cells, NULL, &nx, &ny, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL, NULL));
  heat->hx = 1.0 / (PetscReal)nx;
  heat->hy = 1.0 / (PetscReal)ny;
  heat->dt =
      0.4 / (PetscExpReal(0.8) * (1.0 / (heat->hx * heat->hx) + 1.0 / (heat->hy * heat->hy)));
  PetscCall(DMCreateGlobalVector(heat->cells, &heat->conductivity));
  PetscCall(VecDuplicate(heat->conductivity, &heat->source));
  PetscCall(VecDuplicate(heat->conductivity, &heat->target));
  PetscCall(fill(heat, conductivity, heat->conductivity));
  PetscCall(fill(heat, source, heat->source));
  PetscCall(fill(heat, target, heat->target));
  PetscFunctionReturn(0);
}

static PetscErrorCode heat_destroy(Heat* heat) {
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&heat->conductivity));
  PetscCall(VecDestroy(&heat->source));
  PetscCall(VecDestroy(&heat->target));
  PetscCall(DMDestroy(&heat->cells));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_gradient(const Heat* heat, Vec by_kappa, Vec by_u0, const char* file) {
  PetscViewer viewer;
  Vec natural;
  const Vec parts[2] = {by_kappa, by_u0};
  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
  PetscCall(DMDACreateNaturalVector(heat->cells, &natural));
  for (int part = 0; part < 2; ++part) {
    PetscCall(DMDAGlobalToNaturalBegin(heat->cells, parts[part], INSERT_VALUES, natural));
    PetscCall(DMDAGlobalToNaturalEnd(heat->cells, parts[part], INSERT_VALUES, natural));
    PetscCall(VecView(natural, viewer));
  }
  PetscCall(VecDestroy(&natural));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

// Forward, objective, backward: lambda becomes dJ/du_0 and mu dJ/dkappa.
static PetscErrorCode gradient(const Heat* heat, TS ts, Vec u, Vec lambda, Vec mu) {
  PetscReal misfit, by_u0, by_kappa;
  const PetscReal area = heat->hx * heat->hy;
  PetscFunctionBeginUser;
  PetscCall(fill(heat, initial_state, u));
  PetscCall(TSSolve(ts, u));
  PetscCall(VecWAXPY(lambda, -1.0, heat->target, u));
  PetscCall(VecNorm(lambda, NORM_2, &misfit));
  PetscCall(VecScale(lambda, area));
  PetscCall(VecZeroEntries(mu));
  PetscCall(TSSetCostGradients(ts, 1, &lambda, &mu));
  PetscCall(TSAdjointSolve(ts));
  PetscCall(VecNorm(lambda, NORM_2, &by_u0));
  PetscCall(VecNorm(mu, NORM_2, &by_kappa));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "objective      %.15e\ngradient norm  %.15e\n",
                        (double)(0.5 * area * misfit * misfit),
                        (double)PetscSqrtReal(by_u0 * by_u0 + by_kappa * by_kappa)));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Heat heat;
  TS ts;
  Mat by_u, by_kappa;
  Vec u, lambda, mu;
  char file[PETSC_MAX_PATH_LEN];
  PetscBool write = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(heat_create(&heat));
  PetscCall(DMCreateGlobalVector(heat.cells, &u));
  PetscCall(VecDuplicate(u, &lambda));
  PetscCall(VecDuplicate(u, &mu));
  PetscCall(DMCreateMatrix(heat.cells, &by_u));
  PetscCall(DMCreateMatrix(heat.cells, &by_kappa));

  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, heat.cells));
  PetscCall(TSSetRHSFunction(ts, NULL, right_hand_side, &heat));
  PetscCall(TSSetRHSJacobian(ts, by_u, by_u, jacobian, &heat));
  PetscCall(TSSetRHSJacobianP(ts, by_kappa, jacobian_of_conductivity, &heat));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSRKSetType(ts, TSRK1FE));
  PetscCall(TSSetTimeStep(ts, heat.dt));
  PetscCall(TSSetMaxSteps(ts, 200));
  PetscCall(TSSetMaxTime(ts, PETSC_MAX_REAL));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetSaveTrajectory(ts));
  PetscCall(TSSetFromOptions(ts));

  PetscCall(gradient(&heat, ts, u, lambda, mu));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-gradient", file, sizeof file, &write));
  if (write) PetscCall(write_gradient(&heat, mu, lambda, file));

  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&by_u));
  PetscCall(MatDestroy(&by_kappa));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&lambda));
  PetscCall(VecDestroy(&mu));
  PetscCall(heat_destroy(&heat));
  PetscCall(PetscFinalize());
  return 0;
}
