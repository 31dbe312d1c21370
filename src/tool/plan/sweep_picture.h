// A planned sweep as a picture for a person (SVG, no script): the whole, and the time around TURN
// closely where a step of the whole is less than a pixel.
#pragma once

#include "base/text_out.h"
#include "tool/plan/schedule.h"

namespace anadrome::tool {

/// Throws ERR_ARGUMENT if the sweep has more steps than are played for a picture.
void draw_sweep(const Schedule& schedule, const WhatIf& question, const Estimate& estimate,
                TextOut& out);

}  // namespace anadrome::tool
