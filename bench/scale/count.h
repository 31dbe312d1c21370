// SPDX-License-Identifier: BSD-2-Clause
// What a rank asks of the file system, of MPI and of the heap, counted by phases of a run. The
// library of this name stands in front of libc, MPI and operator new: link it first, or name it in
// LD_PRELOAD.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// What was counted since the last call is of `phase`; of several with one name the largest counts.
/// NULL: of none.
void scale_phase(const char* phase);
/// So many files were made since then.
long scale_created(void);
/// Waits until the watch thread has written so many heartbeats since then; what it did for one of
/// them is of `phase`.
void scale_watched(const char* phase, long beats);
/// By rank 0, as CSV: a row for each phase and quantity, with the count of rank 0, the largest of
/// any other rank, and the sum over all ranks. Collective.
void scale_report(const char* path);

#ifdef __cplusplus
}
#endif
