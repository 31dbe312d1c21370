// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/method_memory.h"

namespace anadrome::petsc {
namespace {

PetscErrorCode is(TS ts, TSType type, bool* yes) {
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ts), type, &same));
  *yes = same != PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// First same as last: the last slope of a step is the first of the next one, and is not computed.
PetscErrorCode of_rk(TS ts, PetscInt count, const Vec* stages, TsParts* memory) {
  auto* rk = static_cast<RkData*>(ts->data);
  PetscBool first_same_as_last = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(TSRKGetTableau(ts, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                           &first_same_as_last));
  if (first_same_as_last != PETSC_FALSE && rk->Y == stages) {
    memory->vectors.push_back(rk->YdotRHS[count - 1]);
    memory->numbers = slope_flags(rk);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same for the implicit part, where the equation gives no slope.
PetscErrorCode of_arkimex(TS ts, PetscInt count, const Vec* stages, TsParts* memory) {
  const auto* ark = static_cast<const ArkimexData*>(ts->data);
  DM dm = nullptr;
  PetscErrorCode (*right_hand_side)(TS, PetscReal, Vec, Vec, void*) = nullptr;
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetRHSFunction(dm, &right_hand_side, nullptr));
  const bool kept = right_hand_side == nullptr || ts->equation_type >= TS_EQ_IMPLICIT;
  if (kept && ark->Y == stages) memory->vectors.push_back(ark->YdotI[count - 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void of_theta(TS ts, const Vec* stages, TsParts* memory) {
  const auto* theta = static_cast<const ThetaData*>(ts->data);
  if (theta->Stages == stages && theta->extrapolate) memory->vectors.push_back(theta->Xdot);
}

PetscErrorCode of_bdf(TS ts, TsParts* memory) {
  auto* bdf = static_cast<BdfData*>(ts->data);
  PetscInt order = 0;
  PetscFunctionBegin;
  PetscCall(TSBDFGetOrder(ts, &order));
  memory->vectors.assign(bdf->work, bdf->work + order + 2);
  memory->numbers = {numbers_of(&bdf->k), numbers_of(&bdf->n), numbers_of(bdf->time, 8)};
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode method_memory(TS ts, TsParts* memory) {
  bool rk = false, arkimex = false, dirk = false, theta = false, cn = false, beuler = false,
       bdf = false;
  PetscInt count = 0;
  Vec* stages = nullptr;
  PetscFunctionBegin;
  *memory = {};
  PetscCall(is(ts, TSBDF, &bdf));
  if (bdf) {
    PetscCall(of_bdf(ts, memory));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(is(ts, TSRK, &rk));
  PetscCall(is(ts, TSARKIMEX, &arkimex));
  PetscCall(is(ts, "dirk", &dirk));  // TSDIRK, since 3.20
  PetscCall(is(ts, TSTHETA, &theta));
  PetscCall(is(ts, TSCN, &cn));
  PetscCall(is(ts, TSBEULER, &beuler));
  if (!rk && !arkimex && !dirk && !theta && !cn && !beuler) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetStages(ts, &count, &stages));
  if (rk) PetscCall(of_rk(ts, count, stages, memory));
  if (arkimex || dirk) PetscCall(of_arkimex(ts, count, stages, memory));
  if (theta || cn || beuler) of_theta(ts, stages, memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode method_memory_replaced(TS ts) {
  bool bdf = false;
  PetscFunctionBegin;
  PetscCall(is(ts, TSBDF, &bdf));
  if (!bdf) PetscFunctionReturn(PETSC_SUCCESS);
  const auto* data = static_cast<const BdfData*>(ts->data);
  PetscInt order = 0;
  PetscCall(TSBDFGetOrder(ts, &order));
  for (PetscInt i = 1; i < order + 2; ++i) {
    if (data->tvwork[i] == nullptr || data->tvwork[i] == data->work[i]) continue;
    PetscCall(TSComputeTransientVariable(ts, data->work[i], data->tvwork[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc
