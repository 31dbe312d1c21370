// SPDX-License-Identifier: BSD-2-Clause
/** @file store.h
 * A store for loops that others own: objects are put, got and dropped by key, in any order that the
 * caller likes. It keeps them within a memory, writes what is needed last to disk beside the
 * caller, and reads ahead what is needed next. The conventions are those of anadrome.h, but for
 * one: between open and close every function is local. It calls no MPI, and ranks may hold
 * different keys, sizes and counts. A store is used by one thread at a time, which may be any.
 *
 * An object is a set of named parts, each an array of any size. What is put is copied, and what is
 * got is bitwise what was put, or an error: checksums cover all that comes back from disk.
 * Nothing can be computed again here, so an object that cannot be read is lost; the others stay.
 *
 * Source: the rule that what is needed last leaves first is Belady 1966 (IBM Systems Journal 5). */
#ifndef ANADROME_STORE_H
#define ANADROME_STORE_H

#include <anadrome/anadrome.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An open store. */
typedef struct anadrome_store anadrome_store;

/** One part of an object, and the caller's array of it. */
typedef struct anadrome_part {
  const char* name;   /**< 1-63 of [A-Za-z0-9_.-], unique in the object */
  anadrome_type type; /**< of the elements */
  size_t count;       /**< elements, also other ones at each put; 0 is a part, too */
  void* values;       /**< the array; put only reads it. NULL if count is 0 */
} anadrome_part;

/** Measured numbers of this rank. Set `size = sizeof(anadrome_store_stats)` first: the struct may
 * grow. */
typedef struct anadrome_store_stats {
  size_t size;            /**< sizeof(anadrome_store_stats), set by the caller */
  int64_t objects;        /**< that are in the store */
  int64_t bytes;          /**< of these, without padding */
  int64_t memory_bytes;   /**< most memory in use so far: blocks and the list of the objects */
  int64_t block_bytes;    /**< what is moved at once */
  int64_t bytes_written;  /**< to disk, whole blocks */
  int64_t bytes_read;     /**< from disk, whole blocks */
  double seconds_writing; /**< in writes, beside the caller */
  double seconds_reading; /**< in reads, beside the caller */
  double seconds_stalled_write; /**< that calls waited for writes to end */
  double seconds_stalled_read;  /**< that calls waited for reads to end */
  int32_t direct_io;            /**< 1: O_DIRECT; 0: buffered; -1: nothing went to disk so far */
  int32_t reserved_int;         /**< zero */
} anadrome_store_stats;

/** Open a store on the ranks of `comm`. Collective. `options`: "key=value key=value", NULL or ""
 * for none, with the keys memory (bytes per rank, 1GiB if it is not set), directory, name
 * (anadrome-store), disk (bytes, all ranks together; 0: the store has memory only), keep,
 * transport (not mpio) and bandwidth_limit, as docs/options.md says. Every rank has files of its
 * own (layout=rank). The same on all ranks, but for directory.
 *
 * `memory` bounds all that the store holds: blocks, and the list of the objects, of about 200 bytes
 * each. Files go at close, unless keep=on; those of a process that was killed go at the next open.
 * Errors: ERR_ARGUMENT (unknown key, bad value, values that differ between ranks), ERR_UNSUPPORTED
 * (another layout, transport=mpio), ERR_MEMORY (less than 256KiB), ERR_IO, ERR_NO_SPACE, ERR_BUSY,
 * ERR_PEER.
 * @post *store is a handle, or NULL on failure. */
ANADROME_API anadrome_status anadrome_store_open(MPI_Comm comm, const char* options,
                                                 anadrome_store** store);

/** The arrays of `parts` parts become the object `key`; an object of before is replaced, as soon as
 * all of the new one is taken. On failure nothing has changed. It waits only if the memory is full
 * of what is not written yet. Local. Errors: ERR_ARGUMENT (a name, type or array), ERR_ORDER (there
 * is a view of the object), ERR_MEMORY (the object is larger than the memory, or views hold all of
 * it), ERR_NO_SPACE (no room in memory and on disk), ERR_IO (what is in memory cannot be written).
 */
ANADROME_API anadrome_status anadrome_store_put(anadrome_store* store, int64_t key, int parts,
                                                const anadrome_part* part);

/** Parts of the object `key` into the caller's arrays: all of them or some, in any order, with the
 * type and count of the put. The object stays. Local. Errors: ERR_ARGUMENT (no such object or part,
 * another type or count), ERR_CORRUPT, ERR_IO (it cannot be read; the arrays are undefined),
 * ERR_MEMORY (views hold all of it). */
ANADROME_API anadrome_status anadrome_store_get(anadrome_store* store, int64_t key, int parts,
                                                const anadrome_part* part);

/** A part without a copy: *view is byte `offset` of it, and *bytes how many lie there side by side,
 * at least one; NULL and 0 at its end. So a loop from offset 0 sees all of the part. The bytes
 * stay where they are until anadrome_store_release or close, whatever else is done; they must not
 * be changed. Local. Errors: as get. */
ANADROME_API anadrome_status anadrome_store_view(anadrome_store* store, int64_t key,
                                                 const char* part, size_t offset, const void** view,
                                                 size_t* bytes);

/** End a view; NULL is none. Local. Errors: ERR_ARGUMENT (this is no view). */
ANADROME_API anadrome_status anadrome_store_release(anadrome_store* store, const void* view);

/** Forget the object `key`. Local. Errors: ERR_ARGUMENT (there is none), ERR_ORDER (there is a view
 * of it). */
ANADROME_API anadrome_status anadrome_store_drop(anadrome_store* store, int64_t key);

/** Say in which order objects will be got: keys[0] next. Keys may be put later, and may come
 * several times; an earlier list is forgotten. It is advice, and no promise. Without it the store
 * expects the newest object first, and after that the order in which objects were got before. The
 * list counts in the memory, about 60 bytes for each key. Local. Errors: ERR_ARGUMENT (NULL, a
 * negative count), ERR_MEMORY (it does not fit). */
ANADROME_API anadrome_status anadrome_store_expect(anadrome_store* store, int64_t count,
                                                   const int64_t* keys);

/** *yes: 1 if there is an object `key`, otherwise 0. Local. Errors: ERR_ARGUMENT (NULL). */
ANADROME_API anadrome_status anadrome_store_contains(const anadrome_store* store, int64_t key,
                                                     int* yes);

/** *count: how many objects there are; their keys, in rising order, go to `keys`, which has room
 * for `most`: NULL and 0 to ask for the count alone. Local. Errors: ERR_ARGUMENT (NULL). */
ANADROME_API anadrome_status anadrome_store_keys(const anadrome_store* store, int64_t most,
                                                 int64_t* keys, int64_t* count);

/** *count: how many parts the object `key` has; the first `most` of them are described in `parts`:
 * name (valid until the object is dropped or replaced), type and count; values is NULL. Local.
 * Errors: ERR_ARGUMENT (no such object, NULL). */
ANADROME_API anadrome_status anadrome_store_parts(const anadrome_store* store, int64_t key,
                                                  int most, anadrome_part* parts, int* count);

/** Wait until all that was put is on disk, and would last through a power loss. Local. Errors: the
 * first failure: ERR_IO, ERR_NO_SPACE (also with disk=0). What could not be written stays in
 * memory. */
ANADROME_API anadrome_status anadrome_store_sync(anadrome_store* store);

/** Fill `stats`. Local. Errors: ERR_ARGUMENT (NULL, or stats->size not set). */
ANADROME_API anadrome_status anadrome_store_statistics(const anadrome_store* store,
                                                       anadrome_store_stats* stats);

/** Close the store, end its views, remove its files and set *store to NULL. Collective. With
 * keep=on each rank leaves a file objects-rank-NNNNNN.h5 instead, with a dataset /KEY/PART for each
 * part that has elements, of its type. A NULL *store is closed already: OK. The handle is gone
 * whatever the status. Errors: ERR_PEER, ERR_IO, ERR_NO_SPACE, ERR_CORRUPT (with keep=on: the file
 * of some rank is not whole, and none is left). Files that could not be removed are a warning. */
ANADROME_API anadrome_status anadrome_store_close(anadrome_store** store);

#ifdef __cplusplus
}
#endif

#endif
