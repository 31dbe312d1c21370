// SPDX-License-Identifier: BSD-2-Clause
// anadrome_store for Python. anadrome._store has what users see.
#include <anadrome/store.h>
#include <unistd.h>

#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "api/python/module.h"
#include "api/python/values/communicator.h"
#include "api/python/values/errors.h"
#include "api/python/values/fields.h"

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
  /// Of each part by its name: see Array::form.
  py::dict forms() const {
    py::dict forms;
    auto array = arrays_.begin();
    for (const std::string& name : names_) forms[py::str(name)] = (array++)->form();
    return forms;
  }
  int count() const { return static_cast<int>(parts_.size()); }
  const anadrome_part* data() const { return parts_.data(); }

 private:
  std::list<std::string> names_;
  std::list<Array> arrays_;
  std::vector<anadrome_part> parts_;
};

/// The GIL is released in every call that may wait or copy; threads of Python take turns.
class Store {
 public:
  Store(const py::object& comm, const std::string& options) {
    const MPI_Comm handle = communicator_of(comm);
    enter([&] { return anadrome_store_open(handle, options.c_str(), &store_); });
  }
  /// Closes nothing: closing is collective, and whoever destroys this may be any thread at any
  /// time.
  ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// `arrays`: by the names of the parts, as the forms that it returns.
  py::dict put(std::int64_t key, const py::dict& arrays) {
    const Parts parts(arrays, Array::Use::kPut);
    enter([&] { return anadrome_store_put(store_, key, parts.count(), parts.data()); });
    return parts.forms();
  }
  void get(std::int64_t key, const py::dict& arrays) {
    const Parts parts(arrays, Array::Use::kGet);
    enter([&] { return anadrome_store_get(store_, key, parts.count(), parts.data()); });
  }
  void drop(std::int64_t key) {
    enter([&] { return anadrome_store_drop(store_, key); });
  }
  void expect(const std::vector<std::int64_t>& keys) {
    const auto count = static_cast<std::int64_t>(keys.size());
    enter([&] { return anadrome_store_expect(store_, count, keys.data()); });
  }
  void sync() {
    enter([&] { return anadrome_store_sync(store_); });
  }
  void close() {
    enter([&] { return anadrome_store_close(&store_); });
  }
  py::dict statistics() {
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
  bool closed() const { return store_ == nullptr; }

 private:
  template <class Call>
  void enter(Call&& call) {
    without_gil([&] {
      // In a child of fork the turn may be a thread's that is not there; the call is refused.
      std::unique_lock turn(turn_, std::defer_lock);
      if (::getpid() == process_) turn.lock();
      return call();
    });
  }

  anadrome_store* store_ = nullptr;
  std::mutex turn_;  // taken without the GIL
  const pid_t process_ = ::getpid();
};

}  // namespace

void define_store(py::module_& module) {
  py::class_<Store>(module, "Store")
      .def(py::init<py::object, std::string>())
      .def("put", &Store::put)
      .def("get", &Store::get)
      .def("drop", &Store::drop)
      .def("expect", &Store::expect)
      .def("sync", &Store::sync)
      .def("close", &Store::close)
      .def("statistics", &Store::statistics)
      .def_property_readonly("closed", &Store::closed);
}

}  // namespace anadrome::python
