// SPDX-License-Identifier: BSD-2-Clause
// Whether the first ADVANCE of a run changed a state array at all: `u = step(u)` makes another
// array and leaves the registered one as it was, and nobody would say so. It is an error where the
// ADVANCE let go of the last reference to that one, which then nobody can read or write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/python/values/python.h"

namespace anadrome::python {

class StateWatch {
 public:
  /// A state array that is looked at. The run has one reference to it.
  void add_array(const std::string& name, py::handle array, const void* values, std::size_t bytes);
  /// A state that is no array: nothing can be said.
  void give_up() { done_ = true, looking_ = false; }
  /// The caller is about to advance; the GIL is held.
  void before();
  /// The action is not carried out, or not all of it: the next one shall show.
  void cut_short() { done_ = done_ && !looking_, looking_ = false; }
  /// The caller comes back. An Error if an array is lost, a RuntimeWarning if none changed; the
  /// GIL is held.
  void after();

 private:
  struct Array {
    std::string name;
    const void* values;
    std::size_t bytes;
    PyObject *array, *owner;  // of the memory; NULL: not known
    std::uint64_t sum = 0;
    bool held = false;
  };
  bool held(const Array& array) const;
  std::vector<Array> arrays_;
  bool done_ = false, looking_ = false;
};

}  // namespace anadrome::python
