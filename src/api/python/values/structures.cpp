// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/structures.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

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

std::vector<double> first_of(const double* values, std::int64_t count) {
  return {values, values + count};
}

}  // namespace

py::dict to_python(const anadrome_stats& stats) {
  py::dict found;
#define ANADROME_TAKE(member) found[#member] = stats.member
  ANADROME_TAKE(steps);
  ANADROME_TAKE(ranks);
  ANADROME_TAKE(state_bytes);
  ANADROME_TAKE(state_bytes_all_ranks);
  ANADROME_TAKE(memory_bytes);
  ANADROME_TAKE(peak_library_bytes);
  ANADROME_TAKE(slots);
  ANADROME_TAKE(checkpoint_slots);
  ANADROME_TAKE(prefetch_depth);
  ANADROME_TAKE(interval);
  ANADROME_TAKE(anchors);
  ANADROME_TAKE(states_per_write);
  ANADROME_TAKE(forward_steps_taken);
  ANADROME_TAKE(forward_steps_planned);
  ANADROME_TAKE(forward_steps_remaining);
  ANADROME_TAKE(adjoint_steps_taken);
  ANADROME_TAKE(bytes_written);
  ANADROME_TAKE(bytes_read);
  ANADROME_TAKE(states_kept);
  ANADROME_TAKE(states_restored);
  ANADROME_TAKE(agreements);
  ANADROME_TAKE(disk_bytes_reserved_all_ranks);
  ANADROME_TAKE(seconds_total);
  ANADROME_TAKE(seconds_forward);
  ANADROME_TAKE(seconds_adjoint);
  ANADROME_TAKE(seconds_stalled_write);
  ANADROME_TAKE(seconds_stalled_read);
  ANADROME_TAKE(seconds_copying);
  ANADROME_TAKE(seconds_agreeing);
  ANADROME_TAKE(seconds_writing);
  ANADROME_TAKE(seconds_reading);
  ANADROME_TAKE(seconds_checksums);
  ANADROME_TAKE(seconds_step);
  ANADROME_TAKE(seconds_adjoint_step);
  ANADROME_TAKE(seconds_write_state);
  ANADROME_TAKE(seconds_read_state);
  ANADROME_TAKE(direct_io);
  ANADROME_TAKE(phase);
  ANADROME_TAKE(schedule);
  ANADROME_TAKE(layout);
  ANADROME_TAKE(transport);
  ANADROME_TAKE(seconds_predicted);
  ANADROME_TAKE(predicted_at_step);
  ANADROME_TAKE(adjoint_guessed);
  ANADROME_TAKE(anchors_lost);
  ANADROME_TAKE(writes_failed);
  ANADROME_TAKE(states_written);
  ANADROME_TAKE(states_read);
  ANADROME_TAKE(bytes_compressed);
  ANADROME_TAKE(tolerance);
  ANADROME_TAKE(gradient_error);
  ANADROME_TAKE(passes);
  ANADROME_TAKE(visit_steps_taken);
  ANADROME_TAKE(seconds_visit_step);
  ANADROME_TAKE(drift);
#undef ANADROME_TAKE
  return found;
}

py::dict to_python(const anadrome_gradient_check& check) {
  py::dict found;
#define ANADROME_TAKE(member) found[#member] = check.member
  ANADROME_TAKE(verdict);
  ANADROME_TAKE(taylor_verdict);
  ANADROME_TAKE(product_verdict);
  ANADROME_TAKE(mismatch);
  ANADROME_TAKE(objective);
  ANADROME_TAKE(seeds);
  found["derivative"] = first_of(check.derivative, check.seeds);
  found["ratio"] = first_of(check.ratio, check.seeds);
  found["slope"] = first_of(check.slope, check.seeds);
  found["first_slope"] = first_of(check.first_slope, check.seeds);
  ANADROME_TAKE(resolution);
  ANADROME_TAKE(products);
  ANADROME_TAKE(failing_products);
  ANADROME_TAKE(failing_step);
  ANADROME_TAKE(product_mismatch);
  ANADROME_TAKE(forward_product);
  ANADROME_TAKE(adjoint_product);
  ANADROME_TAKE(message);
#undef ANADROME_TAKE
  return found;
}

py::object to_python(const anadrome_action& action) {
  static const Maker maker;
  return maker.make(action);
}

}  // namespace anadrome::python
