// SPDX-License-Identifier: BSD-2-Clause
// MPI between the ranks of a simulated job: what the library and the laboratory call of it. A call
// that is not here would be that of the real MPI, which was never initialised, and ends the
// process.
//
// Every rank must be in the same collective call with the same root, operation and bytes; otherwise
// the process ends with kMismatch. A root of a broadcast does not wait for the others, and the
// others do not wait for the root of a gather or a reduction, as MPI allows.
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "world.h"

namespace anadrome::simulation {
namespace {

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

constexpr std::uintptr_t kFirst = 0x51000000;
std::unordered_map<std::uintptr_t, std::unique_ptr<Comm>> comms;
std::unordered_map<std::uintptr_t, std::unique_ptr<Request>> requests;
std::uintptr_t next_handle = kFirst;

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

template <class Number>
void combine(Number* sum, const Number* other, int count, MPI_Op operation) {
  for (int i = 0; i < count; ++i) {
    if (operation == MPI_MAX) sum[i] = std::max(sum[i], other[i]);
    if (operation == MPI_MIN) sum[i] = std::min(sum[i], other[i]);
    if (operation == MPI_SUM) sum[i] = static_cast<Number>(sum[i] + other[i]);
    if constexpr (std::is_integral_v<Number>) {
      if (operation == MPI_BOR) sum[i] |= other[i];
      if (operation == MPI_LOR) sum[i] = static_cast<Number>(sum[i] != 0 || other[i] != 0);
      if (operation == MPI_LAND) sum[i] = static_cast<Number>(sum[i] != 0 && other[i] != 0);
    }
  }
}

void combine(std::vector<std::byte>& sum, const void* other, int count, MPI_Datatype type,
             MPI_Op operation) {
  void* const to = sum.data();
  if (type == MPI_INT)
    combine(static_cast<int*>(to), static_cast<const int*>(other), count, operation);
  if (type == MPI_DOUBLE)
    combine(static_cast<double*>(to), static_cast<const double*>(other), count, operation);
  if (type == MPI_INT64_T || type == MPI_LONG)
    combine(static_cast<std::int64_t*>(to), static_cast<const std::int64_t*>(other), count,
            operation);
  if (type == MPI_UINT64_T)
    combine(static_cast<std::uint64_t*>(to), static_cast<const std::uint64_t*>(other), count,
            operation);
}

std::vector<std::byte> copy_of(const void* bytes, std::size_t count) {
  std::vector<std::byte> copy(count);
  if (count > 0) std::memcpy(copy.data(), bytes, count);
  return copy;
}

// A rank in a collective call, from its arrival to its leaving.
class Visit {
 public:
  Visit(MPI_Comm handle, const char* name, std::size_t bytes, int root = -1,
        MPI_Op operation = MPI_OP_NULL)
      : comm_(comm_of(handle)), rank_(rank_in(comm_)), bytes_(bytes), name_(name) {
    world()->pause();
    number_ = comm_.calls_made[static_cast<std::size_t>(rank_)]++;
    call_ = &comm_.calls[number_];
    char what[160];
    std::snprintf(what, sizeof what, "%s of %zu bytes, root %d, operation %zx", name, bytes, root,
                  static_cast<std::size_t>(number_of(operation)));
    if (call_->what.empty()) call_->what = what;
    if (call_->what != what) {
      world()->end(kMismatch, "rank " + std::to_string(self()->rank) + " is in " + what +
                                  " where others are in " + call_->what + ", on communicator " +
                                  comm_.name);
    }
    ++call_->came;
    if (rank_ == root) call_->root_came = true;
  }
  ~Visit() {
    if (++call_->left == size()) comm_.calls.erase(number_);
    const double depth = std::ceil(std::log2(static_cast<double>(size())));
    const Costs& costs = world()->costs();
    world()->spend_about(depth * costs.latency + costs.per_byte * static_cast<double>(bytes_),
                         name_);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  Call& call() { return *call_; }
  Comm& comm() { return comm_; }
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(comm_.members.size()); }
  bool is_first() const { return call_->came == 1; }
  bool all_came() const { return call_->came == size(); }
  void wait_for_all() {
    if (all_came()) world()->wake_all(call_);
    while (!all_came()) world()->wait_for(call_, name_);
  }
  void wait_for_root() {
    if (call_->root_came) world()->wake_all(call_);
    while (!call_->root_came) world()->wait_for(call_, name_);
  }

 private:
  Comm& comm_;
  const int rank_;
  const std::size_t bytes_;
  const char* const name_;
  std::int64_t number_ = 0;
  Call* call_;
};

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

MPI_Request add(std::unique_ptr<Request> request) {
  const std::uintptr_t number = ++next_handle;
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

int make_communicators(MPI_Comm comm, int colour, const char* name, MPI_Comm* made) {
  Visit visit(comm, name, 0);
  Call& call = visit.call();
  call.colours.resize(static_cast<std::size_t>(visit.size()));
  call.made.resize(static_cast<std::size_t>(visit.size()));
  call.colours[static_cast<std::size_t>(visit.rank())] = colour;
  if (visit.all_came()) {
    std::unordered_map<int, std::vector<int>> parts;
    for (std::size_t i = 0; i < call.colours.size(); ++i)
      parts[call.colours[i]].push_back(visit.comm().members[i]);
    std::unordered_map<int, std::uintptr_t> numbers;
    for (auto& [part, members] : parts)
      add(numbers[part] = ++next_handle, std::move(members)).made = true;
    for (std::size_t i = 0; i < call.colours.size(); ++i) call.made[i] = numbers[call.colours[i]];
  }
  visit.wait_for_all();
  *made = handle_of<MPI_Comm>(call.made[static_cast<std::size_t>(visit.rank())]);
  return MPI_SUCCESS;
}

}  // namespace

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

using namespace anadrome::simulation;

extern "C" {

int MPI_Init(int*, char***) { return MPI_SUCCESS; }
int MPI_Init_thread(int*, char***, int required, int* provided) {
  return *provided = required, MPI_SUCCESS;
}
int MPI_Finalize() { return MPI_SUCCESS; }
int MPI_Initialized(int* flag) { return *flag = world() != nullptr ? 1 : 0, MPI_SUCCESS; }
int MPI_Finalized(int* flag) { return *flag = 0, MPI_SUCCESS; }
int MPI_Abort(MPI_Comm, int) { world()->end(kAborted, "MPI_Abort"); }
double MPI_Wtime() { return world()->now(); }
int MPI_Error_string(int, char* text, int* length) {
  *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "simulated");
  return MPI_SUCCESS;
}
int MPI_Get_library_version(char* text, int* length) {
  *length = std::snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "simulated");
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) { return *rank = rank_in(comm_of(comm)), MPI_SUCCESS; }
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return *size = static_cast<int>(comm_of(comm).members.size()), MPI_SUCCESS;
}
int MPI_Comm_test_inter(MPI_Comm, int* flag) { return *flag = 0, MPI_SUCCESS; }
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return make_communicators(comm, 0, "MPI_Comm_dup", made);
}
int MPI_Comm_split_type(MPI_Comm comm, int, int, MPI_Info, MPI_Comm* made) {
  return make_communicators(comm, world()->node_of(self()->rank), "MPI_Comm_split_type", made);
}
int MPI_Comm_free(MPI_Comm* handle) {
  Comm& comm = comm_of(*handle);
  if (++comm.freed == comm.members.size()) comms.erase(number_of(*handle));
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) {
  Visit visit(comm, "MPI_Barrier", 0);
  visit.wait_for_all();
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
  Visit visit(comm, "MPI_Allreduce", bytes, -1, operation);
  const void* mine = from == MPI_IN_PLACE ? to : from;
  if (visit.is_first()) {
    visit.call().bytes = copy_of(mine, bytes);
  } else {
    combine(visit.call().bytes, mine, count, type, operation);
  }
  visit.wait_for_all();
  if (bytes > 0) std::memcpy(to, visit.call().bytes.data(), bytes);
  return MPI_SUCCESS;
}

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, int root,
               MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
  Visit visit(comm, "MPI_Reduce", bytes, root, operation);
  const void* mine = from == MPI_IN_PLACE ? to : from;
  if (visit.is_first()) {
    visit.call().bytes = copy_of(mine, bytes);
  } else {
    combine(visit.call().bytes, mine, count, type, operation);
  }
  if (visit.all_came()) world()->wake_all(&visit.call());
  if (visit.rank() == root) {
    visit.wait_for_all();
    if (bytes > 0) std::memcpy(to, visit.call().bytes.data(), bytes);
  }
  return MPI_SUCCESS;
}

int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
               MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
  Visit visit(comm, "MPI_Exscan", bytes, -1, operation);
  auto& all = visit.call().of_ranks;
  all.resize(static_cast<std::size_t>(visit.size()));
  all[static_cast<std::size_t>(visit.rank())] = copy_of(from == MPI_IN_PLACE ? to : from, bytes);
  if (visit.all_came()) {
    for (std::size_t i = 1; i < all.size(); ++i)
      combine(all[i], all[i - 1].data(), count, type, operation);
  }
  visit.wait_for_all();
  // The result of rank 0 is undefined.
  if (visit.rank() > 0)
    std::memcpy(to, all[static_cast<std::size_t>(visit.rank()) - 1].data(), bytes);
  return MPI_SUCCESS;
}

int MPI_Bcast(void* bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const std::size_t size = static_cast<std::size_t>(count) * size_of(type);
  Visit visit(comm, "MPI_Bcast", size, root);
  if (visit.rank() == root) visit.call().bytes = copy_of(bytes, size);
  visit.wait_for_root();
  if (visit.rank() != root && size > 0) std::memcpy(bytes, visit.call().bytes.data(), size);
  return MPI_SUCCESS;
}

int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int, MPI_Datatype,
               int root, MPI_Comm comm) {
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
  Visit visit(comm, "MPI_Gather", bytes, root);
  auto& all = visit.call().of_ranks;
  all.resize(static_cast<std::size_t>(visit.size()));
  if (from != MPI_IN_PLACE) all[static_cast<std::size_t>(visit.rank())] = copy_of(from, bytes);
  if (visit.all_came()) world()->wake_all(&visit.call());
  if (visit.rank() != root) return MPI_SUCCESS;
  visit.wait_for_all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].empty()) std::memcpy(static_cast<std::byte*>(to) + i * bytes, all[i].data(), bytes);
  }
  return MPI_SUCCESS;
}

int MPI_Send(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  wait(send(bytes, count, type, to, tag, comm), "MPI_Send");
  return MPI_SUCCESS;
}
int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* handle) {
  auto request = std::make_unique<Request>();
  request->done = send(bytes, count, type, to, tag, comm);
  *handle = add(std::move(request));
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
  *handle = add(std::move(request));
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

// HDF5 has an attribute of MPI_COMM_SELF that tells it of MPI_Finalize.
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int* key,
                           void*) {
  return *key = 1, MPI_SUCCESS;
}
int MPI_Comm_free_keyval(int*) { return MPI_SUCCESS; }
int MPI_Comm_set_attr(MPI_Comm, int, void*) { return MPI_SUCCESS; }

}  // extern "C"
