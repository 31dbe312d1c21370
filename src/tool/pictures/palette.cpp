// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/palette.h"

namespace anadrome::tool {
namespace {

Activity activity_of(schedule::Doing doing) {
  constexpr Activity kActivities[] = {Activity::kAdvance, Activity::kRecompute, Activity::kAdjoint,
                                      Activity::kWait,    Activity::kWrite,     Activity::kRead};
  return kActivities[static_cast<std::size_t>(doing)];
}

}  // namespace

Colour colour_of(Activity activity) {
  switch (activity) {
    case Activity::kAdvance:
      return "#0072b2";
    case Activity::kRecompute:
      return "#41a0dc";
    case Activity::kAdjoint:
      return "#009e73";
    case Activity::kVisit:
      return "#8c5a1e";
    case Activity::kTurn:
      return kInk;
    case Activity::kCopy:
      return "#9aa3ab";
    case Activity::kWait:
      return "#e8400c";
    case Activity::kAgree:
      return "#e6b800";
    case Activity::kWrite:
    case Activity::kFastWrite:
      return "#c06aa0";
    case Activity::kRead:
    case Activity::kFastRead:
      return "#5b3a8c";
    case Activity::kForwardPass:
      return "#d9b98c";
    case Activity::kReversePass:
      return "#8fd0bb";
  }
  return kInk;
}

Colour colour_of(schedule::Doing doing) { return colour_of(activity_of(doing)); }
const char* word_of(schedule::Doing doing) { return engine::to_string(activity_of(doing)); }

}  // namespace anadrome::tool
