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
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "communicators.h"
#include "world.h"

namespace anadrome::simulation {
namespace {

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
    for (auto& [part, members] : parts) numbers[part] = make_comm(std::move(members));
    for (std::size_t i = 0; i < call.colours.size(); ++i) call.made[i] = numbers[call.colours[i]];
  }
  visit.wait_for_all();
  *made = handle_of<MPI_Comm>(call.made[static_cast<std::size_t>(visit.rank())]);
  return MPI_SUCCESS;
}

}  // namespace

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
  free_comm(*handle);
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

// HDF5 has an attribute of MPI_COMM_SELF that tells it of MPI_Finalize.
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int* key,
                           void*) {
  return *key = 1, MPI_SUCCESS;
}
int MPI_Comm_free_keyval(int*) { return MPI_SUCCESS; }
int MPI_Comm_set_attr(MPI_Comm, int, void*) { return MPI_SUCCESS; }

}  // extern "C"
