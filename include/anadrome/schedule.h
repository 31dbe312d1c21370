// SPDX-License-Identifier: BSD-2-Clause
/** @file schedule.h
 * A schedule as a stream of actions, for programs and frameworks that keep, restore and recompute
 * states themselves and want to know in which order. Conventions as in anadrome.h: steps count from
 * 0, x_k is what step k starts from. Local, and no MPI needed; a stream is for one thread at a
 * time. */
#ifndef ANADROME_SCHEDULE_H
#define ANADROME_SCHEDULE_H

#include <stdint.h>

#include <anadrome/export.h>
#include <anadrome/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The actions of one sweep, forward and reverse, one after the other. */
typedef struct anadrome_schedule anadrome_schedule;

/** What the caller does. The live state is the one that the next step starts from; x_0 is live at
 * the beginning, except with branches. */
typedef enum anadrome_schedule_kind ANADROME_AS_INT {
  /** Run steps first to last-1 from the live state x_first; x_last is live then. `record`: the last
   * step fills the tape. */
  ANADROME_SCHEDULE_ADVANCE = 1,
  /** x_n (`first`) is live: evaluate the objective, set the adjoint variables. No state is live
   * then; a tape stays. */
  ANADROME_SCHEDULE_TURN = 2,
  /** The adjoint of step `first`, whose state is live or, with record=1, whose tape was filled or
   * restored before. Nothing is live then. */
  ANADROME_SCHEDULE_ADJOINT = 3,
  /** Nothing is left to do, now and at every further call; nothing that is kept is needed. */
  ANADROME_SCHEDULE_DONE = 4,
  /** Make x_0 of `branch` live; `again`: not for the first time. */
  ANADROME_SCHEDULE_START = 5,
  /** Copy the live state x_first, or the tape of step `first` that was just filled, to `slot` of
   * `tier`. */
  ANADROME_SCHEDULE_KEEP = 6,
  /** Copy it back. It is live then, and stays where it is kept. */
  ANADROME_SCHEDULE_RESTORE = 7,
  /** It is not needed there any more. With overlapped and offload, of a state on disk: not in
   * memory; its slot on disk is free when KEEP names it again. */
  ANADROME_SCHEDULE_DROP = 8,
  /** Of overlapped and offload: begin to write the state that was kept in `slot` of tier 1. KEEP
   * there, and RESTORE, copy in memory only. */
  ANADROME_SCHEDULE_WRITE = 9,
  /** Of overlapped and offload: begin to read it back into memory, for a RESTORE to come. */
  ANADROME_SCHEDULE_READ = 10
} anadrome_schedule_kind;

/** What is kept. */
typedef enum anadrome_schedule_what ANADROME_AS_INT {
  ANADROME_SCHEDULE_STATE = 0, /**< a state */
  ANADROME_SCHEDULE_TAPE = 1   /**< a tape; with stiff=1 its RESTORE makes x_{first+1} live, too */
} anadrome_schedule_what;

/** One action. Members that say nothing about it are 0. */
typedef struct anadrome_schedule_action {
  anadrome_schedule_kind kind; /**< what to do */
  anadrome_schedule_what what; /**< KEEP, RESTORE, DROP: a state or a tape */
  int32_t tier;                /**< KEEP, RESTORE, DROP, WRITE, READ: 0 is memory, 1 is disk */
  int32_t record;              /**< ADVANCE: not 0: fill the tape in step last-1 */
  int32_t again;               /**< ADVANCE, START, TURN: not 0: not for the first time */
  int32_t reserved_int;        /**< 0 */
  int64_t first;               /**< the first step, or the step of the state or tape */
  int64_t last;   /**< ADVANCE: one past the last step; ADJOINT: first + 1; others: first */
  int64_t branch; /**< START, ADVANCE, TURN, ADJOINT: whose step this is, from 0 */
  /** KEEP, RESTORE, DROP, WRITE, READ: a number from 0 within the tier. A tape takes `tape_slots`
   * of them, of which this is the first. */
  int64_t slot;
  int64_t begin;       /**< where it lies in memory, in slots, or with `bytes` in bytes */
  int64_t units;       /**< how much of it that takes, in slots or in bytes */
  int64_t reserved[4]; /**< 0 */
} anadrome_schedule_action;

/** Open a stream. `options` are words "key=value" with blanks between them, the ones of
 * `anadrome count`. Costs are in seconds, or in any other unit, the same for all; a list has commas
 * between its numbers.
 *
 * - `schedule`: store_all, revolve, async, mixed, overlapped, double, disk_revolve, hrevolve,
 *   multistage, uneven, least_memory, offload, online or join. Required.
 * - `steps`: n, or `unknown`; with join the lengths of the branches, a list. Required.
 * - `slots`: states in memory at a time, beside the live one. Required.
 * - `disk_slots`: states on disk at a time, or `unlimited` (default).
 * - `interval`: async, double: steps between states on disk. Default: the best one for the costs.
 * - `record`: 1: an adjoint step needs the tape of its step, which an ADVANCE fills before it.
 *   Default 0: it needs the state.
 * - `tape_slots`: async, double, mixed, store_all: tapes are kept, each in so many slots; implies
 *   record=1. Default: mixed 1, others keep none.
 * - `stiff`: mixed: 1: the tape of step k holds x_{k+1}. Default 0.
 * - `uf`, `ub`: what a step costs, and its adjoint (without record=1: with what that runs of its
 *   step). A list has a number for each step: of `uf` for uneven and offload, of `ub` for offload.
 *   Defaults 1 and 0.
 * - `write`, `read`: what a write and a read of a state cost. Default 0.
 * - `bytes`: least_memory, offload, uneven: a list, the bytes of x_0 to x_{n-1}. `slots` are bytes
 *   then; offload counts in pages of 4096 or more.
 * - `objective` (joint, reducible) and `inputs` (free, charged): join: joint: all ends are
 *   kept until each was seen twice; reducible: they are seen one at a time, and computed again.
 *   free: START asks for x_0 of a branch again; charged: x_0 of each branch takes a slot.
 *
 * Plans are made here, which may take seconds for 100,000 steps of hrevolve, uneven, overlapped or
 * offload. On failure *schedule is NULL. Errors: ERR_ARGUMENT (an unknown word: the nearest one is
 * named; a value that makes no sense; words that do not go together; too few slots), ERR_NO_SPACE
 * (double: too few slots on disk), ERR_MEMORY (of the machine). Sources: docs/theory.md. */
ANADROME_API anadrome_status anadrome_schedule_open(const char* options,
                                                    anadrome_schedule** schedule);

/** Get the next action. Errors: ERR_ARGUMENT, ERR_MEMORY (of the machine; with steps=unknown, more
 * tapes than slots), ERR_NO_SPACE (double with steps=unknown: more intervals than slots on disk).
 */
ANADROME_API anadrome_status anadrome_schedule_next(anadrome_schedule* schedule,
                                                    anadrome_schedule_action* action);

/** With steps=unknown: the forward sweep ended after `steps` steps in all, and x_steps is live.
 * Called after an ADVANCE [first, last) of the forward sweep, before the next action, first <=
 * steps <= last; TURN comes, after what is to be kept. Errors: ERR_ARGUMENT (outside the advance),
 * ERR_ORDER. */
ANADROME_API anadrome_status anadrome_schedule_end(anadrome_schedule* schedule, int64_t steps);

/** Free the stream and set *schedule to NULL. A NULL *schedule is closed already: OK. */
ANADROME_API anadrome_status anadrome_schedule_close(anadrome_schedule** schedule);

#ifdef __cplusplus
}
#endif

#endif
