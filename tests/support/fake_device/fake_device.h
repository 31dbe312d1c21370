// SPDX-License-Identifier: BSD-2-Clause
// A device for machines that have none, built as libcuda.so.1 and as libamdhip64.so.6. It is
// hostile: what is queued runs when somebody waits for it and no sooner, in an order drawn from a
// seed that streams and events permit; memory that is given back is poisoned; the host cannot touch
// device memory; every call looks at the thread's context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace fake_device {

// ---- what programs do on a device ----
/// A context that is the calling thread's from here on, as cuCtxCreate makes one.
void* make_context();
void destroy_context(void* context);
/// The thread's context is this one until leave.
void enter(void* context);
void leave();
void* make_stream();
void destroy_stream(void* stream);
void* allocate(std::size_t bytes);
void release(void* memory);
/// Queues a kernel, which looks at memory of the device by `at`.
void launch(void* stream, std::function<void()> kernel);
template <class T>
T* at(T* pointer);
void* alias_of(const void* pointer);
/// The host waits for all that is queued on `stream`, and for all there is.
void synchronize(void* stream);
/// Host memory <-> device memory, for tests: after synchronize.
void write(void* to, const void* from, std::size_t bytes);
void read(void* to, const void* from, std::size_t bytes);

template <class T>
T* at(T* pointer) {
  return static_cast<T*>(alias_of(pointer));
}

// ---- how it behaves ----
/// The order of what is queued, from here on.
void seed(std::uint64_t seed);
/// The copy after so many more fails, and the context with it. Negative: none does.
void fail_copy_after(std::int64_t copies);
/// The copy after so many more never ends. Negative: all do.
void hang_copy_after(std::int64_t copies);
/// No more than this can be allocated.
void limit_memory(std::size_t bytes);

// ---- what was done to it ----
struct Counts {
  std::int64_t copies = 0, unpinned_copies = 0;
  std::int64_t queries = 0, host_waits = 0;  ///< by `waiting_thread`: of events that had not come
  std::size_t bytes = 0, peak_bytes = 0, pinned_bytes = 0, peak_pinned_bytes = 0;
  std::int64_t copies_into_nothing =
      0;  ///< that ran when an end was not pinned, or not allocated, any more
  std::int64_t streams = 0, events = 0;  ///< that are left
  std::int64_t contexts_entered = 0;     ///< less those left
};
Counts counts();
/// Peaks and numbers of calls begin here; host_waits are the calling thread's.
void reset_counts();

}  // namespace fake_device
