// SPDX-License-Identifier: BSD-2-Clause
// One colour and one word for one thing, in every picture of the project. From the palette of Okabe
// and Ito: people who see no red or no green tell them apart, too.
#pragma once

#include "engine/sweep/trace.h"
#include "planners/lists/clock.h"
#include "tool/pictures/svg.h"

namespace anadrome::tool {

using engine::Activity;

/// Steps in blues, their adjoint in green, visits in brown, transfers in purples, what nobody wants
/// in red; passes are as pale as what they are for.
Colour colour_of(Activity activity);
/// What a run would call it. `link` 1: to or from a fast directory.
Activity activity_of(schedule::Doing doing, int link = 0);

inline constexpr Colour kInk = "#1c1c1c";
inline constexpr Colour kQuiet = "#5f6b76";    ///< words beside what matters
inline constexpr Colour kPlot = "#f6f8f9";     ///< behind steps against time
inline constexpr Colour kLane = "#eceff2";     ///< behind a lane in which nothing happens
inline constexpr Colour kCloseUp = "#fff3cf";  ///< the part that is drawn once more, larger
inline constexpr Colour kSlot = "#54708c";     ///< a slot in use
inline constexpr Colour kOnDisk = "#e3c3d8";   ///< states on disk; a pale write

}  // namespace anadrome::tool
