// SPDX-License-Identifier: BSD-2-Clause
#include "tool/plan/comparison.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/index.h"
#include "base/text_out.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {

namespace {

Estimate without_disk(const Schedule& schedule, const WhatIf& question) {
  return refused(schedule.name, "one state of all ranks needs " +
                                    format_bytes(state_bytes(question).disk) + " on disk");
}

Estimate estimate_of_run(const Schedule& schedule, const schedule::Entry& entry,
                         const WhatIf& question) {
  try {
    const RunProblem run(question, entry);
    if (schedule.uses_disk && run.disk_states() < 1) return without_disk(schedule, question);
    Estimate row = schedule.estimate(question, run);
    if (row.runs && question.passes > 0 && row.no_passes.empty()) add_passes(row, question, run);
    return row;
  } catch (const engine::TooLittleMemory& error) {
    return without_memory(schedule.name, error.needed(), question);
  }
}

Estimate estimate_of_stream(const Schedule& schedule, const WhatIf& question) {
  const StreamRoom room(question);
  if (room.slots < 1) return without_memory(schedule.name, question.state_bytes, question);
  if (schedule.uses_disk && room.disk_states < 1) return without_disk(schedule, question);
  Estimate row = schedule.estimate_stream(question, room);
  if (row.runs && question.passes > 0) row.no_passes = "it is a stream, which has one sweep";
  return row;
}

}  // namespace

Estimate estimate_of(const Schedule& schedule, const WhatIf& question) {
  if (schedule.uses_disk && !question.has_disk())
    return refused(schedule.name, "needs --write-rate, and room on disk");
  const schedule::Entry* const entry = schedule::find_schedule(schedule.name);
  if (entry != nullptr && entry->needs.undo) return estimate_undo(question);
  return entry != nullptr ? estimate_of_run(schedule, *entry, question)
                          : estimate_of_stream(schedule, question);
}

namespace {

bool is_in_runs(std::string_view schedule) { return schedule::find_schedule(schedule) != nullptr; }

// Of schedules that a run plays, or of all.
enum class Asked { kInRuns, kAll };

// But for what took too long to plan in `before`.
std::vector<Estimate> estimates(const WhatIf& question, Asked of,
                                const std::vector<Estimate>& before = {}) {
  std::vector<Estimate> rows;
  for (const Schedule& schedule : all_schedules()) {
    const bool priced = schedule.name == std::string_view("undo")
                            ? question.undo_ratio > 0
                            : schedule.estimate != nullptr || schedule.estimate_stream != nullptr;
    const bool asked = priced && (of == Asked::kAll || is_in_runs(schedule.name)) &&
                       (!schedule.uses_tapes || question.has_tape());
    const bool took_long = std::any_of(before.begin(), before.end(), [&](const Estimate& row) {
      return !row.planned && row.schedule == std::string_view(schedule.name);
    });
    if (!asked || took_long) continue;
    try {
      rows.push_back(estimate_of(schedule, question));
    } catch (const Error& error) {  // beyond what this planner takes; others may do
      rows.push_back(refused(schedule.name, error.what()));
      rows.back().planned = false;
    }
  }
  return rows;
}

// Of those that a run plays. Schedules that take the same time but for rounding are equals.
int cheapest(const std::vector<Estimate>& rows) {
  constexpr double kSame = 1 - 1e-9;
  int best = -1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].serves() || !is_in_runs(rows[i].schedule)) continue;
    if (best < 0 || rows[i].seconds_in_all() < kSame * rows[at(best)].seconds_in_all()) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

struct Now {
  const std::vector<Estimate>& rows;
  const Estimate& best;
};

// A schedule that runs now runs with more of anything, too.
Gain gain(const WhatIf& question, std::string amount, const Now& now) {
  std::vector<Estimate> rows = estimates(question, Asked::kInRuns, now.rows);
  rows.push_back(now.best);
  const int best = cheapest(rows);
  Gain gain;
  gain.amount = std::move(amount);
  if (best < 0) return gain;
  gain.schedule = rows[at(best)].schedule;
  gain.seconds = rows[at(best)].seconds_in_all();
  return gain;
}

std::int64_t more(std::int64_t amount, std::int64_t by) {
  return amount > kNoLimit / 4 - by ? amount : amount + by;
}

Resource memory_of(const WhatIf& question, const Now& now) {
  const std::int64_t state = state_bytes(question).memory;
  Resource memory = {"memory", true, {}, {}};
  WhatIf changed = question;
  changed.memory = more(question.memory, state);
  memory.one_more = gain(changed, format_bytes(state) + " per rank, one state", now);
  changed.memory = more(question.memory, question.memory);
  memory.twice = gain(changed, format_bytes(changed.memory) + " per rank", now);
  return memory;
}

Resource disk_rate_of(const WhatIf& question, const Now& now) {
  Resource rate = {"disk rate", question.has_disk(), {}, {}};
  if (!rate.counts) return rate;
  constexpr double kOneMore = 1.1;
  const auto faster = [&question](double factor) {
    WhatIf changed = question;
    changed.write_rate *= factor;
    changed.read_rate *= factor;
    changed.fast.write_rate *= factor;
    changed.fast.read_rate *= factor;
    return changed;
  };
  rate.one_more = gain(faster(kOneMore), "10 % both ways", now);
  rate.twice = gain(faster(2), "twice both ways", now);
  return rate;
}

Resource disk_space_of(const WhatIf& question, const Now& now) {
  Resource space = {"disk space", question.has_disk() && question.disk != kNoLimit, {}, {}};
  if (!space.counts) return space;
  const std::int64_t state = state_bytes(question).disk;
  WhatIf changed = question;
  changed.disk = more(question.disk, state);
  space.one_more = gain(changed, format_bytes(state) + ", one state of all ranks", now);
  changed.disk = more(question.disk, question.disk);
  space.twice = gain(changed, format_bytes(changed.disk), now);
  return space;
}

std::optional<RunProblem> run_of_auto(const WhatIf& question, const schedule::Entry& entry) {
  try {
    return std::make_optional<RunProblem>(question, entry, RunProblem::Asked::kByAuto);
  } catch (const Error&) {  // it does not fit
    return std::nullopt;
  }
}

std::string percent_of(double part, double whole) {
  return format_number(100 * part / whole, std::chars_format::fixed,
                       part < 0.0995 * whole ? 1 : 0) +
         " %";
}

}  // namespace

const schedule::Entry* auto_choice(const WhatIf& question) {
  using schedule::InAuto;
  WhatIf states = question;
  states.tape_bytes = 0;
  const schedule::Entry& all = schedule::schedule_for(InAuto::kEveryStateFits);
  const bool may_use_all = question.checkpoints == 0 || question.checkpoints >= question.steps;
  if (may_use_all && run_of_auto(states, all)) return &all;
  const schedule::Entry& by_default = schedule::schedule_for(InAuto::kByDefault);
  const auto run = run_of_auto(question, by_default);
  if (!question.has_disk() || !run || run->disk_states() < 1) return nullptr;
  return run->disk_leaves_too_few() ? &schedule::schedule_for(InAuto::kNoDisk) : &by_default;
}

Comparison compare(const WhatIf& question) {
  check(question);
  Comparison comparison;
  comparison.question = question;
  comparison.rows = estimates(question, Asked::kAll);
  if (question.undo_ratio > 0) comparison.undo_lossy = estimate_undo_lossy(question);
  comparison.recommended = cheapest(comparison.rows);
  comparison.by_auto = auto_choice(question);
  if (comparison.recommended >= 0) {
    const Now now = {comparison.rows, comparison.rows[at(comparison.recommended)]};
    comparison.resources = {memory_of(question, now), disk_rate_of(question, now),
                            disk_space_of(question, now)};
    if (question.compression.on() && question.has_disk()) {
      WhatIf plain = question;
      plain.compression = {};
      const std::vector<Estimate> rows = estimates(plain, Asked::kInRuns);
      const int best = cheapest(rows);
      if (best >= 0) comparison.seconds_uncompressed = rows[at(best)].seconds_in_all();
    }
    WhatIf busy = question;
    busy.cores_busy = true;
    if (now.best.written > 0)
      comparison.seconds_cores_busy =
          estimate_of(schedule_named("", now.best.schedule), busy).seconds_in_all();
  }
  return comparison;
}

std::string reason(const Comparison& comparison) {
  if (comparison.recommended < 0) {
    return "No schedule runs in what there is; the rows say what each one needs.";
  }
  const auto& rows = comparison.rows;
  const Estimate& best = rows[at(comparison.recommended)];
  const double ideal = comparison.question.ideal_seconds_in_all();
  const double over = std::max(0.0, best.seconds_in_all() - ideal);
  const double waiting = best.waiting_in_all(), recomputing = std::max(0.0, over - waiting);
  std::string text;
  if (over < 1e-6 * ideal) {
    text = "It runs every step once and never waits: nothing can be faster.";
  } else {
    text = "It takes " + duration_text(over) + " more than the ideal (" + percent_of(over, ideal) +
           "): ";
    if (waiting < 0.001 * over) {
      text += "recomputed steps.";
    } else if (recomputing < 0.001 * over) {
      text += "waiting for the disk.";
    } else {
      text += duration_text(recomputing) + " for recomputed steps, " + duration_text(waiting) +
              " waiting for the disk.";
    }
  }
  std::string left_out;
  for (const Estimate& row : rows) {
    if (!row.planned)
      left_out += (left_out.empty() ? " Not compared: " : ", ") + std::string(row.schedule);
  }
  if (!left_out.empty()) left_out += ".";
  const Estimate* second = nullptr;
  for (const Estimate& row : rows) {
    if (!row.serves() || !is_in_runs(row.schedule) || &row == &best) continue;
    if (second == nullptr || row.seconds_in_all() < second->seconds_in_all()) second = &row;
  }
  if (second == nullptr) return text + " No other schedule runs." + left_out;
  const double factor = second->seconds_in_all() / best.seconds_in_all();
  if (factor - 1 < 0.0005) {
    return text + " " + second->schedule + " takes as long" +
           (second > &best ? ", and is less simple." : ".") + left_out;
  }
  const std::string longer = change_text(factor);
  return text + " Next comes " + second->schedule + ", which takes " +
         (longer[0] == '+' ? longer.substr(1) + " longer." : longer + " that time.") + left_out;
}

}  // namespace anadrome::tool
