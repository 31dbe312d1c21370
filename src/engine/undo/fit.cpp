// SPDX-License-Identifier: BSD-2-Clause
#include "engine/undo/fit.h"

#include <string>

#include "base/error.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {
namespace {

void require_drift_fits(const Options& options, const Fields& fields, bool by_steps) {
  const auto refuse = [](const std::string& why) {
    throw Error(ANADROME_ERR_UNSUPPORTED, "schedule=undo with compress=lossy " + why);
  };
  if (options.codec() != "lossy")
    refuse("leaves residuals out: it is not compress=" + options.codec());
  if (options.interval < 2) refuse("keeps a state every `interval` steps; set that to 2 or more");
  if (by_steps) refuse("needs a model with undo");
  if (options.gradient_error > 0)
    refuse("has no codec whose tolerance could change: it requires gradient_error=off");
  if (options.probe && !fields.has(ANADROME_ROLE_ADJOINT)) {
    refuse(
        "and probe=on takes adjoint steps twice: register all that they change as adjoint "
        "fields, or set probe=off");
  }
}

}  // namespace

void require_undo_fits(const Options& options, const Fields& fields, bool by_steps) {
  const auto refuse = [](const std::string& why) {
    throw Error(ANADROME_ERR_UNSUPPORTED, "schedule=undo " + why);
  };
  for (const store::Field& field : fields.all()) {
    const std::string named = ": '" + field.name + "'";
    if (field.role == ANADROME_ROLE_TAPE) {
      refuse("goes from state to state, and has no tapes" + named +
             "; register what an adjoint step reads as state, or take another schedule");
    }
    if (field.exchanged)
      refuse("undoes steps in the caller's arrays" + named +
             " is exchanged; register it by anadrome_add_field, or take another schedule");
    if (field.role == ANADROME_ROLE_STATE && store::varies(field))
      refuse("takes differences, and states of varying size have none" + named);
  }
  if (options.keep) refuse("leaves no states in its files; it requires keep=off");
  if (options.passes > 0) refuse("goes through its steps once; it requires passes=0");
  if (options.resume && options.has_fast())
    refuse("computes nothing again that a fast directory loses; set one directory, or resume=off");
  if (options.is_lossy()) return require_drift_fits(options, fields, by_steps);
  if (options.interval > 1)
    refuse(
        "keeps a residual of each step; set interval=auto, or compress=lossy to have states "
        "every " +
        std::to_string(options.interval) + " steps, and what lies between them only nearly right");
  if (options.mpio())
    refuse("compresses residuals; it requires transport=auto, direct or buffered");
  if (!store::is_built(store::CodecName::kLz4))
    refuse("compresses residuals by LZ4, which this build of anadrome is without");
  if (options.resume && !fields.has(ANADROME_ROLE_ADJOINT))
    refuse(
        "with resume=on commits the state beside adjoint fields, and there are none; "
        "register them, or set resume=off");
}

}  // namespace anadrome::engine
