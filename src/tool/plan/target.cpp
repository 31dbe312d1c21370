// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstdint>

#include "base/byte_size.h"
#include "base/checked.h"
#include "tool/exact_json.h"
#include "tool/plan/comparison.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

// The fastest of revolve, async and, with tapes, mixed and store_all; no more than these take.
Estimate fastest(const WhatIf& question) {
  Estimate best;
  for (const Schedule& schedule : all_schedules()) {
    const std::string_view name = schedule.name;
    const bool asked = name == "store_all" || name == "revolve" || name == "async" ||
                       (name == "mixed" && question.has_tape());
    if (!asked) continue;
    const Estimate row = estimate_of(schedule, question);
    if (row.runs && (!best.runs || row.seconds < best.seconds)) best = row;
  }
  return best;
}

constexpr double kRounding = 1 + 1e-9;  // of seconds

// The least memory, in states, with which the sweep ends in time; it only gains by more.
std::int64_t least_memory(WhatIf question, double seconds, Estimate& found) {
  const std::int64_t state = state_bytes(question).memory;
  const auto in_time = [&](std::int64_t states) {
    question.memory = states * state;
    const Estimate row = fastest(question);
    if (!row.runs || row.seconds > kRounding * seconds) return false;
    found = row;
    return true;
  };
  const std::int64_t tapes = question.has_tape() ? ceil_divide(question.tape_bytes, state) : 0;
  const std::int64_t most = schedule::kMostSteps / state;
  std::int64_t low = 0, high = 1;
  const std::int64_t every = std::min(question.steps, most / (tapes + 2)) * (tapes + 1) + 8;
  while (high < every && !in_time(high)) {
    low = high;
    high = std::min(2 * high, every);
  }
  if (!in_time(high)) return 0;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (in_time(middle) ? high : low) = middle;
  }
  in_time(high);
  return high * state;
}

}  // namespace

Target find_target(const WhatIf& question, double seconds) {
  check(question);
  Target target;
  target.question = question;
  target.seconds = seconds;
  WhatIf in_ram = question;
  in_ram.write_rate = in_ram.read_rate = 0;
  for (const WhatIf& asked : {in_ram, question}) {
    if (!asked.has_disk() && !target.least.empty()) continue;
    Estimate row;
    target.memory.push_back(least_memory(asked, seconds, row));
    target.least.push_back(row);
  }
  if (question.memory > 0) target.given = fastest(question);
  return target;
}

bool Target::possible() const {
  if (question.memory > 0) return given.runs && given.seconds <= kRounding * seconds;
  return std::any_of(memory.begin(), memory.end(), [](std::int64_t bytes) { return bytes > 0; });
}

std::string target_text(const Target& target) {
  const double ideal = target.question.ideal_seconds();
  std::string text = "Within " + duration_text(target.seconds) + "; every step once takes " +
                     duration_text(ideal) + ".\n";
  for (std::size_t i = 0; i < target.least.size(); ++i) {
    const Estimate& row = target.least[i];
    text += i == 0 ? "  in RAM alone   " : "  with the disk  ";
    if (target.memory[i] == 0) {
      text += "no memory suffices\n";
      continue;
    }
    if (i == 1 && row.disk_bytes == 0) text += "out of its reach: ";
    text += format_bytes(target.memory[i]) + " of memory per rank";
    if (row.disk_bytes > 0) text += ", " + bytes_text(row.disk_bytes) + " on disk";
    text += std::string(": ") + row.schedule + ", " + duration_text(row.seconds) + " (" +
            change_text(row.seconds / ideal) + ")\n";
  }
  if (target.question.memory == 0) return text;
  text += "  With " + format_bytes(target.question.memory) + " per rank: ";
  if (!target.given.runs) return text + "no schedule runs\n";
  return text + (target.possible() ? "yes, " : "no, ") + target.given.schedule + " takes " +
         duration_text(target.given.seconds) + " (" + change_text(target.given.seconds / ideal) +
         ")\n";
}

nlohmann::ordered_json target_json(const Target& target) {
  nlohmann::ordered_json answers = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < target.least.size(); ++i) {
    const Estimate& row = target.least[i];
    if (target.memory[i] == 0) continue;
    answers.push_back({{"disk", i == 1},
                       {"memory_bytes", exact_json(target.memory[i])},
                       {"disk_bytes", exact_json(row.disk_bytes)},
                       {"schedule", row.schedule},
                       {"seconds", row.seconds}});
  }
  nlohmann::ordered_json json = {{"seconds", target.seconds},
                                 {"seconds_ideal", target.question.ideal_seconds()},
                                 {"answers", answers}};
  if (target.question.memory == 0) return json;
  nlohmann::ordered_json& given = json["given"];
  given = {{"memory_bytes", exact_json(target.question.memory)}, {"in_time", target.possible()}};
  if (target.given.runs) {
    given["schedule"] = target.given.schedule;
    given["seconds"] = target.given.seconds;
  }
  return json;
}

}  // namespace anadrome::tool
