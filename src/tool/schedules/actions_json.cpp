// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/actions_json.h"

namespace anadrome::tool {
namespace {

const char* name_of_tier(const schedule::Kept& kept) {
  if (kept.what == schedule::What::kTape) return "tape";
  return kept.tier == schedule::kDiskTier ? "disk" : "ram";
}

}  // namespace

void write_actions(const ActionSource& next, TextOut& out) {
  const auto begin = [&](const char* action, const char* key, std::int64_t step) -> TextOut& {
    return out.put("{\"action\": \"").put(action).put("\", \"").put(key).put("\": ").integer(step);
  };
  const auto put_copy = [&](const char* action, const schedule::Kept& kept) {
    begin(action, "step", kept.step).put(", \"tier\": \"").put(name_of_tier(kept));
    out.put("\", \"slot\": ").integer(kept.place).put("}\n");
  };
  const auto put_transfer = [&](const char* action, const schedule::Kept& kept) {
    begin(action, "step", kept.step).put(", \"slot\": ").integer(kept.place).put("}\n");
  };
  each_action(next,
              schedule::Cases{
                  [&](const schedule::Advance& run) {
                    begin("advance", "first", run.first).put(", \"last\": ").integer(run.last);
                    out.put(run.record ? ", \"record\": true}\n" : "}\n");
                  },
                  [&](const schedule::Keep& kept) { put_copy("keep", kept); },
                  [&](const schedule::Restore& kept) { put_copy("restore", kept); },
                  [&](const schedule::Drop& kept) { put_copy("drop", kept); },
                  [&](const schedule::Write& kept) { put_transfer("write", kept); },
                  [&](const schedule::Read& kept) { put_transfer("read", kept); },
                  [&](const schedule::Turn& turn) { begin("turn", "step", turn.step).put("}\n"); },
                  [&](const schedule::Adjoint& adjoint) {
                    begin("adjoint", "step", adjoint.step).put("}\n");
                  },
                  [](const auto&) {}});
  out.flush();
}

}  // namespace anadrome::tool
