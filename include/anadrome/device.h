// SPDX-License-Identifier: BSD-2-Clause
/** @file device.h
 * Fields in the memory of a device, of CUDA, HIP, or of a driver that the program describes.
 * Nothing is linked: the driver is the one that the process has loaded already.
 *
 * All is ordered by the caller's stream. A state is kept as the work makes it that was queued on
 * the stream before anadrome_next; where "the arrays hold x_k" when anadrome_next returns, they do
 * for work that is queued from then on. The host waits for the device only where it needs the
 * bytes: see docs/how-to/devices.md. */
#ifndef ANADROME_DEVICE_H
#define ANADROME_DEVICE_H

#include <anadrome/export.h>
#include <anadrome/field.h>

#ifdef __cplusplus
extern "C" {
#endif

struct anadrome_run; /**< see anadrome.h */

/** A driver, as functions: for SYCL, Kokkos, or a test. Each returns 0, or an error's number, which
 * the message names; `context` is what the table holds. They are called by the thread that calls
 * the library and by its I/O thread, at the same time too, and must not call the library. All are
 * required but `error`. */
typedef struct anadrome_device_operations {
  size_t size;   /**< sizeof(anadrome_device_operations) */
  void* context; /**< handed to each function */
  /** The device, or its context, in which `pointer` was allocated; of NULL, that of the calling
   * thread. Never NULL. */
  int (*owner)(void* context, const void* pointer, void** device);
  /** What follows on this thread, up to leave, is about this device. */
  int (*enter)(void* context, void* device);
  /** The thread is where it was before enter. */
  int (*leave)(void* context);
  /** A stream that no other one waits for unless it is told to. */
  int (*make_stream)(void* context, void** stream);
  int (*destroy_stream)(void* context, void* stream); /**< and what make_stream made */
  int (*make_event)(void* context, void** event);     /**< an event that can be timed */
  int (*destroy_event)(void* context, void* event);   /**< and what make_event made */
  int (*record)(void* context, void* event,
                void* stream);              /**< the event is after what is queued there now */
  int (*query)(void* context, void* event); /**< 0: it has come; -1: not yet */
  int (*follow)(void* context, void* stream,
                void* event); /**< what is queued there later waits for the event */
  int (*seconds)(void* context, void* begin, void* end,
                 double* seconds); /**< between two events that have come */
  /** Queues a copy; each end is memory of the device or of the host. */
  int (*copy)(void* context, void* to, const void* from, size_t bytes, void* stream);
  int (*pin)(void* context, void* memory,
             size_t bytes); /**< host memory, whole pages: copies need no staging */
  int (*unpin)(void* context, void* memory);                   /**< and what was pinned */
  int (*allocate)(void* context, size_t bytes, void** memory); /**< memory of the device */
  int (*release)(void* context,
                 void* memory); /**< and what allocate gave, once all that is queued is over */
  const char* (*error)(void* context, int code); /**< words for an error's number; may be NULL */
} anadrome_device_operations;

/** The driver of the device fields that are registered from here on; the table is copied. Without
 * this call: CUDA's, then HIP's, whichever the process has loaded and knows the pointer. Not
 * collective. */
ANADROME_API anadrome_status anadrome_set_device(struct anadrome_run* run,
                                                 const anadrome_device_operations* operations);

/** anadrome_add_field for an array in the memory of a device. `stream`: a CUstream, cudaStream_t or
 * hipStream_t, or NULL for the default one; the arrays are written and read by work that is queued
 * on it. Of several fields the streams may differ: then each has to wait for what it uses of the
 * others, and before anadrome_next for all work on others that reads or writes its field.
 * ERR_UNSUPPORTED: no driver is there, or none knows the pointer. Not collective, but every rank
 * registers the same fields, on a device or none. */
ANADROME_API anadrome_status anadrome_add_device_field(struct anadrome_run* run, const char* name,
                                                       anadrome_role role, anadrome_type type,
                                                       void* values, size_t count, void* stream);

/** anadrome_add_exchanged for a field in the memory of the calling thread's device: anadrome_now
 * and anadrome_then give addresses there, and to keep a state in it takes no copy. Needs option
 * device_memory for two states and a slot. */
ANADROME_API anadrome_status anadrome_add_exchanged_on_device(struct anadrome_run* run,
                                                              const char* name, anadrome_role role,
                                                              anadrome_type type, size_t count,
                                                              void* stream, int* field);

#ifdef __cplusplus
}
#endif

#endif
