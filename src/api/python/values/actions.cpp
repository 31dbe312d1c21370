// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/actions.h"

#include <cstdint>
#include <initializer_list>

namespace anadrome::python {
namespace {

// The classes are dataclasses with slots. They are filled without their __init__, which is Python's
// and takes longer than all the rest of a step of the loop.
class Maker {
 public:
  Maker() {
    const py::module_ actions = py::module_::import("anadrome._actions");
    advance_ = keep(actions.attr("Advance"));
    turn_ = keep(actions.attr("Turn"));
    adjoint_ = keep(actions.attr("Adjoint"));
    visit_ = keep(actions.attr("Visit"));
    retreat_ = keep(actions.attr("Retreat"));
  }

  py::object make(const anadrome_action& action) const {
    switch (action.kind) {
      case ANADROME_ADVANCE:
        return filled(advance_, {{first_, number(action.first)},
                                 {last_, number(action.last)},
                                 {record_, truth(action.record)},
                                 {again_, truth(action.again)},
                                 {branch_, number(0)}});
      case ANADROME_TURN:
        return filled(
            turn_,
            {{steps_, number(action.first)}, {again_, truth(action.again)}, {branch_, number(0)}});
      case ANADROME_ADJOINT:
        return filled(adjoint_, {{step_, number(action.first)}, {branch_, number(0)}});
      case ANADROME_VISIT:
        return filled(visit_, {{step_, number(action.first)}});
      case ANADROME_RETREAT:
        return filled(retreat_, {{step_, number(action.first)}});
      case ANADROME_DONE:  // ends the loop
        break;
    }
    return py::none();
  }

 private:
  struct Slot {
    PyObject* name;
    PyObject* value;
  };
  static PyObject* keep(const py::object& kept) { return kept.inc_ref().ptr(); }
  static PyObject* number(std::int64_t value) { return PyLong_FromLongLong(value); }
  static PyObject* truth(int value) { return PyBool_FromLong(value); }

  static py::object filled(PyObject* type, std::initializer_list<Slot> slots) {
    auto* const of_type = reinterpret_cast<PyTypeObject*>(type);
    auto object = py::reinterpret_steal<py::object>(of_type->tp_alloc(of_type, 0));
    bool good = object.ptr() != nullptr;
    for (const Slot& slot : slots) {
      good = good && slot.value != nullptr &&
             PyObject_GenericSetAttr(object.ptr(), slot.name, slot.value) == 0;
      Py_XDECREF(slot.value);
    }
    if (!good) throw py::error_already_set();
    return object;
  }

  PyObject *advance_, *turn_, *adjoint_, *visit_, *retreat_;  // until the process ends
  PyObject* first_ = PyUnicode_InternFromString("first");
  PyObject* last_ = PyUnicode_InternFromString("last");
  PyObject* record_ = PyUnicode_InternFromString("record");
  PyObject* again_ = PyUnicode_InternFromString("again");
  PyObject* branch_ = PyUnicode_InternFromString("branch");
  PyObject* steps_ = PyUnicode_InternFromString("steps");
  PyObject* step_ = PyUnicode_InternFromString("step");
};

}  // namespace

py::object to_python(const anadrome_action& action) {
  static const Maker maker;
  return maker.make(action);
}

}  // namespace anadrome::python
