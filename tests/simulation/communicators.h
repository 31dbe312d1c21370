// SPDX-License-Identifier: BSD-2-Clause
// Communicators of a simulated job, and what is under way in them: collective calls (mpi.cpp) and
// messages (mpi_messages.cpp).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace anadrome::simulation {

// Handles are pointers in Open MPI, numbers in MPICH.
template <class Handle>
Handle handle_of(std::uintptr_t number) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(number);
  } else {
    return static_cast<Handle>(number);
  }
}
template <class Handle>
std::uintptr_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uintptr_t>(handle);
  }
}

struct Call {
  std::string what;  ///< as each rank must have it
  int came = 0, left = 0;
  bool root_came = false;
  std::vector<std::byte> bytes;                  ///< a sum, or the root's
  std::vector<std::vector<std::byte>> of_ranks;  ///< of a gather; by rank
  std::vector<int> colours;
  std::vector<std::uintptr_t> made;  ///< communicators, by rank
};

struct Message {
  int source, tag;
  std::vector<std::byte> bytes;
  std::shared_ptr<bool> taken;
};

/// A message that is sent or awaited.
struct Request {
  int source = 0, tag = 0, rank = 0;
  void* to = nullptr;
  std::size_t most = 0;
  std::shared_ptr<bool> done = std::make_shared<bool>(false);
  MPI_Status status{};
};

struct Comm {
  std::vector<int> members;  ///< their ranks in the world
  std::unordered_map<int, int> place;
  std::vector<std::int64_t> calls_made;
  std::unordered_map<std::int64_t, Call> calls;
  std::vector<std::deque<Message>> mail;  ///< by receiver
  std::vector<std::deque<Request*>> posted;
  std::size_t freed = 0;
  bool made = false;  ///< by a call, and so to be freed
  std::string name;
};

/// One that there is, by its handle; each rank has an MPI_COMM_SELF of its own.
Comm& comm_of(MPI_Comm handle);
/// Of these ranks of the world; to be freed.
std::uintptr_t make_comm(std::vector<int> members);
/// The last rank that frees it ends it.
void free_comm(MPI_Comm handle);
/// The calling rank's place in it.
int rank_in(const Comm& comm);
/// What no other handle is.
std::uintptr_t new_handle();

std::size_t size_of(MPI_Datatype type);
std::vector<std::byte> copy_of(const void* bytes, std::size_t count);

}  // namespace anadrome::simulation
