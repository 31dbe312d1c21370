// SPDX-License-Identifier: BSD-2-Clause
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/byte_size.h"
#include "base/index.h"
#include "base/text_out.h"
#include "schedule/catalogue.h"
#include "tool/output.h"
#include "tool/plan/comparison.h"

namespace anadrome::tool {
namespace {

constexpr std::size_t kNameWidth = 15;
constexpr const char* kUndoLossy = "undo, lossy";
constexpr std::array<std::size_t, 7> kWidths = {8, 12, 9, 9, 9, 9, 9};
constexpr std::array<std::size_t, 6> kPassWidths = {8, 13, 9, 13, 13, 9};

template <std::size_t kCells>
std::string row_text(const std::string& name, const std::array<std::string, kCells>& cells,
                     const std::array<std::size_t, kCells>& widths) {
  std::string line = name;
  line.resize(std::max(kNameWidth, line.size()), ' ');
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t blanks = widths[i] > cells[i].size() ? widths[i] - cells[i].size() : 1;
    line += std::string(blanks, ' ') + cells[i];
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string label_of(const std::string& name, const char* mark = "  ") {
  std::string label = mark + name;
  label.resize(std::max(kNameWidth, label.size() + 1), ' ');
  return label;
}

std::string bytes_or_dash(uint128 bytes) { return bytes == 0 ? "-" : bytes_text(bytes); }

std::string row_text(const std::string& name,
                     const std::array<std::string, kWidths.size()>& cells) {
  return row_text(name, cells, kWidths);
}

std::string factor_text(double forward_steps, std::int64_t steps) {
  const double factor = forward_steps / real(std::max<std::int64_t>(steps, 1));
  return factor > 999.5 ? power_text(factor) : format_number(factor, std::chars_format::fixed, 2);
}

std::string passes_text(const WhatIf& question) {
  return std::to_string(question.passes) + (question.passes == 1 ? " pass" : " passes");
}

std::string question_text(const WhatIf& question, std::size_t columns) {
  std::string text = std::to_string(question.steps) + " steps; a state of " +
                     format_bytes(question.state_bytes) + " on each of " +
                     counted(question.ranks, "rank") + ", " + format_bytes(question.memory) +
                     " of memory per rank";
  if (question.checkpoints > 0)
    text += ", " + counted(question.checkpoints, "slot") + " of it for checkpoints";
  if (question.slot_bytes > 0)
    text += ", " + format_bytes(question.slot_bytes) + " in single precision";
  if (question.has_tape()) text += ", a tape of " + format_bytes(question.tape_bytes);
  text += ". A step takes " + format_seconds(question.forward) + ", its adjoint " +
          format_seconds(question.adjoint);
  if (question.passes > 0) text += ", its visit " + format_seconds(question.visit_seconds());
  if (question.has_disk()) {
    const auto disk_text = [](const schedule::VolumeCosts& costs, std::int64_t disk) {
      return format_seconds(costs.write) + " to write and " + format_seconds(costs.read) +
             " to read; " +
             (disk == kNoLimit ? "no limit on disk" : format_bytes(disk) + " of disk");
    };
    text += "; a state takes ";
    if (question.has_fast())
      text += disk_text(question.at_fast(), question.fast.disk) +
              ", in the fast directory, and at home ";
    text += disk_text(question.at_home(), question.disk);
    if (question.compression.on())
      text += ", states there compressed to 1/" + format_fixed(question.compression.ratio, 2);
    if (question.cores_busy) text += "; every core computes, so transfers take the steps' time";
  } else {
    text += "; no disk";
  }
  std::string ideal =
      "The ideal, with everything in RAM: " + duration_text(question.ideal_seconds());
  if (question.passes > 0)
    ideal +=
        "; with " + passes_text(question) + " " + duration_text(question.ideal_seconds_in_all());
  return wrapped("", text + ".", columns) + wrapped("", ideal + ".", columns);
}

std::string gain_text(const Gain& gain, const Estimate& now) {
  if (gain.schedule[0] == '\0') return "nothing";
  const double before = now.seconds_in_all(), saved = before - gain.seconds;
  if (saved < 5e-4 * before) return "nothing";
  std::string text = change_text(gain.seconds / before) + " (" + duration_text(saved) + " less";
  if (std::string(gain.schedule) != now.schedule) text += std::string(", with ") + gain.schedule;
  return text + ")";
}

std::string resources_text(const Comparison& comparison, std::size_t columns) {
  const Estimate& now = comparison.rows[at(comparison.recommended)];
  std::string text = "\nWhat more would gain\n";
  for (const Resource& resource : comparison.resources) {
    const std::string label = label_of(resource.name);
    if (!resource.counts) {
      const bool disk = comparison.question.has_disk();
      text += label + (disk ? "not limited" : "no disk") + "\n";
      continue;
    }
    const auto said = [&](const char* with, const Gain& gain) {
      return with + gain.amount + ": " + gain_text(gain, now);
    };
    text += wrapped(label, said("+ ", resource.one_more), columns);
    text += wrapped(label_of(""), said("twice, ", resource.twice), columns);
  }
  return text;
}

// Means of the passes in each direction, below the sweeps.
std::string passes_table(const Comparison& comparison, std::size_t columns) {
  const WhatIf& question = comparison.question;
  const auto cells_of = [&](const PassCost& cost) {
    if (cost.passes == 0) return std::array<std::string, 2>{"-", "-"};
    return std::array<std::string, 2>{factor_text(cost.forward_steps / cost.passes, question.steps),
                                      duration_text(cost.seconds / cost.passes)};
  };
  std::string text =
      "\n" +
      row_text("", {"", "forward pass", "", "reverse pass", "sweep and", "over the"}, kPassWidths);
  text += row_text("  " + passes_text(question),
                   {"steps/n", "time", "steps/n", "time", "passes", "ideal"}, kPassWidths);
  for (const Estimate& row : comparison.rows) {
    if (!row.runs) continue;
    if (schedule::find_schedule(row.schedule) == nullptr) continue;
    if (!row.no_passes.empty()) {
      text += wrapped(label_of(row.schedule), "has no passes: " + row.no_passes, columns);
      continue;
    }
    const auto forward = cells_of(row.forward_pass), reverse = cells_of(row.reverse_pass);
    text += row_text(
        std::string("  ") + row.schedule,
        {forward[0], forward[1], reverse[0], reverse[1], duration_text(row.seconds_in_all()),
         change_text(row.seconds_in_all() / question.ideal_seconds_in_all())},
        kPassWidths);
  }
  return text;
}

}  // namespace

std::size_t terminal_columns() {
  constexpr std::int64_t kLeast = 80, kMost = 100;
  std::int64_t columns = 0;
  winsize window = {};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) {
    columns = window.ws_col;
  }
  if (columns == 0) {
    const char* said = std::getenv("COLUMNS");
    if (said != nullptr) columns = std::strtol(said, nullptr, 10);
  }
  return size(std::clamp(columns, kLeast, kMost));
}

std::string comparison_text(const Comparison& comparison, std::size_t columns) {
  const WhatIf& question = comparison.question;
  std::string text = question_text(question, columns) + "\n";
  const auto say = [&](const std::string& label, const std::string& words) {
    text += wrapped(label, words, columns);
  };
  text += row_text("", {"forward", "", "over the", "RAM", "", "", ""});
  text += row_text("  schedule",
                   {"steps/n", "time", "ideal", "per rank", "on disk", "written", "read"});
  const auto add_row = [&](const Estimate& row, const std::string& name, const char* mark) {
    if (!row.runs) {
      say(label_of(name, mark), (row.planned ? "cannot run: " : "not compared: ") + row.remark);
      return;
    }
    text +=
        row_text(mark + name,
                 {factor_text(static_cast<double>(row.forward_steps()), question.steps),
                  duration_text(row.seconds), change_text(row.seconds / question.ideal_seconds()),
                  format_bytes(row.ram_bytes), bytes_or_dash(row.disk_bytes),
                  bytes_or_dash(row.written), bytes_or_dash(row.read)});
  };
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const Estimate& row = comparison.rows[i];
    add_row(row, row.schedule, static_cast<int>(i) == comparison.recommended ? "* " : "  ");
  }
  const bool undoes = question.undo_ratio > 0;
  if (undoes) add_row(comparison.undo_lossy, kUndoLossy, "  ");
  if (question.passes > 0) text += passes_table(comparison, columns);
  text += "\n";
  std::string streams;
  for (const Estimate& row : comparison.rows) {
    if (!row.runs) continue;
    if (!row.remark.empty()) say(label_of(row.schedule), row.remark);
    if (schedule::find_schedule(row.schedule) == nullptr)
      streams += (streams.empty() ? "" : ", ") + std::string(row.schedule);
  }
  if (undoes && comparison.undo_lossy.runs) say(label_of(kUndoLossy), comparison.undo_lossy.remark);
  if (!streams.empty()) say("", "No run plays these, which are streams: " + streams + ".");
  if (comparison.recommended < 0) {
    say("", reason(comparison));
    return text;
  }
  const Estimate& best = comparison.rows[at(comparison.recommended)];
  text += "\n";
  say("", "Take " + std::string(best.schedule) + ". " + reason(comparison));
  if (comparison.by_auto != nullptr)
    say("", "A run with schedule=auto takes " + std::string(comparison.by_auto->name) + ".");
  if (comparison.seconds_uncompressed > 0) {
    const double factor = comparison.seconds_uncompressed / best.seconds_in_all();
    say("", "Without compression: " + duration_text(comparison.seconds_uncompressed) + " (" +
                change_text(factor) + ").");
  }
  constexpr double kDiffers = 1.01;
  if (!question.cores_busy && comparison.seconds_cores_busy > kDiffers * best.seconds_in_all()) {
    say("", "It rests on a core per rank that is free for transfers. Where every core computes, " +
                std::string(best.schedule) + " takes up to " +
                duration_text(comparison.seconds_cores_busy) + " (--cores-busy).");
  }
  return text + resources_text(comparison, columns);
}

}  // namespace anadrome::tool
