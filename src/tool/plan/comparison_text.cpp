// SPDX-License-Identifier: BSD-2-Clause
#include "tool/plan/comparison_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/byte_size.h"
#include "base/index.h"
#include "base/text_out.h"
#include "schedule/catalogue.h"

namespace anadrome::tool {
namespace {

constexpr std::size_t kNameWidth = 15;
constexpr std::array<std::size_t, 7> kWidths = {8, 12, 9, 9, 9, 9, 9};
constexpr std::array<std::size_t, 6> kPassWidths = {8, 13, 9, 13, 13, 9};
constexpr double kDiffers = 1.01;

// Left, breaking at spaces; further lines begin below the first character after `label`.
std::string wrapped(const std::string& label, const std::string& text, int columns) {
  std::string lines = label, indent(label.size(), ' ');
  std::size_t used = label.size(), begin = 0;
  bool fresh = true;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t word = end - begin;
    if (!fresh && used + 1 + word > static_cast<std::size_t>(columns)) {
      lines += "\n" + indent;
      used = indent.size();
      fresh = true;
    }
    lines += (fresh ? "" : " ") + text.substr(begin, word);
    used += word + (fresh ? 0 : 1);
    fresh = false;
    begin = end + 1;
  }
  return lines + "\n";
}

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

std::string label_of(const std::string& name) {
  std::string label = "  " + name;
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

std::string question_text(const WhatIf& question, int columns) {
  const std::int64_t ranks = question.ranks;
  std::string text = std::to_string(question.steps) + " steps; a state of " +
                     format_bytes(question.state_bytes) + " on each of " + std::to_string(ranks) +
                     (ranks == 1 ? " rank" : " ranks") + ", " + format_bytes(question.memory) +
                     " of memory per rank";
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
    if (question.has_fast()) {
      text += disk_text(question.at_fast(), question.fast.disk) +
              ", in the fast directory, and at home " +
              disk_text(question.at_home(), question.disk);
    } else {
      text += disk_text(question.at_home(), question.disk);
    }
    if (question.compression.on())
      text += ", states there compressed to 1/" + format_fixed(question.compression.ratio, 2);
    if (question.cores_busy) text += "; every core computes, so transfers take the steps' time";
  } else {
    text += "; no disk";
  }
  return wrapped("", text + ".", columns) +
         wrapped("",
                 "The ideal, with everything in RAM: " + duration_text(question.ideal_seconds()) +
                     (question.passes > 0 ? "; with " + passes_text(question) + " " +
                                                duration_text(question.ideal_seconds_in_all())
                                          : "") +
                     ".",
                 columns);
}

std::string gain_text(const Gain& gain, const Estimate& now) {
  if (gain.schedule[0] == '\0') return "nothing";
  const double before = now.seconds_in_all(), saved = before - gain.seconds;
  if (saved < 5e-4 * before) return "nothing";
  std::string text = change_text(gain.seconds / before) + " (" + duration_text(saved) + " less";
  if (std::string(gain.schedule) != now.schedule) text += std::string(", with ") + gain.schedule;
  return text + ")";
}

std::string resources_text(const Comparison& comparison, int columns) {
  const Estimate& now = comparison.rows[at(comparison.recommended)];
  std::string text = "\nWhat more would gain\n";
  for (const Resource& resource : comparison.resources) {
    std::string label = std::string("  ") + resource.name;
    label.resize(kNameWidth, ' ');
    if (!resource.counts) {
      const bool disk = comparison.question.has_disk();
      text += label + (disk ? "not limited" : "no disk") + "\n";
      continue;
    }
    text += wrapped(
        label, "+ " + resource.one_more.amount + ": " + gain_text(resource.one_more, now), columns);
    text +=
        wrapped(std::string(kNameWidth, ' '),
                "twice, " + resource.twice.amount + ": " + gain_text(resource.twice, now), columns);
  }
  return text;
}

// Means of the passes in each direction, below the sweeps.
std::string passes_table(const Comparison& comparison, int columns) {
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

int terminal_columns() {
  constexpr int kLeast = 80, kMost = 100;
  int columns = 0;
  winsize size = {};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    columns = size.ws_col;
  }
  if (columns == 0) {
    const char* said = std::getenv("COLUMNS");
    if (said != nullptr) columns = static_cast<int>(std::strtol(said, nullptr, 10));
  }
  return std::clamp(columns, kLeast, kMost);
}

std::string comparison_text(const Comparison& comparison, int columns) {
  const WhatIf& question = comparison.question;
  std::string text = question_text(question, columns) + "\n";
  text += row_text("", {"forward", "", "over the", "RAM", "", "", ""});
  text += row_text("  schedule",
                   {"steps/n", "time", "ideal", "per rank", "on disk", "written", "read"});
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const Estimate& row = comparison.rows[i];
    const bool chosen = static_cast<int>(i) == comparison.recommended;
    std::string name = std::string(chosen ? "* " : "  ") + row.schedule;
    if (!row.runs) {
      name.resize(std::max(kNameWidth, name.size() + 1), ' ');
      text +=
          wrapped(name, (row.planned ? "cannot run: " : "not compared: ") + row.remark, columns);
      continue;
    }
    text += row_text(
        name, {factor_text(static_cast<double>(row.forward_steps()), question.steps),
               duration_text(row.seconds), change_text(row.seconds / question.ideal_seconds()),
               format_bytes(row.ram_bytes), bytes_or_dash(row.disk_bytes),
               bytes_or_dash(row.written), bytes_or_dash(row.read)});
  }
  const SketchRow& sketch = comparison.sketch;
  if (sketch.arrays > 0 && !sketch.runs) {
    text += wrapped(label_of("sketch"), "cannot run: " + sketch_remark(sketch), columns);
  } else if (sketch.arrays > 0) {
    text += row_text("  sketch", {"1.00", duration_text(sketch.seconds), change_text(1),
                                  format_bytes(sketch.ram_bytes), "-", "-", "-"});
  }
  if (question.passes > 0) text += passes_table(comparison, columns);
  text += "\n";
  for (const Estimate& row : comparison.rows) {
    if (!row.runs || row.remark.empty()) continue;
    text += wrapped(label_of(row.schedule), row.remark, columns);
  }
  if (sketch.arrays > 0 && sketch.runs) {
    text += wrapped(label_of("sketch"), sketch_remark(sketch), columns);
  }
  std::string streams;
  for (const Estimate& row : comparison.rows) {
    if (schedule::find_schedule(row.schedule) != nullptr || !row.runs) continue;
    streams += (streams.empty() ? "" : ", ") + std::string(row.schedule);
  }
  if (!streams.empty())
    text += wrapped("", "No run plays these, which are streams: " + streams + ".", columns);
  if (comparison.recommended < 0) return text + wrapped("", reason(comparison), columns);
  const Estimate& best = comparison.rows[at(comparison.recommended)];
  text +=
      "\n" + wrapped("", "Take " + std::string(best.schedule) + ". " + reason(comparison), columns);
  if (comparison.by_auto != nullptr) {
    text +=
        wrapped("", "A run with schedule=auto takes " + std::string(comparison.by_auto->name) + ".",
                columns);
  }
  if (comparison.seconds_uncompressed > 0) {
    const double factor = comparison.seconds_uncompressed / best.seconds_in_all();
    text += wrapped("",
                    "Without compression: " + duration_text(comparison.seconds_uncompressed) +
                        " (" + change_text(factor) + ").",
                    columns);
  }
  if (!question.cores_busy && comparison.seconds_cores_busy > kDiffers * best.seconds_in_all()) {
    text += wrapped(
        "",
        "It rests on a core per rank that is free for transfers. Where every core computes, " +
            std::string(best.schedule) + " takes up to " +
            duration_text(comparison.seconds_cores_busy) + " (--cores-busy).",
        columns);
  }
  return text + resources_text(comparison, columns);
}

}  // namespace anadrome::tool
