// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/records/method_memory.h"

namespace anadrome::petsc {
namespace {

// First same as last: the last slope of a step is the first of the next one, and is not computed.
PetscErrorCode of_rk(TS ts, PetscInt count, const Vec* stages, TsParts* memory) {
  auto* rk = static_cast<RkData*>(ts->data);
  PetscBool first_same_as_last = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(TSRKGetTableau(ts, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                           &first_same_as_last));
  if (first_same_as_last != PETSC_FALSE && rk->Y == stages) {
    memory->more = {&rk->YdotRHS[count - 1], 1};
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
  if (kept && ark->Y == stages) memory->more = {&ark->YdotI[count - 1], 1};
  PetscFunctionReturn(PETSC_SUCCESS);
}

void of_theta(TS ts, const Vec* stages, TsParts* memory) {
  const auto* theta = static_cast<const ThetaData*>(ts->data);
  if (theta->Stages == stages && theta->extrapolate) memory->more = {&theta->Xdot, 1};
}

PetscErrorCode of_bdf(TS ts, TsParts* memory) {
  auto* bdf = static_cast<BdfData*>(ts->data);
  PetscInt order = 0;
  PetscFunctionBegin;
  PetscCall(TSBDFGetOrder(ts, &order));
  memory->more = {bdf->work, static_cast<std::size_t>(order) + 2};
  memory->numbers = {numbers_of(&bdf->k), numbers_of(&bdf->n), numbers_of(bdf->time, 8)};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a BDF method keeps twice is made again.
PetscErrorCode renew_bdf(TS ts) {
  const auto* data = static_cast<const BdfData*>(ts->data);
  PetscInt order = 0;
  PetscFunctionBegin;
  PetscCall(TSBDFGetOrder(ts, &order));
  for (PetscInt i = 1; i < order + 2; ++i) {
    if (data->tvwork[i] == nullptr || data->tvwork[i] == data->work[i]) continue;
    PetscCall(TSComputeTransientVariable(ts, data->work[i], data->tvwork[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode method_memory(TS ts, TsParts* memory) {
  const std::string_view type = type_of(ts);
  const bool rk = type == TSRK;
  const bool arkimex = type == TSARKIMEX || type == "dirk";  // TSDIRK, since 3.20
  PetscInt count = 0;
  Vec* stages = nullptr;
  PetscFunctionBegin;
  if (type == TSBDF) PetscCall(of_bdf(ts, memory));
  if (rk || arkimex || is_theta(ts)) PetscCall(TSGetStages(ts, &count, &stages));
  if (rk) PetscCall(of_rk(ts, count, stages, memory));
  if (arkimex) PetscCall(of_arkimex(ts, count, stages, memory));
  if (is_theta(ts)) of_theta(ts, stages, memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode method_memory_is_back(TS ts) {
  PetscFunctionBegin;
  if (type_of(ts) == TSBDF) PetscCall(renew_bdf(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc
