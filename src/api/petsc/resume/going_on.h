// SPDX-License-Identifier: BSD-2-Clause
// What a TS needs beside a record to go on in another process as it would have here: where its
// controller and its search for events are, the integrals so far, its counters.
#pragma once

#include <cstdint>
#include <string>

#include "api/petsc/records/ts_parts.h"
#include "api/petsc/resume/notes_file.h"
#include "base/checksum.h"

namespace anadrome::petsc {

/// Why a TS that is set up cannot go on in another process; "": it can.
std::string cannot_go_on(TS ts);

/// Bytes of this rank.
PetscErrorCode going_on_bytes(TS ts, std::size_t* bytes);
/// See parts_columns.
PetscErrorCode going_on_columns(TS ts, std::int64_t* columns);
/// Collective. With a sum of the values of the program's equations at this time and solution, and
/// of the integrand of an integral that the forward sweep computes.
PetscErrorCode going_on_to_bytes(TS ts, std::byte* to);
PetscErrorCode going_on_from_bytes(TS ts, const Bytes& bytes);

/// Of what decides how far the TS goes and how exactly: its limits, tolerances and controller.
PetscErrorCode sum_of_limits(TS ts, std::uint64_t* sum);
/// Collective: the values, now, of the integrand of TSCreateQuadratureTS, if there is one.
PetscErrorCode add_integrand(TS ts, ChecksumStream* stream);
/// Collective: is the sum in `bytes` that of the program's equations as they are now?
PetscErrorCode equations_are_those_of(TS ts, const Bytes& bytes, bool* same);

/// An event of the TS's recorder.
struct EventNote {
  PetscInt step = 0;
  PetscReal time = 0;
  std::vector<PetscInt> which;
};
std::vector<EventNote> events_from(TS ts, PetscInt first);
/// As if it had happened now: put into the recorder, and handled once more with `solution`, of
/// which nothing is kept.
PetscErrorCode repeat_event(TS ts, const EventNote& event, Vec solution);
/// The recorder's last event is taken back, as the adjoint would: handled with PETSC_FALSE.
PetscErrorCode take_event_back(TS ts, Vec solution);

/// The vectors that an adjoint solve adds to: the gradients and what belongs to them.
TsParts adjoint_parts(TS ts);

}  // namespace anadrome::petsc
