#include "tool/pictures/palette.h"

namespace anadrome::tool {

Colour colour_of(Activity activity) {
  switch (activity) {
    case Activity::kAdvance:
      return "#0072b2";
    case Activity::kRecompute:
      return "#41a0dc";
    case Activity::kAdjoint:
      return "#009e73";
    case Activity::kTurn:
      return kInk;
    case Activity::kCopy:
      return "#9aa3ab";
    case Activity::kWait:
      return "#e8400c";
    case Activity::kAgree:
      return "#e6b800";
    case Activity::kWrite:
      return "#c06aa0";
    case Activity::kRead:
      return "#5b3a8c";
  }
  return kInk;
}

}  // namespace anadrome::tool
