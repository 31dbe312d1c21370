// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/steps/suspension.h"

#include <algorithm>
#include <utility>

namespace anadrome::petsc {
namespace {

constexpr std::array kCounts = {
    &_p_TS::steps,  &_p_TS::ksp_its,  &_p_TS::snes_its, &_p_TS::reject, &_p_TS::num_snes_failures,
    &_p_TS::ifuncs, &_p_TS::rhsfuncs, &_p_TS::ijacs,    &_p_TS::rhsjacs};
constexpr std::array kTimes = {&_p_TS::ptime, &_p_TS::ptime_prev, &_p_TS::ptime_prev_rollback,
                               &_p_TS::time_step};
constexpr std::array kViews = {&_p_KSP::view,       &_p_KSP::viewPre,    &_p_KSP::viewRate,
                               &_p_KSP::viewMat,    &_p_KSP::viewPMat,   &_p_KSP::viewRhs,
                               &_p_KSP::viewSol,    &_p_KSP::viewMatExp, &_p_KSP::viewEV,
                               &_p_KSP::viewSV,     &_p_KSP::viewEVExp,  &_p_KSP::viewFinalRes,
                               &_p_KSP::viewPOpExp, &_p_KSP::viewDScale};

}  // namespace

PetscErrorCode Suspension::begin(TS ts, TSAdapt adapt) {
  PetscFunctionBegin;
  adapt_ = std::exchange(ts->adapt, adapt);
  event_ = std::exchange(ts->event, nullptr);
  times_ = std::exchange(times_to_hit(ts), nullptr);
  reason_ = ts->reason;
  error_if_step_failed_ = std::exchange(ts->errorifstepfailed, PETSC_FALSE);
  steprollback_ = std::exchange(ts->steprollback, PETSC_FALSE);
  for (std::size_t i = 0; i < kCounts.size(); ++i) counts_[i] = ts->*kCounts[i];
  for (std::size_t i = 0; i < kTimes.size(); ++i) when_[i] = ts->*kTimes[i];
  if (ts->snes != nullptr && ts->usessnes) {
    PetscCall(silence(ts));
    PetscCall(hold_solver_vectors(ts));
  }
  if (ts->quadraturets != nullptr && ts->costintegralfwd) {
    PetscCall(VecDuplicate(ts->quadraturets->vec_sol, &integrals_));
    PetscCall(VecCopy(ts->quadraturets->vec_sol, integrals_));
  }
  if (ts->forward_solve && ts->quadraturets != nullptr && ts->quadraturets->mat_sensip != nullptr) {
    PetscCall(MatDuplicate(ts->quadraturets->mat_sensip, MAT_COPY_VALUES, &integral_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Some views are looked up in the options whenever a solver has solved: with a prefix that nobody
// uses it finds none.
PetscErrorCode Suspension::silence(TS ts) {
  static char unused[] = "anadrome_run_again_";
  SNES snes = ts->snes;
  KSP ksp = nullptr;
  PetscFunctionBegin;
  PetscCall(SNESGetKSP(snes, &ksp));
  for (PetscInt* number : {&snes->numbermonitors, &snes->numberreasonviews, &ksp->numbermonitors,
                           &ksp->numberreasonviews}) {
    monitors_.push_back({number, std::exchange(*number, 0)});
  }
  for (PetscBool _p_KSP::*view : kViews) {
    views_.push_back({&(ksp->*view), std::exchange(ksp->*view, PETSC_FALSE)});
  }
  for (PetscViewer* viewer : reason_viewers(snes, ksp)) {
    reasons_.push_back({viewer, std::exchange(*viewer, nullptr)});
  }
  for (void* solver : {static_cast<void*>(snes), static_cast<void*>(ksp)}) {
    char** const prefix = &static_cast<PetscObject>(solver)->prefix;
    prefixes_.push_back({prefix, std::exchange(*prefix, unused)});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A Jacobian by coloured differences takes the solver's right-hand side off the values, and its
// last residual for the value at its last solution. After a replay these would be others than in a
// program that did not replay, and the noise of the differences with them. The theta method with
// theta=1 takes the integrand of an integral over the reverse sweep at the solver's last solution,
// too. Not where such a vector is a stage, which is what was asked for.
PetscErrorCode Suspension::hold_solver_vectors(TS ts) {
  PetscObject coloring = nullptr;
  PetscInt count = 0;
  Vec* stages = nullptr;
  PetscFunctionBegin;
  if (ts->snes->jacobian_pre != nullptr) {
    PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(ts->snes->jacobian_pre),
                               "SNESMatFDColoring", &coloring));
  }
  if (coloring == nullptr && !integrates_backwards(ts)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetStages(ts, &count, &stages));
  vectors_[0].live = ts->snes->vec_sol;
  if (coloring != nullptr) vectors_[1].live = ts->snes->vec_rhs;
  for (auto& [live, copy] : vectors_) {
    const bool stage = std::find(stages, stages + count, live) != stages + count;
    if (live == nullptr || live == ts->vec_sol || stage) continue;
    PetscCall(VecDuplicate(live, &copy));
    PetscCall(VecCopy(live, copy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Suspension::end(TS ts) {
  PetscFunctionBegin;
  ts->adapt = adapt_;
  ts->event = event_;
  times_to_hit(ts) = times_;
  ts->reason = reason_;
  ts->errorifstepfailed = error_if_step_failed_;
  ts->steprollback = steprollback_;
  // Results that a method keeps of earlier steps (FSAL: the last stage) are now of other steps.
  ts->steprestart = PETSC_TRUE;
  for (std::size_t i = 0; i < kCounts.size(); ++i) ts->*kCounts[i] = counts_[i];
  for (std::size_t i = 0; i < kTimes.size(); ++i) ts->*kTimes[i] = when_[i];
  for (const auto& [number, was] : monitors_) *number = was;
  for (const auto& [view, was] : views_) *view = was;
  for (const auto& [prefix, was] : prefixes_) *prefix = was;
  for (const auto& [viewer, was] : reasons_) *viewer = was;
  for (auto& [live, copy] : vectors_) {
    if (copy == nullptr) continue;
    PetscCall(VecCopy(copy, live));
    PetscCall(VecDestroy(&copy));
  }
  if (integrals_ != nullptr) {
    PetscCall(VecCopy(integrals_, ts->quadraturets->vec_sol));
    PetscCall(VecDestroy(&integrals_));
  }
  if (integral_ != nullptr) {
    PetscCall(MatCopy(integral_, ts->quadraturets->mat_sensip, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&integral_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc
