// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/steps/step_watch.h"

#include "api/petsc/records/guard.h"

namespace anadrome::petsc {
namespace {

constexpr char kName[] = "anadrome step watch";

StepWatch* stepping = nullptr;  // whose step is under way

}  // namespace

// NULL: none. Not an error code: the step function has nobody to tell.
std::shared_ptr<StepWatch>* StepWatch::of(TS ts) {
  PetscObject found = nullptr;
  void* content = nullptr;
  if (PetscObjectQuery(reinterpret_cast<PetscObject>(ts), kName, &found) != 0) return nullptr;
  if (found == nullptr) return nullptr;
  if (PetscContainerGetPointer(reinterpret_cast<PetscContainer>(found), &content) != 0) {
    return nullptr;
  }
  return static_cast<std::shared_ptr<StepWatch>*>(content);
}

bool StepWatch::is_inner(TS ts) { return stepping != nullptr && stepping->ts_ != ts; }

void StepWatch::ts_is_gone(std::shared_ptr<StepWatch>* watch) {
  (*watch)->ts_ = nullptr;
  delete watch;
}

PetscErrorCode StepWatch::original(TS ts, Step* found) {
  TSAdapt adapt = nullptr;
  PetscFunctionBegin;
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(adapt), kName, found));
  if (*found == nullptr && stepping != nullptr) *found = stepping->step_;  // cloned in a step
  PetscCheck(*found != nullptr, comm_of(ts), PETSC_ERR_PLIB, "the step function of a TS is lost");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StepWatch::attach(TS ts, const void* owner, std::shared_ptr<StepWatch>* watch) {
  PetscContainer container = nullptr;
  PetscFunctionBegin;
  if (const std::shared_ptr<StepWatch>* there = of(ts); there != nullptr) {
    *watch = *there;
  } else {
    using Content = std::shared_ptr<StepWatch>;
    *watch = std::make_shared<StepWatch>();
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(set_container<Content, ts_is_gone>(container, new Content(*watch)));
    PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(ts), kName,
                                 reinterpret_cast<PetscObject>(container)));
    PetscCall(PetscContainerDestroy(&container));
  }
  (*watch)->ts_ = ts;
  (*watch)->owner_ = owner;
  (*watch)->before = nullptr;
  if (ts->ops->step == step) {
    PetscCall(original(ts, &(*watch)->step_));  // a clone, maybe
  } else {
    (*watch)->step_ = std::exchange(ts->ops->step, step);
  }
  TSAdapt adapt = nullptr;
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(
      PetscObjectComposeFunction(reinterpret_cast<PetscObject>(adapt), kName, (*watch)->step_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void StepWatch::detach(const void* owner) {
  if (owner != owner_) return;
  before = nullptr;
  if (ts_ != nullptr && ts_->ops->step == step) ts_->ops->step = step_;
}

PetscErrorCode StepWatch::step(TS ts) {
  return guard([&] { return watched_step(ts); });
}

PetscErrorCode StepWatch::watched_step(TS ts) {
  const std::shared_ptr<StepWatch>* const there = of(ts);
  PetscFunctionBegin;
  if (there == nullptr) {
    Step original_step = nullptr;
    PetscCall(original(ts, &original_step));
    PetscCall(original_step(ts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  StepWatch& watch = **there;
  if (watch.paused_) {
    PetscCall(watch.take_step());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (watch.before) {
    bool taken = false;
    PetscCall(watch.before(ts, &taken));
    if (taken) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (watch.seen_.calls.empty()) watch.seen_.restarted = ts->steprestart != PETSC_FALSE;
  watch.sizes_.clear();
  const TSAdapt adapt = ts->adapt;
  const bool chooses = adapt != nullptr && adapt->ops->choose != nullptr;
  if (chooses) watch.choose_ = std::exchange(adapt->ops->choose, choose);
  const PetscErrorCode outcome = watch.take_step();
  if (chooses) adapt->ops->choose = watch.choose_;
  PetscCall(outcome);
  StepCall call;
  call.size = ts->time_step;  // nobody was asked: it stays as it is
  if (!watch.sizes_.empty()) {
    call.size = watch.sizes_.back();
    watch.sizes_.pop_back();
    call.refused = std::exchange(watch.sizes_, {});
  }
  watch.seen_.calls.push_back(std::move(call));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StepWatch::take_step() {
  PetscFunctionBegin;
  StepWatch* const outer = std::exchange(stepping, this);
  const PetscErrorCode outcome = step_(ts_);
  stepping = outer;
  PetscCall(outcome);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StepWatch::choose(TSAdapt adapt, TS ts, PetscReal h, PetscInt* scheme,
                                 PetscReal* next, PetscBool* accept, PetscReal* wlte,
                                 PetscReal* wltea, PetscReal* wlter) {
  StepWatch& watch = *stepping;
  PetscFunctionBegin;
  PetscCall(guard([&]() -> PetscErrorCode {
    if (ts == watch.ts_) watch.sizes_.push_back(h);  // a clone has the same controller
    return PETSC_SUCCESS;
  }));
  PetscCall(watch.choose_(adapt, ts, h, scheme, next, accept, wlte, wltea, wlter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc
