// SPDX-License-Identifier: BSD-2-Clause
// The C interface: checks what can be checked locally, forwards, and turns exceptions into
// statuses.
#include <anadrome/device.h>
#include <anadrome/gradient.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/c/handles.h"
#include "api/schedules/guard.h"
#include "base/checked.h"
#include "base/error.h"
#include "check/gradient_check.h"
#include "engine/run.h"
#include "engine/solve.h"
#include "store/memory/packing.h"

struct anadrome_run {
  explicit anadrome_run(MPI_Comm comm) : run(comm) {}
  anadrome::engine::Run run;
  anadrome::MadeHere made;
  bool in_call = false;  ///< in one that may call back
};

namespace {

using namespace anadrome::api;
using anadrome::Error;
using anadrome::Failure;
using anadrome::failure_from;
using anadrome::store::Field;
using anadrome::store::Packing;

void require_no_callback(const anadrome_run* run, const char* function) {
  if (!run->in_call) return;
  throw Error(ANADROME_ERR_ORDER, std::string(function) +
                                      ": called in a callback, before the call of the same run "
                                      "that it belongs to has come back");
}

// A collective call, which may call back. No other may come in between: the sweep would be its own.
template <class Body>
anadrome_status guard_call(anadrome_run* run, const char* function, Body&& body) {
  return guard([&] {
    require_open(run, function, "run");
    require_no_callback(run, function);
    require_mpi(function);
    run->in_call = true;
    const Failure failure = failure_from(body);
    run->in_call = false;
    if (failure) throw Error(failure.status, failure.message);
  });
}

// The parts of a field that both kinds of registration check.
Field checked_field(const char* name, anadrome_role role, anadrome_type type, std::size_t count) {
  require(name != nullptr, "add_field: name is NULL");
  const std::string text = name;
  const bool allowed = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (text.empty() || text.size() >= 64 || !allowed || text == "." || text == "..") {
    throw Error(ANADROME_ERR_ARGUMENT,
                "add_field: '" + text +
                    "' is not a field name: use 1 to 63 letters, digits, '_', '-' and '.'");
  }
  require(
      role == ANADROME_ROLE_STATE || role == ANADROME_ROLE_TAPE || role == ANADROME_ROLE_ADJOINT,
      "add_field: no such role");
  require(anadrome::store::element_bytes(type) > 0, "add_field: no such type");
  require(count <= static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()),
          "add_field: the count is too large");
  Field field;
  field.name = text;
  field.role = role;
  field.type = type;
  field.count = static_cast<std::int64_t>(count);
  return field;
}

Field checked_exchanged(const char* name, anadrome_role role, anadrome_type type,
                        std::size_t count) {
  Field field = checked_field(name, role, type, count);
  if (role != ANADROME_ROLE_STATE) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "add_exchanged: only state fields are exchanged; register '" + field.name +
                    "' with anadrome_add_field");
  }
  field.exchanged = true;
  return field;
}

Field checked_array(const char* name, anadrome_role role, anadrome_type type, void* values,
                    std::size_t count) {
  Field field = checked_field(name, role, type, count);
  if (values == nullptr && count > 0)
    throw Error(ANADROME_ERR_ARGUMENT,
                "add_field: the array of field '" + field.name +
                    "' is NULL (in Fortran: not allocated, or not contiguous)");
  field.values = values;
  return field;
}

// A call before begin, for an option or a field. A failure of it comes out at begin, too, unless
// the call came in the middle of a sweep and changes nothing.
template <class Body>
anadrome_status guard_setting(anadrome_run* run, const char* function, const char* name,
                              Body&& body) {
  return guard([&] {
    require_open(run, function, "run");
    const bool adds = std::string_view(function).starts_with("add_");
    const std::string subject = std::string(adds ? "add" : function) + " " + (name ? name : "");
    const Failure failure = failure_from(body);
    if (!failure) return run->run.refusals().made_good(subject);
    if (failure.status != ANADROME_ERR_ORDER) run->run.refusals().note(subject, failure);
    throw Error(failure.status, failure.message);
  });
}

}  // namespace

anadrome_status anadrome_open(MPI_Comm comm, anadrome_run** run) {
  return guard_open([&] {
    require(run != nullptr, "open: run is NULL");
    *run = nullptr;
    require_mpi("open");
    require_intracommunicator(comm, "open");
    *run = open_on_all_ranks<anadrome_run>(comm);
    // OPTIONS of the environment are read here and judged at begin, where all ranks can say so.
    if (const char* text = std::getenv("ANADROME_OPTIONS")) (*run)->run.set_environment(text);
  });
}

anadrome_status anadrome_set(anadrome_run* run, const char* key, const char* value) {
  return guard_setting(run, "set", key, [&] {
    require(key != nullptr && value != nullptr, "set: an argument is NULL");
    run->run.set(key, value);
  });
}

anadrome_status anadrome_add_field(anadrome_run* run, const char* name, anadrome_role role,
                                   anadrome_type type, void* values, size_t count) {
  return guard_setting(run, "add_field", name,
                       [&] { run->run.add_field(checked_array(name, role, type, values, count)); });
}

anadrome_status anadrome_add_packed(anadrome_run* run, const char* name, anadrome_role role,
                                    size_t bytes, anadrome_pack_fn pack, anadrome_unpack_fn unpack,
                                    void* context) {
  return guard_setting(run, "add_packed", name, [&] {
    Field field = checked_field(name, role, ANADROME_BYTE, bytes);
    require(pack != nullptr && unpack != nullptr, "add_packed: a callback is NULL");
    field.mover = std::make_shared<Packing>(pack, unpack, context);
    run->run.add_field(std::move(field));
  });
}

anadrome_status anadrome_add_varying(anadrome_run* run, const char* name, anadrome_role role,
                                     size_t most, anadrome_size_fn size, anadrome_pack_fn pack,
                                     anadrome_unpack_fn unpack, void* context) {
  return guard_setting(run, "add_varying", name, [&] {
    Field field = checked_field(name, role, ANADROME_BYTE, most);
    require(size != nullptr && pack != nullptr && unpack != nullptr,
            "add_varying: a callback is NULL");
    if (role != ANADROME_ROLE_STATE) {
      throw Error(ANADROME_ERR_UNSUPPORTED,
                  "add_varying: only state fields change their size; register '" + field.name +
                      "' with anadrome_add_packed");
    }
    field.count = anadrome::checked_add(field.count, anadrome::store::kLengthBytes);
    field.mover = std::make_shared<Packing>(pack, unpack, context, size);
    run->run.add_field(std::move(field));
  });
}

anadrome_status anadrome_set_shape(anadrome_run* run, const char* name, int dimensions,
                                   const int64_t* sizes) {
  return guard_setting(run, "set_shape", name, [&] {
    constexpr int kMostDimensions = 8;
    require(name != nullptr, "set_shape: name is NULL");
    require(dimensions >= 1 && dimensions <= kMostDimensions,
            "set_shape: there are 1 to 8 dimensions");
    require(sizes != nullptr, "set_shape: sizes is NULL");
    run->run.set_shape(name, {sizes, sizes + dimensions});
  });
}

anadrome_status anadrome_set_tolerance(anadrome_run* run, const char* name, double absolute) {
  return guard_setting(run, "set_tolerance", name, [&] {
    require(name != nullptr, "set_tolerance: name is NULL");
    run->run.set_tolerance(name, absolute);
  });
}

anadrome_status anadrome_add_exchanged(anadrome_run* run, const char* name, anadrome_role role,
                                       anadrome_type type, size_t count, int* field) {
  return guard_setting(run, "add_exchanged", name, [&] {
    require(field != nullptr, "add_exchanged: field is NULL");
    *field = run->run.add_field(checked_exchanged(name, role, type, count));
  });
}

anadrome_status anadrome_set_device(anadrome_run* run,
                                    const anadrome_device_operations* operations) {
  return guard_setting(run, "set_device", nullptr, [&] { run->run.set_device(operations); });
}

anadrome_status anadrome_add_device_field(anadrome_run* run, const char* name, anadrome_role role,
                                          anadrome_type type, void* values, size_t count,
                                          void* stream) {
  return guard_setting(run, "add_device_field", name, [&] {
    run->run.add_device_field(checked_array(name, role, type, values, count), stream);
  });
}

anadrome_status anadrome_add_exchanged_on_device(anadrome_run* run, const char* name,
                                                 anadrome_role role, anadrome_type type,
                                                 size_t count, void* stream, int* number) {
  return guard_setting(run, "add_exchanged_on_device", name, [&] {
    require(number != nullptr, "add_exchanged_on_device: field is NULL");
    Field field = checked_exchanged(name, role, type, count);
    *number = run->run.add_device_field(std::move(field), stream);
  });
}

const void* anadrome_now(const anadrome_run* run, int field) {
  return run != nullptr ? run->run.now(field) : nullptr;
}

void* anadrome_then(anadrome_run* run, int field) {
  return run != nullptr ? run->run.then(field) : nullptr;
}

anadrome_status anadrome_begin(anadrome_run* run, int64_t steps) {
  return guard_call(run, "begin", [&] {
    run->run.undo_by_steps(false);  // the caller's loop has undo
    run->run.begin(steps);
  });
}

anadrome_status anadrome_next(anadrome_run* run, anadrome_action* action) {
  return guard_call(run, "next", [&] {
    require(action != nullptr, "next: action is NULL");
    run->run.next(*action);
  });
}

anadrome_status anadrome_finish_forward(anadrome_run* run, int64_t steps) {
  return guard([&] {
    require_open(run, "finish_forward", "run");
    run->run.finish_forward(steps);
  });
}

anadrome_status anadrome_solve(anadrome_run* run, int64_t steps, const anadrome_model* model) {
  return guard_call(run, "solve", [&] {
    anadrome::Failure unfit;
    const anadrome_model complete = anadrome::engine::model_of(run->run, model, "solve", unfit);
    anadrome::engine::solve(run->run, steps, complete, unfit);
  });
}

anadrome_status anadrome_check_gradient(anadrome_run* run, int64_t steps,
                                        const anadrome_model* model,
                                        const anadrome_gradient* gradient,
                                        anadrome_gradient_check* check) {
  return guard_call(run, "check_gradient", [&] {
    anadrome::Failure failure;
    if (check == nullptr || check->size < sizeof(std::size_t)) {
      failure = {ANADROME_ERR_ARGUMENT,
                 "check_gradient: set check.size = sizeof(anadrome_gradient_check)"};
    }
    anadrome_gradient_check found =
        anadrome::engine::check_gradient(run->run, steps, model, gradient, failure);
    found.size = std::min(check->size, sizeof found);
    std::memcpy(check, &found, found.size);
  });
}

anadrome_status anadrome_rewind(anadrome_run* run) {
  return guard_call(run, "rewind", [&] { run->run.rewind(); });
}

anadrome_status anadrome_pass(anadrome_run* run, anadrome_direction direction) {
  return guard_call(run, "pass", [&] { run->run.pass(direction); });
}

anadrome_status anadrome_solve_pass(anadrome_run* run, anadrome_direction direction,
                                    const anadrome_model* model) {
  return guard_call(run, "solve_pass", [&] {
    anadrome::Failure unfit;
    const anadrome_model complete =
        anadrome::engine::pass_model_of(run->run, direction, model, unfit);
    anadrome::engine::solve_pass(run->run, direction, complete, unfit);
  });
}

anadrome_status anadrome_fail(anadrome_run* run, const char* why) {
  return guard([&] {
    require_open(run, "fail", "run");
    run->run.fail(why != nullptr ? why : "the caller failed");
  });
}

anadrome_status anadrome_request_stop(anadrome_run* run) {
  if (run == nullptr) return ANADROME_ERR_ARGUMENT;
  run->run.request_stop();  // nothing else: this may run in a signal handler
  return ANADROME_OK;
}

anadrome_status anadrome_resumed(const anadrome_run* run, anadrome_phase* phase, int64_t* step) {
  return guard([&] {
    require_open(run, "resumed", "run");
    require(phase != nullptr && step != nullptr, "resumed: an argument is NULL");
    const auto& resumed = run->run.resumed();
    *phase = resumed.phase;
    *step = resumed.step;
  });
}

anadrome_status anadrome_statistics(const anadrome_run* run, anadrome_stats* stats) {
  return guard([&] {
    require_open(run, "statistics", "run");
    require(stats != nullptr, "statistics: stats is NULL");
    require(stats->size >= sizeof(std::size_t),
            "statistics: set stats.size = sizeof(anadrome_stats)");
    anadrome_stats now = run->run.statistics();
    const std::size_t size = std::min(stats->size, sizeof now);
    now.size = size;
    std::memcpy(stats, &now, size);
  });
}

anadrome_status anadrome_close(anadrome_run** run) {
  return guard([&] {
    require(run != nullptr, "close: the pointer to the handle is NULL");
    if (*run == nullptr) return;
    require_no_callback(*run, "close");
    anadrome_run* const handle = std::exchange(*run, nullptr);
    require_open(handle, "close", "run");  // its memory stays
    const std::unique_ptr<anadrome_run> closing(handle);
    require_mpi("close");
    closing->run.close();
  });
}

const char* anadrome_version(void) {
#define ANADROME_TEXT(x) #x
#define ANADROME_VERSION_TEXT(a, b, c) ANADROME_TEXT(a) "." ANADROME_TEXT(b) "." ANADROME_TEXT(c)
  return ANADROME_VERSION_TEXT(ANADROME_VERSION_MAJOR, ANADROME_VERSION_MINOR,
                               ANADROME_VERSION_PATCH);
}
