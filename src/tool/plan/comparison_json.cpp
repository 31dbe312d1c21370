// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/index.h"
#include "tool/exact_json.h"
#include "tool/plan/comparison.h"

namespace anadrome::tool {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson question_json(const WhatIf& question) {
  OrderedJson json = {{"steps", exact_json(question.steps)},
                      {"ranks", question.ranks},
                      {"state_bytes", exact_json(question.state_bytes)},
                      {"memory_bytes", exact_json(question.memory)},
                      {"seconds_step", question.forward},
                      {"seconds_adjoint", question.adjoint}};
  if (question.has_tape()) json["tape_bytes"] = exact_json(question.tape_bytes);
  if (question.undo_ratio > 0) json["undo"] = question.undo_ratio;
  if (question.passes > 0) {
    json["passes"] = question.passes;
    json["seconds_visit"] = question.visit_seconds();
  }
  if (question.checkpoints > 0) json["checkpoints"] = exact_json(question.checkpoints);
  if (question.slot_bytes > 0) json["slot_bytes"] = exact_json(question.slot_bytes);
  if (question.has_disk()) {
    json["seconds_write"] = question.write_seconds();
    json["seconds_read"] = question.read_seconds();
    json["cores_busy"] = question.cores_busy;
    if (question.compression.on()) json["compression_ratio"] = question.compression.ratio;
    const auto room = [](std::int64_t disk) {
      return disk == kNoLimit ? OrderedJson(nullptr) : exact_json(disk);
    };
    json["disk_bytes"] = room(question.disk);
    if (question.has_fast()) {
      const auto of = [&](const schedule::VolumeCosts& costs, std::int64_t disk) {
        return OrderedJson{{"seconds_write", costs.write},
                           {"seconds_read", costs.read},
                           {"disk_bytes", room(disk)}};
      };
      json["fast"] = of(question.at_fast(), question.fast.disk);
      json["home"] = of(question.at_home(), question.disk);
    }
  }
  return json;
}

// Means of the passes in each direction.
OrderedJson passes_json(const Estimate& row) {
  if (!row.no_passes.empty()) return {{"why_not", row.no_passes}};
  const auto of = [](const PassCost& cost) {
    const double passes = std::max(cost.passes, 1.0);
    return OrderedJson{{"forward_steps", cost.forward_steps / passes},
                       {"seconds", cost.seconds / passes},
                       {"seconds_waiting", cost.waiting / passes}};
  };
  OrderedJson json = {{"forward", of(row.forward_pass)}};
  if (row.reverse_pass.passes > 0) json["reverse"] = of(row.reverse_pass);
  json["seconds"] = row.seconds_in_all() - row.seconds;
  return json;
}

OrderedJson row_json(const Estimate& row, const WhatIf& question) {
  OrderedJson json = {{"schedule", row.schedule}, {"runs", row.runs}};
  if (!row.runs) {
    json["why_not"] = row.remark;
    return json;
  }
  const double steps = real(question.steps);
  json["recompute_factor"] = static_cast<double>(row.forward_steps()) / steps;
  json["forward_steps"] = exact_json(row.forward_steps());
  json["seconds"] = row.seconds;
  json["overhead"] = row.seconds / question.ideal_seconds() - 1;
  json["seconds_waiting"] = row.waiting;
  json["ram_bytes"] = exact_json(row.ram_bytes);
  json["disk_bytes"] = exact_json(row.disk_bytes);
  json["bytes_written"] = exact_json(row.written);
  json["bytes_read"] = exact_json(row.read);
  json["slots"] = exact_json(row.sweep.slots);
  if (row.sweep.interval > 0) json["interval"] = exact_json(row.sweep.interval);
  json["remark"] = row.remark;
  if (question.passes > 0) json["passes"] = passes_json(row);
  return json;
}

OrderedJson gain_json(const Gain& gain, const Estimate& now) {
  if (gain.schedule[0] == '\0') return nullptr;
  return {{"amount", gain.amount},
          {"schedule", gain.schedule},
          {"seconds", gain.seconds},
          {"seconds_gained", now.seconds_in_all() - gain.seconds}};
}

}  // namespace

OrderedJson comparison_json(const Comparison& comparison) {
  const WhatIf& question = comparison.question;
  OrderedJson json = question_json(question);
  json["seconds_ideal"] = question.ideal_seconds();
  if (question.passes > 0)
    json["seconds_ideal_passes"] = question.ideal_seconds_in_all() - question.ideal_seconds();
  json["schedules"] = OrderedJson::array();
  for (const Estimate& row : comparison.rows) {
    json["schedules"].push_back(row_json(row, question));
  }
  if (question.undo_ratio > 0) json["undo_lossy"] = row_json(comparison.undo_lossy, question);
  json["auto"] =
      comparison.by_auto != nullptr ? OrderedJson(comparison.by_auto->name) : OrderedJson(nullptr);
  json["recommended"] = nullptr;
  json["why"] = reason(comparison);
  if (comparison.recommended < 0) return json;
  const Estimate& best = comparison.rows[at(comparison.recommended)];
  json["recommended"] = best.schedule;
  if (comparison.seconds_uncompressed > 0)
    json["seconds_uncompressed"] = comparison.seconds_uncompressed;
  if (comparison.seconds_cores_busy > 0) json["seconds_cores_busy"] = comparison.seconds_cores_busy;
  json["gains"] = OrderedJson::array();
  for (const Resource& resource : comparison.resources) {
    if (!resource.counts) continue;
    json["gains"].push_back({{"resource", resource.name},
                             {"one_more", gain_json(resource.one_more, best)},
                             {"twice", gain_json(resource.twice, best)}});
  }
  return json;
}

}  // namespace anadrome::tool
