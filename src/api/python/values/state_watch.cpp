// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/state_watch.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "api/python/values/errors.h"

namespace anadrome::python {
namespace {

// A change of any word is seen, and one of all words alike.
std::uint64_t sum_of(const void* values, std::size_t bytes) { return XXH3_64bits(values, bytes); }

// The numpy array that has the memory of `array`: who has a reference to neither reaches none of
// it.
PyObject* owner_of(py::handle array) {
  const auto plain = [](py::handle object) {
    return std::string(Py_TYPE(object.ptr())->tp_name) == "numpy.ndarray";
  };
  if (!plain(array)) return nullptr;
  const py::object base = array.attr("base");
  const py::handle owner = base.is_none() ? array : py::handle(base);
  const bool owns = plain(owner) && py::cast<bool>(owner.attr("flags").attr("owndata"));
  return owns ? owner.ptr() : nullptr;
}

constexpr char kCure[] =
    ": anadrome reads the arrays that were registered, and `u = step(u)` makes another one; write "
    "into the registered array, u[:] = step(u)";

}  // namespace

void StateWatch::add_array(const std::string& name, py::handle array, const void* values,
                           std::size_t bytes) {
  arrays_.push_back({name, values, bytes, array.ptr(), owner_of(array)});
}

void StateWatch::before() {
  if (done_) return;
  done_ = looking_ = true;
  for (Array& array : arrays_) {
    array.sum = sum_of(array.values, array.bytes);
    array.held = held(array);
  }
}

void StateWatch::after() {
  if (!looking_) return;
  looking_ = false;
  std::string names;
  bool changed = false;
  for (const Array& array : arrays_) {
    if (array.bytes == 0) continue;
    if (sum_of(array.values, array.bytes) != array.sum) {
      changed = true;
      continue;
    }
    if (array.held && !held(array))
      raise(ANADROME_ERR_ARGUMENT, "the first steps did not change the array of state '" +
                                       array.name + "', and the program has let go of it" + kCure);
    names += (names.empty() ? "" : ", ") + array.name;
  }
  if (changed || names.empty()) return;
  const std::string text = "the first steps changed no byte of the state (" + names + ")" + kCure;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 2) != 0) throw py::error_already_set();
}

// Whether anyone but the run, and views that it has, has a reference to it.
bool StateWatch::held(const Array& array) const {
  if (array.owner == nullptr) return false;
  Py_ssize_t own = 0;
  for (const Array& other : arrays_) {
    if (other.owner != array.owner) continue;
    if (other.array != other.owner && Py_REFCNT(other.array) > 1) return true;
    ++own;
  }
  return Py_REFCNT(array.owner) > own;
}

}  // namespace anadrome::python
