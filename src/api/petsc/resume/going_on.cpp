// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/resume/going_on.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/checksum.h"

namespace anadrome::petsc {
namespace {

void add_integrals(TS ts, TsParts* parts) {
  if (ts->vec_costintegral != nullptr) parts->vectors.push_back(ts->vec_costintegral);
  if (ts->quadraturets != nullptr) parts->vectors.push_back(ts->quadraturets->vec_sol);
}

TsParts going_on_parts(TS ts) {
  TsParts parts;
  parts.numbers = {numbers_of(&ts->steprestart), numbers_of(&ts->steprollback),
                   numbers_of(&ts->ksp_its),     numbers_of(&ts->snes_its),
                   numbers_of(&ts->reject),      numbers_of(&ts->num_snes_failures),
                   numbers_of(&ts->ifuncs),      numbers_of(&ts->rhsfuncs),
                   numbers_of(&ts->ijacs),       numbers_of(&ts->rhsjacs)};
  if (ts->adapt != nullptr) {
    parts.numbers.push_back(numbers_of(&ts->adapt->timestepjustdecreased));
    parts.numbers.push_back(numbers_of(&size_before_time_to_hit(ts->adapt)));
  }
  if (ts->event != nullptr) {
    for (const std::span<std::byte> numbers : event_numbers(ts->event)) {
      parts.numbers.push_back(numbers);
    }
  }
  if (ts->costintegralfwd) add_integrals(ts, &parts);
  // The solution before the last step, from which the controller estimates an error.
  if (is_theta(ts) && ts->adapt != nullptr && type_of(ts->adapt) != TSADAPTNONE) {
    parts.vectors.push_back(static_cast<const ThetaData*>(ts->data)->X0);
  }
  return parts;
}

PetscErrorCode add_vector(Vec vector, ChecksumStream* stream) {
  const TsParts parts = {.more = {&vector, 1}};
  std::size_t count = 0;
  PetscFunctionBegin;
  PetscCall(parts_bytes(parts, &count));
  Bytes bytes(count);
  PetscCall(parts_to_bytes(parts, bytes.data()));
  stream->add(bytes.data(), bytes.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode sum_of_equations(TS ts, std::uint64_t* sum) {
  Vec derivative = nullptr, values = nullptr;
  const std::array counts = {ts->ifuncs, ts->rhsfuncs};
  PetscFunctionBegin;
  PetscCall(VecDuplicate(ts->vec_sol, &derivative));
  PetscCall(VecDuplicate(ts->vec_sol, &values));
  PetscCall(VecCopy(ts->vec_sol, derivative));  // some derivative: a mass matrix counts, too
  PetscCall(VecSet(values, 1));
  PetscCall(VecAXPY(derivative, 1, values));
  PetscCall(TSComputeIFunction(ts, ts->ptime, ts->vec_sol, derivative, values, PETSC_FALSE));
  ChecksumStream stream;
  PetscCall(add_vector(values, &stream));
  if (ts->costintegralfwd) PetscCall(add_integrand(ts, &stream));
  *sum = stream.finish().low;
  PetscCall(VecDestroy(&derivative));
  PetscCall(VecDestroy(&values));
  ts->ifuncs = counts[0];
  ts->rhsfuncs = counts[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The recorder's arrays, with room for one more.
PetscErrorCode grow_recorder(TSEvent event) {
  auto& recorder = event->recorder;
  const auto size = static_cast<std::size_t>(event->recsize), more = 2 * size + 1;
  PetscReal* time = nullptr;
  PetscInt *step = nullptr, *count = nullptr, **which = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(more, &time));
  PetscCall(PetscMalloc1(more, &step));
  PetscCall(PetscMalloc1(more, &count));
  PetscCall(PetscMalloc1(more, &which));
  std::copy_n(recorder.time, size, time);
  std::copy_n(recorder.stepnum, size, step);
  std::copy_n(recorder.nevents, size, count);
  std::copy_n(recorder.eventidx, size, which);
  for (std::size_t i = size; i < more; ++i) PetscCall(PetscMalloc1(event->nevents, &which[i]));
  PetscCall(PetscFree(recorder.time));
  PetscCall(PetscFree(recorder.stepnum));
  PetscCall(PetscFree(recorder.nevents));
  PetscCall(PetscFree(recorder.eventidx));
  recorder.time = time;
  recorder.stepnum = step;
  recorder.nevents = count;
  recorder.eventidx = which;
  event->recsize = static_cast<PetscInt>(more);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::string cannot_go_on(TS ts) {
  constexpr std::array<std::string_view, 9> kTypes = {TSRK,      TSTHETA, TSCN,    TSBEULER, TSBDF,
                                                      TSARKIMEX, "dirk",  TSEULER, TSSSP};
  const std::string_view type = type_of(ts);
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
    return "-ts_type " + std::string(type) +
           ": what it remembers from one step to the next is not known; rk, theta, cn, beuler, "
           "bdf, "
           "arkimex, dirk, euler and ssp can go on";
  }
  if (ts->adapt != nullptr && ts->adapt->ops->choose != nullptr) {
    const std::string_view adapt = type_of(ts->adapt);
    if (adapt != TSADAPTNONE && adapt != TSADAPTBASIC) {
      return "-ts_adapt_type " + std::string(adapt) +
             ": what it remembers is not known; none and basic can go on";
    }
  }
  PetscBool extrapolates = PETSC_FALSE;
  const auto* const object = reinterpret_cast<PetscObject>(ts);
  (void)PetscOptionsGetBool(object->options, object->prefix,
                            "-ts_arkimex_initial_guess_extrapolate", &extrapolates, nullptr);
  if (extrapolates != PETSC_FALSE) {
    return "-ts_arkimex_initial_guess_extrapolate: the stages of the last step are not kept";
  }
  if (ts->use_splitrhsfunction) return "methods with parts of several rates are not known";
  if (ts->forward_solve) return "forward sensitivities are not kept for another process";
  if (is_theta(ts) && static_cast<const ThetaData*>(ts->data)->Theta == 1 &&
      integrates_backwards(ts)) {
    return "an integral that is summed in the reverse sweep of backward Euler depends on what the "
           "solver did last; call TSCreateQuadratureTS with PETSC_TRUE";
  }
  if (times_to_hit(ts) != nullptr) {
    return "the solutions at the points of a time span are not kept for another process";
  }
  return "";
}

PetscErrorCode going_on_bytes(TS ts, std::size_t* bytes) {
  PetscFunctionBegin;
  PetscCall(parts_bytes(going_on_parts(ts), bytes));
  *bytes += sizeof(std::uint64_t);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode going_on_columns(TS ts, std::int64_t* columns) {
  PetscFunctionBegin;
  PetscCall(parts_columns(going_on_parts(ts), columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode going_on_to_bytes(TS ts, std::byte* to) {
  const TsParts parts = going_on_parts(ts);
  std::size_t bytes = 0;
  std::uint64_t sum = 0;
  PetscFunctionBegin;
  PetscCall(parts_bytes(parts, &bytes));
  PetscCall(parts_to_bytes(parts, to));
  PetscCall(sum_of_equations(ts, &sum));
  std::memcpy(to + bytes, &sum, sizeof sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode going_on_from_bytes(TS ts, const Bytes& bytes) {
  std::size_t expected = 0;
  PetscFunctionBegin;
  PetscCall(going_on_bytes(ts, &expected));
  PetscCheck(expected == bytes.size(), comm_of(ts), PETSC_ERR_ARG_SIZ,
             "the TS has other events or another controller than before");
  PetscCall(parts_from_bytes(going_on_parts(ts), bytes.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode sum_of_limits(TS ts, std::uint64_t* sum) {
  ChecksumStream stream;
  const auto add = [&](const auto&... values) { (stream.add(&values, sizeof values), ...); };
  PetscFunctionBegin;
  const std::string_view method = type_of(ts);
  stream.add(method.data(), method.size());
  add(ts->max_steps, ts->max_time, ts->exact_final_time, ts->atol, ts->rtol);
  for (const Vec tolerances : {ts->vatol, ts->vrtol}) {
    if (tolerances != nullptr) PetscCall(add_vector(tolerances, &stream));
  }
  if (const TSAdapt adapt = ts->adapt; adapt != nullptr) {
    const std::string_view type = type_of(adapt);
    stream.add(type.data(), type.size());
    add(adapt->always_accept, adapt->safety, adapt->reject_safety, adapt->clip, adapt->dt_min,
        adapt->dt_max);
  }
  if (const SNES snes = ts->snes; snes != nullptr)
    add(snes->rtol, snes->abstol, snes->stol, snes->max_its);
  *sum = stream.finish().low;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode add_integrand(TS ts, ChecksumStream* stream) {
  TS integrator = ts->quadraturets;
  DM dm = nullptr;
  TSRHSFunction function = nullptr;
  Vec values = nullptr;
  PetscFunctionBegin;
  if (integrator == nullptr || integrator->vec_sol == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetDM(integrator, &dm));
  PetscCall(DMTSGetRHSFunction(dm, &function, nullptr));
  if (function == nullptr) PetscFunctionReturn(PETSC_SUCCESS);  // the step will say so
  const PetscInt count = integrator->rhsfuncs;
  PetscCall(VecDuplicate(integrator->vec_sol, &values));
  PetscCall(VecZeroEntries(values));
  PetscCall(TSComputeRHSFunction(integrator, ts->ptime, ts->vec_sol, values));
  PetscCall(add_vector(values, stream));
  PetscCall(VecDestroy(&values));
  integrator->rhsfuncs = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode equations_are_those_of(TS ts, const Bytes& bytes, bool* same) {
  std::uint64_t then = 0, now = 0;
  PetscFunctionBegin;
  std::memcpy(&then, bytes.data() + bytes.size() - sizeof then, sizeof then);
  PetscCall(sum_of_equations(ts, &now));
  int other = then != now;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm_of(ts)));
  *same = other == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<EventNote> events_from(TS ts, PetscInt first) {
  std::vector<EventNote> events;
  if (ts->event == nullptr) return events;
  const auto& recorder = ts->event->recorder;
  for (PetscInt i = first; i < recorder.ctr; ++i) {
    events.push_back({recorder.stepnum[i],
                      recorder.time[i],
                      {recorder.eventidx[i], recorder.eventidx[i] + recorder.nevents[i]}});
  }
  return events;
}

PetscErrorCode repeat_event(TS ts, const EventNote& event, Vec solution) {
  TSEvent state = ts->event;
  PetscFunctionBegin;
  PetscCheck(state != nullptr && static_cast<PetscInt>(event.which.size()) <= state->nevents,
             comm_of(ts), PETSC_ERR_ARG_WRONGSTATE, "the TS has other events than before");
  if (state->recorder.ctr == state->recsize) PetscCall(grow_recorder(state));
  auto& recorder = state->recorder;
  const PetscInt at = recorder.ctr++;
  recorder.time[at] = event.time;
  recorder.stepnum[at] = event.step;
  recorder.nevents[at] = static_cast<PetscInt>(event.which.size());
  std::copy(event.which.begin(), event.which.end(), recorder.eventidx[at]);
  if (state->postevent != nullptr) {
    PetscCall(state->postevent(ts, recorder.nevents[at], recorder.eventidx[at], event.time,
                               solution, PETSC_TRUE, state->ctx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_event_back(TS ts, Vec solution) {
  TSEvent state = ts->event;
  PetscFunctionBegin;
  if (state->postevent == nullptr) PetscFunctionReturn(PETSC_SUCCESS);  // PETSc leaves it, too
  const PetscInt at = state->recorder.ctr - 1;
  PetscCall(state->postevent(ts, state->recorder.nevents[at], state->recorder.eventidx[at],
                             state->recorder.time[at], solution, PETSC_FALSE, state->ctx));
  --state->recorder.ctr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

TsParts adjoint_parts(TS ts) {
  TsParts parts;
  for (Vec* const vectors : {ts->vecs_sensi, ts->vecs_sensip, ts->vecs_sensi2, ts->vecs_sensi2p}) {
    for (PetscInt i = 0; i < ts->numcost && vectors != nullptr; ++i) {
      parts.vectors.push_back(vectors[i]);
    }
  }
  if (!ts->costintegralfwd) add_integrals(ts, &parts);
  return parts;
}

}  // namespace anadrome::petsc
