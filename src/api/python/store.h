// SPDX-License-Identifier: BSD-2-Clause
// anadrome_store for Python. The GIL is released in every call that may wait or copy; threads of
// Python take turns. anadrome._store has what users see.
#pragma once

#include <anadrome/store.h>

#include <unistd.h>
#include <cstdint>

#include <mutex>
#include <string>
#include <vector>

#include "api/python/values/fields.h"

namespace anadrome::python {

class Store {
 public:
  Store(const py::object& comm, const std::string& options);
  /// Closes nothing: closing is collective, and whoever destroys this may be any thread at any
  /// time.
  ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// `arrays`: by the names of the parts.
  void put(std::int64_t key, const py::dict& arrays);
  void get(std::int64_t key, const py::dict& arrays);
  void drop(std::int64_t key);
  void expect(const std::vector<std::int64_t>& keys);
  void sync();
  void close();
  py::dict statistics();
  bool closed() const { return store_ == nullptr; }

 private:
  template <class Call>
  void enter(Call&& call);

  anadrome_store* store_ = nullptr;
  std::mutex turn_;  // taken without the GIL
  const pid_t process_ = ::getpid();
};

}  // namespace anadrome::python
