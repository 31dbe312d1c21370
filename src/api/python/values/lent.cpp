// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/lent.h"

namespace anadrome::python {
namespace {

int look(PyObject* object, Py_buffer* view, int flags) {
  Lent& lent = *py::cast<Lent*>(py::handle(object));
  const int failed =
      PyBuffer_FillInfo(view, object, lent.values, lent.bytes, lent.writable ? 0 : 1, flags);
  if (failed == 0) ++lent.views;
  return failed;
}

void look_away(PyObject* object, Py_buffer*) { --py::cast<Lent*>(py::handle(object))->views; }

}  // namespace

void define_lent(py::module_& module) {
  py::class_<Lent>(module, "Lent", py::custom_type_setup([](PyHeapTypeObject* type) {
                     type->as_buffer.bf_getbuffer = look;
                     type->as_buffer.bf_releasebuffer = look_away;
                     type->ht_type.tp_as_buffer = &type->as_buffer;
                   }));
}

void lend(const std::string& field, Lent memory, const py::function& function) {
  const py::object lent = py::cast(memory);
  const auto view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(lent.ptr()));
  if (!view) throw py::error_already_set();
  function(view);
  view.attr("release")();
  if (py::cast<Lent&>(lent).views == 0) return;
  const std::string text = "field '" + field +
                           "': its function kept the buffer that it was lent, which is gone; "
                           "copy what is to stay";
  PyErr_SetString(PyExc_BufferError, text.c_str());
  throw py::error_already_set();
}

}  // namespace anadrome::python
