// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/store.h"

#include <unistd.h>

#include <list>

#include "api/python/values/communicator.h"
#include "api/python/values/errors.h"

namespace anadrome::python {
namespace {

/// Parts as C has them, whose arrays stay where they are.
class Parts {
 public:
  Parts(const py::dict& arrays, Array::Use use) {
    for (const auto& [name, array] : arrays) {
      if (!py::isinstance<py::str>(name)) throw py::type_error("names of parts must be str");
      names_.push_back(py::cast<std::string>(name));
      const Array& held =
          arrays_.emplace_back(names_.back(), py::reinterpret_borrow<py::object>(array), use);
      parts_.push_back({names_.back().c_str(), held.type(), held.count(), held.values()});
    }
  }
  int count() const { return static_cast<int>(parts_.size()); }
  const anadrome_part* data() const { return parts_.data(); }

 private:
  std::list<std::string> names_;
  std::list<Array> arrays_;
  std::vector<anadrome_part> parts_;
};

}  // namespace

template <class Call>
void Store::enter(Call&& call) {
  anadrome_status status = ANADROME_OK;
  {
    const py::gil_scoped_release others_run;
    // In a child of fork the turn may be a thread's that is not there; the call is refused.
    std::unique_lock turn(turn_, std::defer_lock);
    if (::getpid() == process_) turn.lock();
    status = call();
  }
  check(status);
}

Store::Store(const py::object& comm, const std::string& options) {
  const MPI_Comm handle = communicator_of(comm);
  enter([&] { return anadrome_store_open(handle, options.c_str(), &store_); });
}

void Store::put(std::int64_t key, const py::dict& arrays) {
  const Parts parts(arrays, Array::Use::kPut);
  enter([&] { return anadrome_store_put(store_, key, parts.count(), parts.data()); });
}

void Store::get(std::int64_t key, const py::dict& arrays) {
  const Parts parts(arrays, Array::Use::kGet);
  enter([&] { return anadrome_store_get(store_, key, parts.count(), parts.data()); });
}

void Store::drop(std::int64_t key) {
  enter([&] { return anadrome_store_drop(store_, key); });
}

void Store::expect(const std::vector<std::int64_t>& keys) {
  const auto count = static_cast<std::int64_t>(keys.size());
  enter([&] { return anadrome_store_expect(store_, count, keys.data()); });
}

void Store::sync() {
  enter([&] { return anadrome_store_sync(store_); });
}

void Store::close() {
  enter([&] { return anadrome_store_close(&store_); });
}

py::dict Store::statistics() {
  anadrome_store_stats stats{};
  stats.size = sizeof stats;
  enter([&] { return anadrome_store_statistics(store_, &stats); });
  using namespace pybind11::literals;
  return py::dict(
      "objects"_a = stats.objects, "bytes"_a = stats.bytes, "memory_bytes"_a = stats.memory_bytes,
      "block_bytes"_a = stats.block_bytes, "bytes_written"_a = stats.bytes_written,
      "bytes_read"_a = stats.bytes_read, "seconds_writing"_a = stats.seconds_writing,
      "seconds_reading"_a = stats.seconds_reading,
      "seconds_stalled_write"_a = stats.seconds_stalled_write,
      "seconds_stalled_read"_a = stats.seconds_stalled_read, "direct_io"_a = stats.direct_io);
}

}  // namespace anadrome::python
