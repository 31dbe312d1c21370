// SPDX-License-Identifier: BSD-2-Clause
// Messages between two ranks of a simulated job, in the order in which they were sent.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "communicators.h"
#include "world.h"

namespace anadrome::simulation {
namespace {

std::unordered_map<std::uintptr_t, std::unique_ptr<Request>> requests;

bool matches(const Request& request, int source, int tag) {
  return (request.source == source || request.source == MPI_ANY_SOURCE) &&
         (request.tag == tag || request.tag == MPI_ANY_TAG);
}

void deliver(Request& request, const Message& message) {
  if (message.bytes.size() > request.most)
    world()->end(kMismatch, "a message is longer than its room");
  if (!message.bytes.empty()) std::memcpy(request.to, message.bytes.data(), message.bytes.size());
  request.status.MPI_SOURCE = message.source;
  request.status.MPI_TAG = message.tag;
  *request.done = true;
  *message.taken = true;
  world()->wake_all(request.done.get());
  world()->wake_all(message.taken.get());
}

std::shared_ptr<bool> send(const void* bytes, int count, MPI_Datatype type, int to, int tag,
                           MPI_Comm handle) {
  world()->pause();
  Comm& comm = comm_of(handle);
  Message message{rank_in(comm), tag,
                  copy_of(bytes, static_cast<std::size_t>(count) * size_of(type)),
                  std::make_shared<bool>(false)};
  std::shared_ptr<bool> taken = message.taken;
  auto& posted = comm.posted[static_cast<std::size_t>(to)];
  const auto receiver = std::find_if(posted.begin(), posted.end(), [&](const Request* request) {
    return matches(*request, message.source, tag);
  });
  if (receiver != posted.end()) {
    Request* const request = *receiver;
    posted.erase(receiver);
    deliver(*request, message);
  } else {
    comm.mail[static_cast<std::size_t>(to)].push_back(std::move(message));
  }
  // A message may be kept by MPI until it is wanted, or its sender.
  if (world()->draw(2) == 0) return std::make_shared<bool>(true);
  return taken;
}

void receive(Request& request, MPI_Comm handle) {
  Comm& comm = comm_of(handle);
  auto& mail = comm.mail[static_cast<std::size_t>(request.rank)];
  const auto message = std::find_if(mail.begin(), mail.end(), [&](const Message& one) {
    return matches(request, one.source, one.tag);
  });
  if (message == mail.end()) {
    comm.posted[static_cast<std::size_t>(request.rank)].push_back(&request);
    return;
  }
  deliver(request, *message);
  mail.erase(message);
}

void wait(const std::shared_ptr<bool>& done, const char* where) {
  while (!*done) world()->wait_for(done.get(), where);
  world()->spend_about(world()->costs().latency, where);
}

MPI_Request handle_for(std::unique_ptr<Request> request) {
  const std::uintptr_t number = new_handle();
  requests[number] = std::move(request);
  return handle_of<MPI_Request>(number);
}

void complete(MPI_Request* handle, MPI_Status* status) {
  const auto found = requests.find(number_of(*handle));
  if (status != MPI_STATUS_IGNORE) *status = found->second->status;
  requests.erase(found);
  *handle = MPI_REQUEST_NULL;
}

Request& request_of(MPI_Request handle) {
  const auto found = requests.find(number_of(handle));
  if (found == requests.end()) world()->end(kMismatch, "a request that there is not");
  return *found->second;
}

}  // namespace
}  // namespace anadrome::simulation

using namespace anadrome::simulation;

extern "C" {

int MPI_Send(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  wait(send(bytes, count, type, to, tag, comm), "MPI_Send");
  return MPI_SUCCESS;
}
int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* handle) {
  auto request = std::make_unique<Request>();
  request->done = send(bytes, count, type, to, tag, comm);
  *handle = handle_for(std::move(request));
  return MPI_SUCCESS;
}
int MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* handle) {
  auto request = std::make_unique<Request>();
  request->source = from;
  request->tag = tag;
  request->rank = rank_in(comm_of(comm));
  request->to = to;
  request->most = static_cast<std::size_t>(count) * size_of(type);
  Request& mine = *request;
  *handle = handle_for(std::move(request));
  receive(mine, comm);
  return MPI_SUCCESS;
}
int MPI_Recv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(to, count, type, from, tag, comm, &request);
  wait(request_of(request).done, "MPI_Recv");
  complete(&request, status);
  return MPI_SUCCESS;
}
int MPI_Test(MPI_Request* handle, int* flag, MPI_Status* status) {
  *flag = 1;
  if (*handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
  world()->pause();
  if (*request_of(*handle).done) {
    complete(handle, status);
  } else {
    *flag = 0;
  }
  return MPI_SUCCESS;
}
int MPI_Waitall(int count, MPI_Request* handles, MPI_Status* statuses) {
  for (int i = 0; i < count; ++i) {
    if (handles[i] == MPI_REQUEST_NULL) continue;
    wait(request_of(handles[i]).done, "MPI_Waitall");
    complete(&handles[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  }
  return MPI_SUCCESS;
}

}  // extern "C"
