// SPDX-License-Identifier: BSD-2-Clause
// The options and fields with which a sweep of schedule=undo can be.
#pragma once

#include "engine/asked/fields.h"
#include "engine/asked/options.h"

namespace anadrome::engine {

/// Throws ERR_UNSUPPORTED where they do not suit, with the cure. `by_steps`: the caller has no
/// undo.
void require_undo_fits(const Options& options, const Fields& fields, bool by_steps);

}  // namespace anadrome::engine
