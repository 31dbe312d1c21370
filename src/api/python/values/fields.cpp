// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/fields.h"

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

// numpy.ma.MaskedArray: its buffer is the data without the mask.
bool is_masked(const py::object& array) {
  const py::dict modules = py::module_::import("sys").attr("modules");
  if (!modules.contains("numpy.ma")) return false;
  return py::isinstance(array, py::object(modules["numpy.ma"]).attr("MaskedArray"));
}

// As numpy calls it, or the letters of the module struct.
std::string name_of_type(const py::object& array, const std::string& format) {
  return py::hasattr(array, "dtype") ? py::cast<std::string>(py::str(array.attr("dtype")))
                                     : "'" + format + "' (module struct)";
}

// Memory that a function of Python sees while it is called, and no longer.
// An object with the buffer protocol that counts who looks. Memoryviews do not: one that was made
// of another one goes on when that is released.
struct Lent {
  void* values;
  py::ssize_t bytes;
  bool writable;
  py::ssize_t views = 0;
};

int look(PyObject* object, Py_buffer* view, int flags) {
  Lent& lent = *py::cast<Lent*>(py::handle(object));
  const int failed =
      PyBuffer_FillInfo(view, object, lent.values, lent.bytes, lent.writable ? 0 : 1, flags);
  if (failed == 0) ++lent.views;
  return failed;
}

void look_away(PyObject* object, Py_buffer*) { --py::cast<Lent*>(py::handle(object))->views; }

// Calls `function` with a memoryview of the memory, which is released whatever it raises. Raises
// BufferError if it kept a view.
void lend(const std::string& field, Lent memory, const py::function& function) {
  const py::object lent = py::cast(memory);
  const auto view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(lent.ptr()));
  if (!view) throw py::error_already_set();
  try {
    function(view);
  } catch (...) {
    // Another view may look through this one, as in the frames of the exception, which goes on.
    Py_XDECREF(PyObject_CallMethod(view.ptr(), "release", nullptr));
    PyErr_Clear();
    throw;
  }
  view.attr("release")();
  if (py::cast<Lent&>(lent).views == 0) return;
  const std::string text = "field '" + field +
                           "': its function kept the buffer that it was lent, which is gone; "
                           "copy what is to stay";
  PyErr_SetString(PyExc_BufferError, text.c_str());
  throw py::error_already_set();
}

}  // namespace

Array::Array(const std::string& name, const py::object& array, Use use, const py::object& stream) {
  const bool is_field = use == Use::kField, is_part = use == Use::kPut || use == Use::kGet;
  const auto refuse = [&](const std::string& why) {
    throw py::type_error((is_field  ? "field '"
                          : is_part ? "part '"
                                    : "array '") +
                         name + "': " + why);
  };
  if (is_masked(array))
    refuse(
        "a MaskedArray would lose its mask; give its data and its mask as two arrays, or "
        ".filled()");
  const bool shared = PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FULL_RO) == 0;
  if (!shared) PyErr_Clear();
  if (!shared && Dlpack::has(array)) packed_ = Dlpack(array, stream);
  if (!shared && !packed_.holds()) {
    const std::string kind = Py_TYPE(array.ptr())->tp_name;
    refuse("an object of type " + kind + " has no memory that can be shared; give a numpy array" +
           (is_field ? ", or use packed() with two functions that copy" : ""));
  }
  if (packed_.holds() && (packed_.elsewhere() || (packed_.on_device() && !is_field)))
    refuse("its memory is on a device where anadrome does not read it; give a copy on the host");
  const bool read_only = packed_.holds() ? packed_.read_only() : view_.readonly != 0;
  if (read_only && use != Use::kPut && use != Use::kRead)
    refuse("the array is read-only; anadrome writes " +
           std::string(is_field  ? "states"
                       : is_part ? "the part"
                                 : "the result") +
           " into it");
  const bool contiguous =
      packed_.holds() ? packed_.contiguous() : PyBuffer_IsContiguous(&view_, 'C') != 0;
  if (!contiguous)
    refuse("the array is not C-contiguous; numpy.ascontiguousarray makes one that is");
  const std::string format = packed_.holds()           ? packed_.format()
                             : view_.format != nullptr ? view_.format
                                                       : "B";
  const std::optional<anadrome_type> type = type_of(
      format, packed_.holds() ? static_cast<Py_ssize_t>(packed_.itemsize()) : view_.itemsize);
  if (!type) {
    refuse("elements of type " + name_of_type(array, format) +
           " are none that fields have: float32, float64, complex64, complex128, int32, int64 or "
           "bytes; give a view of the array as bytes, array.view('u1')");
  }
  type_ = *type;
}

std::vector<std::int64_t> Array::shape() const {
  constexpr int kMost = 8;
  if (packed_.holds()) {
    std::vector<std::int64_t> sizes = packed_.shape();
    return sizes.size() < 2 || sizes.size() > kMost ? std::vector<std::int64_t>() : sizes;
  }
  if (view_.ndim < 2 || view_.ndim > kMost) return {};
  return {view_.shape, view_.shape + view_.ndim};
}

py::object Array::form() const {
  if (!packed_.holds()) return py::none();
  return py::make_tuple(packed_.format(), py::tuple(py::cast(packed_.shape())));
}

int Packed::packing(void* context, void* buffer, std::size_t bytes) {
  const Packed& field = *static_cast<Packed*>(context);
  return field.thrown->guard([&] {
    lend(field.name, {buffer, static_cast<py::ssize_t>(bytes), true}, field.pack);
  });
}

int Packed::unpacking(void* context, const void* buffer, std::size_t bytes) {
  const Packed& field = *static_cast<Packed*>(context);
  return field.thrown->guard([&] {
    lend(field.name, {const_cast<void*>(buffer), static_cast<py::ssize_t>(bytes), false},
         field.unpack);
  });
}

std::size_t Packed::asking(void* context) {
  const Packed& field = *static_cast<Packed*>(context);
  std::size_t bytes = 0;
  field.thrown->guard([&] { bytes = static_cast<std::size_t>(integer_of(field.size())); });
  return bytes;
}

void define_lent(py::module_& module) {
  py::class_<Lent>(module, "Lent", py::custom_type_setup([](PyHeapTypeObject* type) {
                     type->as_buffer.bf_getbuffer = look;
                     type->as_buffer.bf_releasebuffer = look_away;
                     type->ht_type.tp_as_buffer = &type->as_buffer;
                   }));
}

}  // namespace anadrome::python
