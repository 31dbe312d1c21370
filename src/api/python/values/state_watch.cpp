// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/state_watch.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "api/python/values/python.h"

namespace anadrome::python {
namespace {

// A change of any word is seen, and one of all words alike.
std::uint64_t sum_of(const void* values, std::size_t bytes) { return XXH3_64bits(values, bytes); }

}  // namespace

void StateWatch::add_array(const std::string& name, const void* values, std::size_t bytes) {
  arrays_.push_back({name, values, bytes});
}

void StateWatch::before() {
  if (done_) return;
  done_ = looking_ = true;
  for (Array& array : arrays_) array.sum = sum_of(array.values, array.bytes);
}

void StateWatch::after() {
  if (!looking_) return;
  looking_ = false;
  const std::string names = unchanged();
  if (names.empty()) return;
  const std::string text =
      "the first steps changed no byte of the state (" + names +
      "): anadrome reads the arrays that were registered, and `u = step(u)` makes another one; "
      "write into the registered array, u[:] = step(u)";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 2) != 0) throw py::error_already_set();
}

// The names of the arrays if none of them changed; "" otherwise.
std::string StateWatch::unchanged() const {
  std::string names;
  for (const Array& array : arrays_) {
    if (array.bytes == 0) continue;
    if (sum_of(array.values, array.bytes) != array.sum) return "";
    names += (names.empty() ? "" : ", ") + array.name;
  }
  return names;
}

}  // namespace anadrome::python
