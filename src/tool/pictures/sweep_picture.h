// SPDX-License-Identifier: BSD-2-Clause
// A planned sweep as a picture for a person (SVG, no script): the whole, and the time around TURN
// closely where a step of the whole is less than a pixel.
#pragma once

#include <string>
#include <vector>

#include "base/text_out.h"
#include "planners/questions/simulate.h"
#include "tool/pictures/palette.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {

using questions::Held;
using schedule::Doing;
using Span = schedule::Span<double>;

/// `actions` of estimate.sweep, from the start. Throws ERR_ARGUMENT if the sweep has more steps
/// than are played for a picture.
void draw_sweep(const std::function<ActionSource()>& actions, const WhatIf& question,
                const Estimate& estimate, TextOut& out);

/// A sweep that something else has played.
struct SpanPicture {
  std::string title, remark;
  std::string axis = "step";
  double seconds = 0;
  std::int64_t last_step = 0;
  std::int64_t slots = 0;  ///< 0: they are not drawn
  bool disk = false;
  std::vector<Span> spans;
  std::vector<Held> held;
};

/// The whole in one panel. Throws ERR_ARGUMENT if nothing takes any time.
void draw_spans(const SpanPicture& picture, TextOut& out);

}  // namespace anadrome::tool
