// SPDX-License-Identifier: BSD-2-Clause
// How handles of the C interface come into being, on all ranks or on none.
#pragma once

#include <mpi.h>

#include <memory>
#include <new>
#include <string>

#include "api/schedules/guard.h"
#include "base/error.h"
#include "base/fork.h"

namespace anadrome::api {

inline void require_mpi(const char* function) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0) {
    const char* advice = initialized == 0 ? ": call MPI_Init first, also on one process" : "";
    throw Error(ANADROME_ERR_ORDER, std::string(function) + ": MPI is not running" + advice);
  }
}

/// Why the newest open of this thread failed: who does not look at its status learns it later.
inline std::string& failed_open() {
  thread_local std::string why;
  return why;
}

template <class Body>
anadrome_status guard_open(Body&& body) {
  return guard([&] {
    const Failure failure = failure_from(body);
    failed_open() = failure.message;
    if (failure) throw Error(failure.status, failure.message);
  });
}

/// A handle that is there, and was opened in this process: what it needs is there, too.
template <class Handle>
void require_open(const Handle* handle, const char* function, const std::string& kind) {
  if (handle == nullptr) {
    const std::string& why = failed_open();
    throw Error(ANADROME_ERR_ARGUMENT,
                std::string(function) + ": there is no " + kind + ": " +
                    (why.empty() ? "it was not opened, or it is closed" : why));
  }
  if (handle->made.holds()) return;
  throw Error(
      ANADROME_ERR_ORDER,
      std::string(function) +
          ": it was opened before this process was forked off, and its thread and its files "
          "are the parent's; open one here, or start processes without fork (Python's "
          "multiprocessing: spawn)");
}

inline void require_intracommunicator(MPI_Comm comm, const char* function) {
  int inter = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_test_inter(comm, &inter);
  if (comm != MPI_COMM_NULL && inter == 0) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              std::string(function) +
                  (inter != 0 ? ": the communicator is an intercommunicator; merge it with "
                                "MPI_Intercomm_merge"
                              : ": the communicator is MPI_COMM_NULL"));
}

/// MPI_Comm_dup waits for every rank: one without memory for its handle must say so first.
template <class Handle>
Handle* open_on_all_ranks(MPI_Comm comm) {
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory); }
  };
  std::unique_ptr<void, Free> memory(::operator new(sizeof(Handle), std::nothrow));
  int failed = memory == nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
  if (failed != 0) throw Error(ANADROME_ERR_MEMORY, "open: a rank is out of memory");
  auto* handle = new (memory.get()) Handle(comm);
  static_cast<void>(memory.release());  // its owner is the caller
  return handle;
}

}  // namespace anadrome::api
