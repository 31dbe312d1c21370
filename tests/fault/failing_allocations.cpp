// SPDX-License-Identifier: BSD-2-Clause
#include "failing_allocations.h"

#include <anadrome/anadrome.h>
#include <anadrome/gradient.h>
#include <anadrome/store.h>
#include <dirent.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace anadrome::test {
namespace {

std::atomic<std::int64_t> count{0}, fails_at{0};
std::atomic<bool> lasting_failure{false}, failed{false}, armed{false}, counts_local_calls{true};

// The caller's thread counts while it is in a call; the library's own threads always do.
thread_local bool is_callers_thread = false;
thread_local int calls_deep = 0;

struct Call {
  explicit Call(bool local) : counts(!local || counts_local_calls) {
    if (counts) ++calls_deep;
  }
  ~Call() {
    if (counts) --calls_deep;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  const bool counts;
};

bool must_fail() {
  if (!armed || (is_callers_thread && calls_deep == 0)) return false;
  const std::int64_t number = ++count, at = fails_at;
  const bool fails = at > 0 && (lasting_failure ? number >= at : number == at);
  if (fails) failed = true;
  return fails;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (must_fail()) return nullptr;
  const std::size_t some = bytes > 0 ? bytes : 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(some);
  return std::aligned_alloc(alignment, (some + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void fail_allocation(std::int64_t at, bool lasting, bool local_calls) {
  counts_local_calls = local_calls;
  is_callers_thread = true;
  fails_at = at;
  lasting_failure = lasting;
  count = 0;
  failed = false;
  armed = true;
}

void memory_is_back() { fails_at = 0; }
std::int64_t allocations() { return count; }
bool an_allocation_failed() { return failed; }

}  // namespace anadrome::test

using anadrome::test::allocate;
using anadrome::test::allocate_or_throw;
using anadrome::test::Call;
constexpr std::size_t kNone = alignof(std::max_align_t);

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, kNone); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, kNone); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, kNone);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, kNone);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// Calls into the library, as the linker's --wrap redirects them; the mapping of its pool, and
// fdopendir.
extern "C" {
#define WRAPPED(name, local, parameters, arguments) \
  anadrome_status __real_##name parameters;         \
  anadrome_status __wrap_##name parameters;         \
  anadrome_status __wrap_##name parameters {        \
    const Call call(local);                         \
    return __real_##name arguments;                 \
  }
WRAPPED(anadrome_open, false, (MPI_Comm comm, anadrome_run** run), (comm, run))
WRAPPED(anadrome_set, true, (anadrome_run * run, const char* key, const char* value),
        (run, key, value))
WRAPPED(anadrome_add_field, true,
        (anadrome_run * run, const char* name, anadrome_role role, anadrome_type type, void* values,
         size_t size),
        (run, name, role, type, values, size))
WRAPPED(anadrome_add_packed, true,
        (anadrome_run * run, const char* name, anadrome_role role, size_t bytes,
         anadrome_pack_fn pack, anadrome_unpack_fn unpack, void* context),
        (run, name, role, bytes, pack, unpack, context))
WRAPPED(anadrome_add_exchanged, true,
        (anadrome_run * run, const char* name, anadrome_role role, anadrome_type type, size_t size,
         int* field),
        (run, name, role, type, size, field))
WRAPPED(anadrome_begin, false, (anadrome_run * run, int64_t steps), (run, steps))
WRAPPED(anadrome_next, false, (anadrome_run * run, anadrome_action* action), (run, action))
WRAPPED(anadrome_solve, false, (anadrome_run * run, int64_t steps, const anadrome_model* model),
        (run, steps, model))
WRAPPED(anadrome_check_gradient, false,
        (anadrome_run * run, int64_t steps, const anadrome_model* model,
         const anadrome_gradient* gradient, anadrome_gradient_check* check),
        (run, steps, model, gradient, check))
WRAPPED(anadrome_finish_forward, true, (anadrome_run * run, int64_t steps), (run, steps))
WRAPPED(anadrome_close, false, (anadrome_run * *run), (run))
WRAPPED(anadrome_store_open, false, (MPI_Comm comm, const char* options, anadrome_store** store),
        (comm, options, store))
WRAPPED(anadrome_store_put, true,
        (anadrome_store * store, int64_t key, int parts, const anadrome_part* part),
        (store, key, parts, part))
WRAPPED(anadrome_store_get, true,
        (anadrome_store * store, int64_t key, int parts, const anadrome_part* part),
        (store, key, parts, part))
WRAPPED(anadrome_store_drop, true, (anadrome_store * store, int64_t key), (store, key))
WRAPPED(anadrome_store_expect, true, (anadrome_store * store, int64_t count, const int64_t* keys),
        (store, count, keys))
WRAPPED(anadrome_store_sync, true, (anadrome_store * store), (store))
WRAPPED(anadrome_store_close, false, (anadrome_store * *store), (store))
#undef WRAPPED

void* __real_mmap(void* address, size_t length, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* address, size_t length, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  if (anadrome::test::must_fail()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap(address, length, protection, flags, file, offset);
}

DIR* __real_fdopendir(int descriptor);
DIR* __wrap_fdopendir(int descriptor);
DIR* __wrap_fdopendir(int descriptor) {
  if (!anadrome::test::must_fail()) return __real_fdopendir(descriptor);
  errno = ENOMEM;
  return nullptr;
}
}
