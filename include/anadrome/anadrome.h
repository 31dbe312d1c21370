// SPDX-License-Identifier: BSD-2-Clause
// anadrome: states of a time-dependent simulation, given back in reverse.
//
// Conventions that hold for every function below.
//
// - Steps: a sweep has n steps, numbered 0 .. n-1, and states x_0 .. x_n; step k takes x_k to
//   x_{k+1}.
// - Status: every function that can fail returns an anadrome_status; ANADROME_OK is 0. On any other
//   value anadrome_last_error() gives one line: what failed, where, and what to do.
// - Collective: a function marked "Collective" is called by all ranks of the run's communicator in
//   the same order. It gives the same status on every rank. All other functions are local.
// - Threads: a run is used by one thread at a time, the one that may call MPI: MPI_THREAD_FUNNELED
//   is enough. The library's own I/O thread calls neither MPI nor HDF5. Several threads may each
//   use runs and stores of their own (MPI_THREAD_MULTIPLE, a communicator for each); not with
//   transport=mpio, and not while the program itself uses HDF5 in another thread.
// - Memory: registered arrays stay the caller's. They are read when a state is kept or compared
//   (option audit) and written when one is restored, inside anadrome_next, and at no other time.
// - Units: sizes are bytes, times are seconds.
// - NULL: a NULL handle or a NULL output gives ANADROME_ERR_ARGUMENT, never a crash.
#ifndef ANADROME_ANADROME_H
#define ANADROME_ANADROME_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include <anadrome/export.h>
#include <anadrome/field.h>
#include <anadrome/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ANADROME_VERSION_MAJOR 0
#define ANADROME_VERSION_MINOR 3
#define ANADROME_VERSION_PATCH 0

/** One forward sweep and the adjoint sweep(s) back through it. */
typedef struct anadrome_run anadrome_run;

/** Where a run is. */
typedef enum anadrome_phase ANADROME_AS_INT {
  ANADROME_PHASE_IDLE = 0,    /**< before begin, after DONE's successor calls or after a failure */
  ANADROME_PHASE_FORWARD = 1, /**< from begin to TURN; a pass forward */
  ANADROME_PHASE_REVERSE = 2, /**< from TURN to DONE; a pass in reverse */
  ANADROME_PHASE_DONE = 3     /**< DONE was returned: begin, rewind, pass or close may follow */
} anadrome_phase;

/** What anadrome_next asks the caller to do. */
typedef enum anadrome_action_kind ANADROME_AS_INT {
  ANADROME_ADVANCE =
      1, /**< run steps first to last-1; the arrays hold x_first on entry, x_last on exit */
  ANADROME_TURN = 2, /**< evaluate the objective and start the adjoint; the arrays hold x_n */
  ANADROME_ADJOINT =
      3, /**< the adjoint of step first (x_k -> x_{k+1}, k = first); the arrays hold x_k,
              or, if tape fields are registered, step k's tape (and no defined state) */
  ANADROME_DONE = 4,   /**< leave the loop; the arrays hold x_0 (not with tape fields) */
  ANADROME_VISIT = 5,  /**< of a pass forward: step first is there as at ADJOINT, x_k or its tape;
                          leave the fields of roles STATE and TAPE as they are */
  ANADROME_RETREAT = 6 /**< of schedule=undo: undo step first; the arrays hold x_{k+1} (k = first)
                          on entry, and approximately x_k on exit. It reads the fields of role
                          STATE alone and gives the same bits every time; the library adds what is
                          missing to x_k */
} anadrome_action_kind;

/** A pass over a trajectory that was swept: see anadrome_pass. */
typedef enum anadrome_direction ANADROME_AS_INT {
  ANADROME_PASS_FORWARD = 1, /**< VISIT of every step, in rising order */
  ANADROME_PASS_REVERSE = 2  /**< ADJOINT of every step, in falling order */
} anadrome_direction;

/** One action. */
typedef struct anadrome_action {
  anadrome_action_kind kind; /**< what to do */
  int record;                /**< ADVANCE: non-zero: fill the tape fields in step last-1 */
  int again;        /**< ADVANCE: non-zero: these steps were run before (do not count them twice);
                       TURN: non-zero: of a pass, where the arrays are undefined;
                       ADJOINT: non-zero: a trial (options `probe`, `gradient_error`), of which
                       fields of role ADJOINT keep no trace; it is adjoined without, too */
  int reserved_int; /**< zero */
  int64_t first;    /**< ADVANCE, ADJOINT, VISIT, RETREAT: first step; TURN: n; DONE: 0 */
  int64_t last;     /**< ADVANCE: one past the last step; ADJOINT, VISIT, RETREAT: first + 1; TURN:
                       n; DONE: 0 */
  int64_t reserved[4]; /**< zero */
} anadrome_action;

/** `steps` of anadrome_begin when the number of steps is not known beforehand. */
#define ANADROME_STEPS_UNKNOWN ((int64_t)-1)

/** The model for anadrome_solve. Set `size = sizeof(anadrome_model)` first: the struct may grow.
 *  A callback that returns non-zero, or throws, fails the run as anadrome_fail does; the other
 * callbacks are still called until the next agreement point, so that ranks that exchange halos stay
 * together. In a callback begin, next, rewind, pass, close and what runs a sweep are ERR_ORDER for
 * the run that called it. */
typedef struct anadrome_model {
  size_t size;   /**< sizeof(anadrome_model) */
  void* context; /**< handed to every callback */
  /** Run steps first to last-1. With unknown steps, set *reached = n < last when the sweep ends
   * after n steps; otherwise leave *reached, which is `last` on entry. Required. */
  int (*advance)(void* context, int64_t first, int64_t last, int64_t* reached);
  /** As advance for the one step `step`, and fill the tape fields. Required if tape fields exist.
   */
  int (*record)(void* context, int64_t step, int64_t* reached);
  /** Objective and terminal condition; the arrays hold x_n. May be NULL. */
  int (*turn)(void* context, int64_t steps);
  /** The adjoint of step `step`. Required. */
  int (*adjoint)(void* context, int64_t step);
  /** Write x_0, before the first step. Required with exchanged fields, whose memory begin provides;
   * may be NULL otherwise. */
  int (*start)(void* context);
  /** Visit step `step` in a pass forward: see anadrome_solve_pass. Required there. */
  int (*visit)(void* context, int64_t step);
  /** Undo step `step`, up to rounding: see ANADROME_RETREAT. For schedule=undo; if it is NULL
   * there, `advance` is called instead, several times, until its result is x_{k+1} or nearly so:
   * from states that are none of the simulation's, so it must do nothing but the step. */
  int (*undo)(void* context, int64_t step);
} anadrome_model;

/** What a run has done and will do. Set `size = sizeof(anadrome_stats)` first: the struct may grow.
 *  Per rank unless "all ranks" is said. */
typedef struct anadrome_stats {
  size_t size;                     /**< sizeof(anadrome_stats), set by the caller */
  int64_t steps;                   /**< n; -1 while unknown */
  int64_t ranks;                   /**< of the run's communicator */
  int64_t state_bytes;             /**< one state */
  int64_t state_bytes_all_ranks;   /**< one state, all ranks together */
  int64_t memory_bytes;            /**< the budget (option `memory`) */
  int64_t peak_library_bytes;      /**< most the library held so far */
  int64_t slots;                   /**< states the pool can hold, staging and prefetch included */
  int64_t checkpoint_slots;        /**< of these, slots the schedule counts on (s of E(n,s)) */
  int64_t prefetch_depth;          /**< reads ahead of need */
  int64_t interval;                /**< steps between anchors in force; 0: no anchors */
  int64_t anchors;                 /**< states meant for disk in this sweep (x_0 included); one
                                      that is put there again counts again */
  int64_t states_per_write;        /**< states in one disk write: 1 unless states are small */
  int64_t forward_steps_taken;     /**< steps of all ADVANCE actions handed out and completed */
  int64_t forward_steps_planned;   /**< total of ADVANCE steps the schedule promises; -1 while not
                                      fixed */
  int64_t forward_steps_remaining; /**< ADVANCE steps still to come; -1 while not known */
  int64_t adjoint_steps_taken;     /**< ADJOINT actions completed */
  int64_t bytes_written;           /**< to disk */
  int64_t bytes_read;              /**< from disk */
  int64_t states_kept;             /**< into the pool; exchanged fields without a copy */
  int64_t states_restored;         /**< out of the pool */
  int64_t agreements;              /**< collective decisions */
  int64_t disk_bytes_reserved_all_ranks; /**< length of the state files */
  double seconds_total;                  /**< from begin to now, or to DONE */
  double seconds_forward;                /**< from begin to TURN */
  double seconds_adjoint;                /**< from TURN to now, or to DONE */
  double seconds_stalled_write;          /**< the caller waited for a slot that was being written */
  double seconds_stalled_read;           /**< the caller waited for a state that was being read */
  double seconds_copying;                /**< the caller copied states; short copies: estimated */
  double seconds_agreeing;               /**< the caller was in collective decisions */
  double seconds_writing;                /**< in writes; direct: checksums included */
  double seconds_reading;                /**< in reads; direct: checksums included */
  double seconds_checksums;              /**< in checksums; direct: under the two above */
  double seconds_step; /**< of a forward step, lately, stalls left out; maximum over ranks; 0:
                          not known. What all steps took, over their number, is more */
  double seconds_adjoint_step; /**< of an adjoint step, likewise */
  double seconds_write_state;  /**< measured write of one state, maximum over ranks; 0: not known */
  double seconds_read_state;   /**< measured read of one state, maximum over ranks; 0: not known */
  int32_t direct_io;           /**< 1: O_DIRECT; 0: buffered; -1: no disk */
  int32_t phase;               /**< an anadrome_phase */
  char schedule[24];           /**< the schedule in force */
  char layout[16];             /**< the file layout in force */
  char transport[16];          /**< the transport in force */
  double seconds_predicted;    /**< seconds_total as predicted last by half of the forward sweep; 0:
                                  not */
  int64_t predicted_at_step;   /**< forward steps done then */
  int32_t adjoint_guessed; /**< 1: for want of an earlier sweep of this run, that prediction took
                              an adjoint step for two forward steps */
  int32_t reserved_int;    /**< zero */
  int64_t anchors_lost;  /**< restores from disk that failed on some rank: another copy was read, or
                            the steps were run again from an earlier state */
  int64_t writes_failed; /**< writes that failed on this rank */
  int64_t states_written;   /**< to disk in this sweep, second copies of x_0 included */
  int64_t states_read;      /**< from disk in this sweep */
  int64_t bytes_compressed; /**< of states, before they were compressed to bytes_written; 0 without
                               the option `compress` */
  double tolerance;         /**< in force, of a lossy codec; 0: no numbers are changed */
  double gradient_error;    /**< what that, or the drift of undone states, did to the adjoint fields
                               at DONE, relative, the largest of any (options `probe`,
                               `gradient_error`); 0: not known */
  int64_t passes;           /**< anadrome_pass, after this sweep */
  int64_t visit_steps_taken; /**< VISIT actions completed */
  double seconds_visit_step; /**< measured VISIT on this rank; 0: not known */
  double drift; /**< of schedule=undo with compress=lossy: the most that an undone state
                   was from the one that was kept, on all ranks from DONE on, relative to
                   the largest magnitude in the field; 0 otherwise */
} anadrome_stats;

/** Open a run on the ranks of `comm`. Collective.
 *  The communicator is duplicated; it may be freed afterwards.
 *  Errors: ERR_ARGUMENT (comm is MPI_COMM_NULL or run is NULL), ERR_ORDER (MPI is not running).
 *  @pre MPI is initialized and not finalized. @post *run is a handle, or NULL on failure. */
ANADROME_API anadrome_status anadrome_open(MPI_Comm comm, anadrome_run** run);

/** Set option `key` (see docs/options.md) to `value`; it holds from the next anadrome_begin on.
 * Local, but all ranks must set the same: begin compares. Errors: ERR_ARGUMENT (unknown key: the
 * nearest one is named; bad value), ERR_ORDER (a sweep is under way). anadrome_begin fails with
 * ERR_ARGUMENT, too, on all ranks, until the option was set right.
 * @pre No sweep is under way. */
ANADROME_API anadrome_status anadrome_set(anadrome_run* run, const char* key, const char* value);

/** Register the array `values` of `count` elements as a field. Local; all ranks register the same
 * names, roles and types in the same order, with counts of their own, 0 included. The array stays
 * the caller's and must live until close. `name`: 1-63 of [A-Za-z0-9_.-], unique. Errors:
 * ERR_ARGUMENT (name, role, type, a NULL array with count > 0, a size that overflows), ERR_ORDER.
 * After ERR_ARGUMENT anadrome_begin fails with it, too, on all ranks, until a field of that name
 * was registered. @pre No sweep is under way. */
ANADROME_API anadrome_status anadrome_add_field(anadrome_run* run, const char* name,
                                                anadrome_role role, anadrome_type type,
                                                void* values, size_t count);

/** Register a field of exactly `bytes` bytes that the caller packs and unpacks. Local; as
 * add_field. The callbacks run on the calling thread inside anadrome_next and may call MPI only if
 * every rank does. So a rank that has no memory for a state calls pack all the same, and one that
 * cannot bring a state back calls unpack with zeros; the sweep then ends in an error. */
ANADROME_API anadrome_status anadrome_add_packed(anadrome_run* run, const char* name,
                                                 anadrome_role role, size_t bytes,
                                                 anadrome_pack_fn pack, anadrome_unpack_fn unpack,
                                                 void* context);

/** Register a packed state field whose size changes from state to state, as on an adaptive mesh.
 * Local; as add_packed, but `size` says how many bytes the field takes at the moment, `most` at
 * most; pack is given a buffer of so many, and unpack as many as were packed. Before unpack `size`
 * is not asked. The three must not communicate. Every state has room for `most`. On disk 8 bytes
 * with the size come first.
 * Errors: as add_packed; ERR_UNSUPPORTED (a role other than ANADROME_ROLE_STATE). A field that
 * takes more than `most`: ERR_ARGUMENT of anadrome_next.
 * @pre No sweep is under way. */
ANADROME_API anadrome_status anadrome_add_varying(anadrome_run* run, const char* name,
                                                  anadrome_role role, size_t most,
                                                  anadrome_size_fn size, anadrome_pack_fn pack,
                                                  anadrome_unpack_fn unpack, void* context);

/** Say how the elements of field `name` lie on this rank: `sizes` of its dimensions, of which the
 * last varies fastest, as in C. Their product is the field's count. compress=zfp then uses that
 * numbers are alike in all directions. Local. Errors: ERR_ARGUMENT (no such field, or a
 * packed one; another count; more than 8 dimensions), ERR_ORDER. @pre No sweep is under way. */
ANADROME_API anadrome_status anadrome_set_shape(anadrome_run* run, const char* name, int dimensions,
                                                const int64_t* sizes);

/** Say by how much lossy compression may change each number of field `name`: at most by
 * `absolute`, in place of what the option tolerance says; 0: not at all. Local; all ranks say the
 * same. Errors: ERR_ARGUMENT (no such field, or not a number >= 0), ERR_ORDER.
 * @pre No sweep is under way. */
ANADROME_API anadrome_status anadrome_set_tolerance(anadrome_run* run, const char* name,
                                                    double absolute);

/** Register a state field of `count` elements whose memory is the library's, so that keeping and
 * restoring a state need no copy: every ADVANCE is then one step, which reads anadrome_now and
 * writes anadrome_then. Local; as add_field. *field: its number for these two. The two live states
 * count in `memory`. States below 1 MiB (all fields, the largest of any rank) share blocks and are
 * copied all the same. May be combined with fields of the other kinds. Errors: as add_field;
 * ERR_UNSUPPORTED (a role other than ANADROME_ROLE_STATE).
 * @pre No sweep is under way. */
ANADROME_API anadrome_status anadrome_add_exchanged(anadrome_run* run, const char* name,
                                                    anadrome_role role, anadrome_type type,
                                                    size_t count, int* field);

/** Where exchanged field `field` is: x_first at ADVANCE, x_n at TURN, x_k at ADJOINT and
 * VISIT, x_0 at DONE, and x_k before the first next of a forward sweep that goes on at step k. Read
 * only: the library may restore it again. Valid until the next call of next, begin, rewind, pass or
 * close. NULL if the number is no exchanged field's, or no state is live, or this rank has no
 * elements of it. With tape fields it is undefined at ADJOINT, VISIT and DONE. Local. */
ANADROME_API const void* anadrome_now(const anadrome_run* run, int field);

/** Where the caller writes exchanged field `field`: x_0 between begin and the first next,
 * x_{k+1} at ADVANCE; NULL at other times. All of it is written: what it held
 * before is undefined. With unknown steps, anadrome_finish_forward(run, first) says that it was not
 * written. Valid as anadrome_now. Local. */
ANADROME_API void* anadrome_then(anadrome_run* run, int field);

/** Begin a forward sweep of `steps` steps (or ANADROME_STEPS_UNKNOWN). x_0 is what the arrays
 * hold at the first anadrome_next. Collective. A sweep under way is abandoned; the stored states of
 * an earlier one are dropped, also where begin fails (close the run first to keep them). Errors:
 * ERR_ARGUMENT (negative steps, options or fields that differ between ranks, arrays that overlap,
 * an earlier anadrome_set or anadrome_add_* that failed on any rank and was not repeated with
 * success), ERR_MEMORY (says how much is needed), ERR_IO, ERR_NO_SPACE, ERR_BUSY, ERR_UNSUPPORTED,
 * ERR_PEER.
 *  @pre Fields are registered. @post The run is in the forward sweep; on failure it is idle. */
ANADROME_API anadrome_status anadrome_begin(anadrome_run* run, int64_t steps);

/** After anadrome_begin with resume=on: where the sweep goes on. *phase ANADROME_PHASE_IDLE: at
 * x_0, as every sweep that begins anew. ANADROME_PHASE_FORWARD: the state fields hold x_k, k =
 * *step, the adjoint fields what they held when x_k was reached. ANADROME_PHASE_REVERSE: the steps
 * from *step on are adjoined and the adjoint fields hold what they held then; TURN does not come
 * again. Where the newest state could not be read, x_k is an earlier one, and the steps up to the
 * newest come with `again`: what they added to the adjoint fields is there. The caller must not set
 * these fields then. Without adjoint fields never the reverse sweep. Where a sweep goes on some
 * rank must call this before the first anadrome_next, which is ERR_ORDER on all ranks otherwise
 * (anadrome_solve calls it). Local. Errors: ERR_ARGUMENT (NULL). */
ANADROME_API anadrome_status anadrome_resumed(const anadrome_run* run, anadrome_phase* phase,
                                              int64_t* step);

/** Finish the previous action and get the next one. All ranks call it, and get the same. Ranks wait
 * for each other only at agreement points: the start of an interval, TURN, DONE, and before an
 * action on a state restored from disk. Only there does it return anything but OK, and then on
 * every rank. After DONE: ERR_ORDER until begin, rewind or pass. After an error the sweep is over;
 * begin may follow. Source of the schedules: Griewank & Walther 2000 (revolve); Kukreja,
 * Hueckelheim & Gorman 2018 (async).
 * @pre A sweep was begun. */
ANADROME_API anadrome_status anadrome_next(anadrome_run* run, anadrome_action* action);

/** With unknown steps: the sweep ended after `steps` steps in all; x_n is in the arrays. Called
 * while an ADVANCE [first, last) of the forward sweep is being done, first <= steps <= last. All
 * ranks call it with the same number (compared at TURN, the next action). Errors: ERR_ARGUMENT
 * (outside the advance), ERR_ORDER. */
ANADROME_API anadrome_status anadrome_finish_forward(anadrome_run* run, int64_t steps);

/** Run a whole sweep, forward and reverse, with callbacks: begin, then a loop over next.
 * Collective. */
ANADROME_API anadrome_status anadrome_solve(anadrome_run* run, int64_t steps,
                                            const anadrome_model* model);

/** Start a second reverse sweep over the same forward sweep: states that are still kept are used,
 * the others recomputed; TURN comes again. With resume=on nothing is committed from here on, so a
 * process that goes on does so in the first one. Collective. Errors: ERR_ORDER unless DONE was
 * returned, ERR_UNSUPPORTED (schedule=undo). */
ANADROME_API anadrome_status anadrome_rewind(anadrome_run* run);

/** Begin another pass over the trajectory that was swept, for products with a Hessian and the like:
 * any number of them after DONE, in any order, and rewinds among them. States that are kept are
 * used, the others computed again from x_0 or from what is kept below; what a pass leaves in memory
 * serves the next one. Set the option `passes` before begin, and the sweep keeps states for so
 * many.
 *
 * - FORWARD: VISIT k = 0 .. n-1, for a tangent-linear step: the arrays hold x_k, or, if tape fields
 *   are registered, step k's tape (and no state that is defined). Leave them as they are. ADVANCE,
 *   with `again` set, comes in between where a state is not kept. At DONE the arrays are undefined.
 * - REVERSE: TURN with `again` set comes first: set the adjoint variables; the arrays do not hold
 *   x_n, so keep what you need of it at the first TURN (or call anadrome_rewind, whose TURN has
 *   it). Then ADJOINT k = n-1 .. 0 and DONE, as in the sweep.
 *
 * The states have the same bits as in the sweep; with a lossy codec those of what is read from
 * disk, which are the same in every pass. With resume=on nothing is committed from here on, so a
 * process that goes on does so in the first reverse sweep, and its program comes to its passes
 * again. Collective. Errors: ERR_ORDER unless DONE was returned, ERR_ARGUMENT (no such direction,
 * or another on another rank), ERR_UNSUPPORTED (x_0 is not kept any more; without the
 * option passes: states that compress=float32 keeps in memory; schedule=undo). */
ANADROME_API anadrome_status anadrome_pass(anadrome_run* run, anadrome_direction direction);

/** Run a pass with callbacks: anadrome_pass, then a loop over next. FORWARD calls `visit`; REVERSE
 * `turn`, where the arrays are undefined, and `adjoint`; both of them `advance` or `record`, where
 * states are computed again. The model may be another one than that of the sweep. Collective.
 * Errors: as anadrome_pass and anadrome_next; ERR_ARGUMENT (a callback is missing). */
ANADROME_API anadrome_status anadrome_solve_pass(anadrome_run* run, anadrome_direction direction,
                                                 const anadrome_model* model);

/** Say that this rank cannot go on, and why. Local. Every rank gets ERR_PEER, with the rank and
 * `why`, at the next agreement point; go on calling anadrome_next until then. */
ANADROME_API anadrome_status anadrome_fail(anadrome_run* run, const char* why);

/** Ask for the sweep to stop: every rank gets ANADROME_STOPPED at the next agreement point; with
 * resume=on at the next anchor, on its way or back, once a commit was made there. Local
 * and async-signal-safe. */
ANADROME_API anadrome_status anadrome_request_stop(anadrome_run* run);

/** Fill `stats` for this rank. Local. Errors: ERR_ARGUMENT (NULL, or stats->size not set). */
ANADROME_API anadrome_status anadrome_statistics(const anadrome_run* run, anadrome_stats* stats);

/** Close the run, remove its files (unless keep=on) and set *run to NULL. Collective. A NULL *run
 * is closed already: OK. The handle is gone whatever the status, but not in a callback of the run
 * (ERR_ORDER). Errors: ERR_PEER (another rank was in another call), ERR_IO, ERR_NO_SPACE (files
 * that were to be kept are not whole), ERR_BUSY (another run took this one for dead). Files that
 * could not be removed are a warning. */
ANADROME_API anadrome_status anadrome_close(anadrome_run** run);

/** The version as "major.minor.patch". */
ANADROME_API const char* anadrome_version(void);

#ifdef __cplusplus
}
#endif

#endif
