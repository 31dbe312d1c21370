// SPDX-License-Identifier: BSD-2-Clause
// The problem with PETSc's TS and TSAdjoint. Which trajectory keeps the states is an option:
//   bench_instead_petsc SIDE STEPS GRADIENT_FILE [PETSc's options]
// prints seconds,forward_steps and the most bytes of memory. With "-nothing" no state is kept, and
// the gradient means nothing.
#include <petscts.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "reaction.h"

namespace {

struct Problem {
  std::size_t side;
  long forward_steps = 0;
  Vec at = nullptr;  // where the Jacobian is
};

PetscErrorCode right_hand_side(TS, PetscReal, Vec u, Vec f, void* context) {
  auto* problem = static_cast<Problem*>(context);
  const PetscScalar* from;
  PetscScalar* to;
  ++problem->forward_steps;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(u, &from));
  PetscCall(VecGetArray(f, &to));
  reaction::right_hand_side(problem->side, from, to);
  PetscCall(VecRestoreArray(f, &to));
  PetscCall(VecRestoreArrayRead(u, &from));
  PetscFunctionReturn(0);
}

PetscErrorCode jacobian(TS, PetscReal, Vec u, Mat, Mat, void* context) {
  PetscFunctionBeginUser;
  PetscCall(VecCopy(u, static_cast<Problem*>(context)->at));
  PetscFunctionReturn(0);
}

PetscErrorCode jacobian_times(Mat matrix, Vec w, Vec f) {
  Problem* problem;
  const PetscScalar *at, *from;
  PetscScalar* to;
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(matrix, &problem));
  PetscCall(VecGetArrayRead(problem->at, &at));
  PetscCall(VecGetArrayRead(w, &from));
  PetscCall(VecGetArray(f, &to));
  reaction::jacobian_times(problem->side, at, from, to);
  PetscCall(VecRestoreArray(f, &to));
  PetscCall(VecRestoreArrayRead(w, &from));
  PetscCall(VecRestoreArrayRead(problem->at, &at));
  PetscFunctionReturn(0);
}

PetscErrorCode body(Problem& problem, PetscInt steps, const char* file) {
  const PetscInt cells = static_cast<PetscInt>(problem.side * problem.side);
  Vec u, lambda;
  Mat matrix;
  TS ts;
  PetscBool nothing = PETSC_FALSE;
  PetscScalar* values;
  PetscLogDouble start, end;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-nothing", &nothing));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, cells, &u));
  PetscCall(VecDuplicate(u, &problem.at));
  PetscCall(VecDuplicate(u, &lambda));
  PetscCall(VecGetArray(u, &values));
  reaction::fill(problem.side, values);
  PetscCall(VecRestoreArray(u, &values));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, cells, cells, cells, cells, &problem, &matrix));
  PetscCall(MatShellSetOperation(matrix, MATOP_MULT_TRANSPOSE,
                                 reinterpret_cast<void (*)()>(jacobian_times)));
  PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSRKSetType(ts, TSRK1FE));
  PetscCall(TSSetRHSFunction(ts, nullptr, right_hand_side, &problem));
  PetscCall(TSSetRHSJacobian(ts, matrix, matrix, jacobian, &problem));
  PetscCall(TSSetTimeStep(ts, reaction::kDt));
  PetscCall(TSSetMaxSteps(ts, steps));
  PetscCall(TSSetMaxTime(ts, 1e9));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  if (!nothing) PetscCall(TSSetSaveTrajectory(ts));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(PetscTime(&start));
  PetscCall(TSSolve(ts, u));
  PetscCall(VecCopy(u, lambda));
  if (nothing) {
    Vec change;
    PetscCall(VecDuplicate(u, &change));
    PetscCall(VecCopy(u, problem.at));
    for (PetscInt k = 0; k < steps; ++k) {
      PetscCall(MatMultTranspose(matrix, lambda, change));
      PetscCall(VecAXPY(lambda, reaction::kDt, change));
    }
    PetscCall(VecDestroy(&change));
  } else {
    PetscCall(TSSetCostGradients(ts, 1, &lambda, nullptr));
    PetscCall(TSAdjointSolve(ts));
  }
  PetscCall(PetscTime(&end));
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  std::printf("%.6f,%ld,%ld\n", end - start, problem.forward_steps, 1024 * used.ru_maxrss);
  PetscCall(VecGetArray(lambda, &values));
  std::FILE* out = std::fopen(file, "wb");
  PetscCheck(out && std::fwrite(values, sizeof(double), static_cast<std::size_t>(cells), out) ==
                        static_cast<std::size_t>(cells),
             PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot write %s", file);
  std::fclose(out);
  PetscCall(VecRestoreArray(lambda, &values));
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&matrix));
  PetscCall(VecDestroy(&lambda));
  PetscCall(VecDestroy(&problem.at));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Problem problem{static_cast<std::size_t>(std::atol(argv[1]))};
  const PetscInt steps = std::atoi(argv[2]);
  const char* file = argv[3];
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(body(problem, steps, file));
  return PetscFinalize();
}
