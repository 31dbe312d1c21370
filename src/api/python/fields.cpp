// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/fields.h"

#include <optional>

namespace anadrome::python {
namespace {

// The element types of fields in the letters of Python's module struct; numpy writes complex
// numbers as Z and a letter. Letters of integers say little of their size.
std::optional<anadrome_type> type_of(std::string format, Py_ssize_t itemsize) {
  if (!format.empty() && (format[0] == '<' || format[0] == '=' || format[0] == '@'))
    format.erase(0, 1);
  if (format == "f") return ANADROME_FLOAT32;
  if (format == "d") return ANADROME_FLOAT64;
  if (format == "Zf") return ANADROME_COMPLEX64;
  if (format == "Zd") return ANADROME_COMPLEX128;
  if (itemsize == 1 && std::string("bBc?").find(format) != std::string::npos) return ANADROME_BYTE;
  if (std::string("ilq").find(format) == std::string::npos) return std::nullopt;
  if (itemsize == 4) return ANADROME_INT32;
  if (itemsize == 8) return ANADROME_INT64;
  return std::nullopt;
}

// Call `use` with a view of the memory that ends with it. A view that somebody kept would see
// whatever comes there later: that is an error.
template <class Use>
void lend(const Packed& field, void* buffer, std::size_t bytes, bool writable, Use&& use) {
  const auto view = py::memoryview::from_memory(buffer, static_cast<py::ssize_t>(bytes), !writable);
  try {
    use(view);
  } catch (py::error_already_set&) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (!PyObject_CallMethod(view.ptr(), "release", nullptr)) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    throw;
  }
  try {
    view.attr("release")();
  } catch (py::error_already_set&) {
    const std::string text =
        "field '" + field.name + "': its function kept the buffer that it was lent; copy from it";
    PyErr_SetString(PyExc_BufferError, text.c_str());
    throw py::error_already_set();
  }
}

}  // namespace

Array::Array(const std::string& field, const py::object& array) {
  const auto refuse = [&](const std::string& why) {
    PyBuffer_Release(&view_);
    throw py::type_error("field '" + field + "': " + why);
  };
  if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    const std::string kind = Py_TYPE(array.ptr())->tp_name;
    refuse("an object of type " + kind +
           " has no memory that can be shared; give a numpy array, or use packed() with two "
           "functions that copy");
  }
  if (view_.readonly != 0) refuse("the array is read-only; anadrome writes states into it");
  if (PyBuffer_IsContiguous(&view_, 'C') == 0)
    refuse("the array is not C-contiguous; numpy.ascontiguousarray makes one that is");
  const std::string format = view_.format != nullptr ? view_.format : "B";
  const std::optional<anadrome_type> type = type_of(format, view_.itemsize);
  if (!type) {
    refuse("elements of type '" + format +
           "' are none that fields have: float32, float64, complex64, complex128, int32, int64 or "
           "bytes; give a view of the array as bytes, array.view('u1')");
  }
  type_ = *type;
}

Array::~Array() { PyBuffer_Release(&view_); }

int Packed::packing(void* context, void* buffer, std::size_t bytes) {
  const Packed& field = *static_cast<Packed*>(context);
  return field.thrown->guard([&] {
    lend(field, buffer, bytes, true, [&](const py::memoryview& view) { field.pack(view); });
  });
}

int Packed::unpacking(void* context, const void* buffer, std::size_t bytes) {
  const Packed& field = *static_cast<Packed*>(context);
  return field.thrown->guard([&] {
    lend(field, const_cast<void*>(buffer), bytes, false,
         [&](const py::memoryview& view) { field.unpack(view); });
  });
}

std::size_t Packed::asking(void* context) {
  const Packed& field = *static_cast<Packed*>(context);
  std::size_t bytes = 0;
  field.thrown->guard([&] { bytes = static_cast<std::size_t>(integer_of(field.size())); });
  return bytes;
}

}  // namespace anadrome::python
