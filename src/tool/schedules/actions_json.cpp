#include "tool/schedules/actions_json.h"

namespace anadrome::tool {
namespace {

const char* name_of(Verb verb) {
  switch (verb) {
    case Verb::kAdvance:
      return "advance";
    case Verb::kKeep:
      return "keep";
    case Verb::kRestore:
      return "restore";
    case Verb::kDrop:
      return "drop";
    case Verb::kWrite:
      return "write";
    case Verb::kRead:
      return "read";
    case Verb::kTurn:
      return "turn";
    case Verb::kAdjoint:
      return "adjoint";
  }
  return "?";
}

const char* name_of(Tier tier) {
  switch (tier) {
    case Tier::kRam:
      return "ram";
    case Tier::kDisk:
      return "disk";
    case Tier::kTape:
      return "tape";
  }
  return "?";
}

}  // namespace

void write_actions(const ActionSource& next, TextOut& out) {
  PlannedAction action;
  while (next(action)) {
    out.put("{\"action\": \"").put(name_of(action.verb)).put("\", ");
    switch (action.verb) {
      case Verb::kAdvance:
        out.put("\"first\": ").integer(action.first).put(", \"last\": ").integer(action.last);
        if (action.record) out.put(", \"record\": true");
        break;
      case Verb::kTurn:
      case Verb::kAdjoint:
        out.put("\"step\": ").integer(action.first);
        break;
      case Verb::kKeep:
      case Verb::kRestore:
      case Verb::kDrop:
        out.put("\"step\": ").integer(action.first);
        out.put(", \"tier\": \"").put(name_of(action.tier));
        out.put("\", \"slot\": ").integer(action.slot);
        break;
      case Verb::kWrite:
      case Verb::kRead:
        out.put("\"step\": ").integer(action.first).put(", \"slot\": ").integer(action.slot);
        break;
    }
    out.put("}\n");
  }
  out.flush();
}

}  // namespace anadrome::tool
