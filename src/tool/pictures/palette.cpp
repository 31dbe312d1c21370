// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/palette.h"

#include <array>

namespace anadrome::tool {
namespace {

// In the order of Activity.
constexpr std::array<Colour, engine::kActivities> kColours = {
    "#0072b2",  // advance
    "#41a0dc",  // recompute
    "#009e73",  // adjoint
    "#8c5a1e",  // visit
    kInk,       // turn
    "#9aa3ab",  // copy
    "#e8400c",  // wait
    "#e6b800",  // agree
    "#c06aa0",  // write
    "#5b3a8c",  // read
    "#d9b98c",  // forward pass
    "#8fd0bb",  // reverse pass
    "#c06aa0",  // write to the fast directory
    "#5b3a8c",  // read from it
};

}  // namespace

Colour colour_of(Activity activity) { return kColours[engine::index_of(activity)]; }

Activity activity_of(schedule::Doing doing, int link) {
  constexpr std::array kOf = {Activity::kAdvance, Activity::kRecompute, Activity::kAdjoint,
                              Activity::kWait,    Activity::kWrite,     Activity::kRead};
  const Activity activity = kOf[static_cast<std::size_t>(doing)];
  if (link == 0) return activity;
  return activity == Activity::kWrite ? Activity::kFastWrite : Activity::kFastRead;
}

}  // namespace anadrome::tool
