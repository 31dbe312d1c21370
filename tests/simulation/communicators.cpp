// SPDX-License-Identifier: BSD-2-Clause
#include "communicators.h"

#include <cstring>
#include <utility>

#include "world.h"

namespace anadrome::simulation {
namespace {

std::unordered_map<std::uintptr_t, std::unique_ptr<Comm>> comms;

Comm& add(std::uintptr_t number, std::vector<int> members) {
  auto made = std::make_unique<Comm>();
  made->members = std::move(members);
  for (std::size_t i = 0; i < made->members.size(); ++i)
    made->place[made->members[i]] = static_cast<int>(i);
  made->calls_made.resize(made->members.size());
  made->mail.resize(made->members.size());
  made->posted.resize(made->members.size());
  made->name = std::to_string(comms.size());
  return *(comms[number] = std::move(made));
}

}  // namespace

std::uintptr_t new_handle() {
  static std::uintptr_t newest = 0x51000000;
  return ++newest;
}

std::uintptr_t make_comm(std::vector<int> members) {
  const std::uintptr_t number = new_handle();
  add(number, std::move(members)).made = true;
  return number;
}

void free_comm(MPI_Comm handle) {
  Comm& comm = comm_of(handle);
  if (++comm.freed == comm.members.size()) comms.erase(number_of(handle));
}

Comm& comm_of(MPI_Comm handle) {
  std::uintptr_t number = number_of(handle);
  const bool own = number == number_of<MPI_Comm>(MPI_COMM_SELF);
  if (own) number = static_cast<std::uintptr_t>(self()->rank) + 1;
  const auto found = comms.find(number);
  if (found != comms.end()) return *found->second;
  if (own) return add(number, {self()->rank});
  if (number != number_of<MPI_Comm>(MPI_COMM_WORLD))
    world()->end(kMismatch, "a communicator that there is not");
  std::vector<int> all(static_cast<std::size_t>(world()->ranks()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return add(number, std::move(all));
}

int rank_in(const Comm& comm) {
  const auto found = comm.place.find(self()->rank);
  if (found == comm.place.end()) world()->end(kMismatch, "a communicator of other ranks");
  return found->second;
}

std::size_t size_of(MPI_Datatype type) {
  if (type == MPI_BYTE || type == MPI_CHAR) return 1;
  if (type == MPI_INT) return sizeof(int);
  if (type == MPI_DOUBLE || type == MPI_INT64_T || type == MPI_UINT64_T || type == MPI_LONG)
    return 8;
  world()->end(kMismatch, "a datatype that is not simulated");
}

std::vector<std::byte> copy_of(const void* bytes, std::size_t count) {
  std::vector<std::byte> copy(count);
  if (count > 0) std::memcpy(copy.data(), bytes, count);
  return copy;
}

std::string left_in_mpi() {
  std::string text;
  for (const auto& [number, comm] : comms) {
    if (!comm->calls.empty()) text += "a collective call is not complete; ";
    for (const auto& mail : comm->mail) {
      if (!mail.empty()) text += "a message was never received; ";
    }
    for (const auto& posted : comm->posted) {
      if (!posted.empty()) text += "a message was never sent; ";
    }
    if (comm->made) text += "a communicator is not freed; ";
  }
  return text;
}

}  // namespace anadrome::simulation
