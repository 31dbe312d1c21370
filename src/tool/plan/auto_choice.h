// SPDX-License-Identifier: BSD-2-Clause
// The choice of a run with schedule=auto.
#pragma once

#include "schedule/catalogue.h"
#include "tool/schedules/problems/what_if.h"

namespace anadrome::tool {

/// NULL: there is no disk, and not all states fit, or there is no memory for a state.
const schedule::Entry* auto_choice(const WhatIf& question);

}  // namespace anadrome::tool
