// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/run_text.h"

#include <algorithm>
#include <cstdint>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/index.h"
#include "base/plain_text.h"

namespace anadrome::tool {
namespace {

std::string word(const std::optional<std::string>& text) { return text ? plain(*text) : "?"; }
std::string word(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "?";
}

const char* explain(Condition condition) {
  switch (condition) {
    case Condition::kLive:
      return "a process is at work on it";
    case Condition::kDead:
      return "its process ended before the run did";
    case Condition::kStopped:
      return "it was closed after a commit, before its end";
    case Condition::kKept:
      break;
  }
  return "it ended, and kept its files";
}

std::string no_way_on(const RunReport& run) {
  return "  cannot be resumed (resume was off, or nothing was committed): `anadrome clean " +
         plain(run.path) + "` removes it\n";
}

std::string describe_reading(const RunReport& run) {
  std::string text = "  read     " + std::to_string(run.blocks_checked) + " blocks";
  if (run.adjoints_checked > 0) {
    text += ", adjoint fields of " + std::to_string(run.adjoints_checked) +
            (run.adjoints_checked == 1 ? " rank" : " ranks");
  }
  if (run.blocks_unchecked > 0) {
    text += ", " + std::to_string(run.blocks_unchecked) + " more have no checksum";
  }
  if (run.blocks_elsewhere > 0) {
    text += "; " + std::to_string(run.blocks_elsewhere) + " more are in the run's fast directory";
  }
  return text + "\n";
}

}  // namespace

std::string describe_run(const RunReport& run, bool verified) {
  const bool live = run.condition == Condition::kLive;
  std::string text =
      plain(run.path) + ": " + name_of(run.condition) + " (" + explain(run.condition) + ")\n";
  text += "  run      " + word(run.run_id) + ", sweep " + word(run.sweep) + ", " + word(run.ranks) +
          " ranks, layout " + word(run.layout) + "\n";
  if (run.holder) text += "  holder   " + plain(run.holder->text) + "\n";
  if (live) {
    text += "  phase    " +
            (run.phase ? "rank 0 is " + *run.phase
                       : "not known: runs with the option watchdog leave it here") +
            "\n";
  }
  text += "  on disk  " + std::to_string(run.files.size()) + " files, ";
  if (run.allocated < run.bytes) text += format_bytes(run.allocated) + ", with their holes ";
  text += format_bytes(run.bytes) + "\n";
  if (run.anchors) {
    text += "  states   " + word(run.anchors) + " of " + word(run.steps) + " steps";
    if (run.newest_step) {
      text += ", x_" + word(run.first_step) + " to x_" + word(run.newest_step);
    }
    text += "\n";
  }
  if (run.resume) {
    const bool forward = run.resume->phase == store::JournalCommit::Phase::kForward;
    text += "  resume   " +
            std::string(forward ? "forward sweep, from step "
                                : "reverse sweep, to be adjoined up to step ") +
            std::to_string(run.resume->position) + " (generation " +
            std::to_string(run.resume->generation) + ")\n";
  }
  if (run.petsc_ranks > 0) {
    text +=
        "  petsc    TSAdjointSolve goes on from commits of " + counted(run.petsc_ranks, "rank") +
        " beside this directory, the newest written " +
        format_seconds(real(std::max<std::int64_t>(calendar_seconds() - run.petsc_changed, 0))) +
        " ago\n";
  }
  if (run.ranks_elsewhere > 0) {
    text += "  resume   depends on the journals of " + std::to_string(run.ranks_elsewhere) +
            (run.ranks_elsewhere == 1 ? " more rank" : " more ranks") + ", on other nodes\n";
  }
  if (verified) {
    text +=
        live ? "  the states of a live run were not read: they change\n" : describe_reading(run);
  }
  for (const std::string& problem : run.problems) text += "  problem  " + plain(problem) + "\n";
  for (const FileReport& file : run.files) {
    for (const std::string& problem : file.problems) {
      text += "  problem  " + plain(file.name) + ": " + plain(problem) + "\n";
    }
    for (const std::string& note : file.notes) {
      text += "  note     " + plain(file.name) + ": " + plain(note) + "\n";
    }
  }
  const bool ends_here =
      run.condition == Condition::kDead && !run.resume && run.ranks_elsewhere == 0;
  if (ends_here) text += no_way_on(run);
  if (!live && !run.healthy) text += "  not healthy\n";
  if (!live && run.healthy && !ends_here) text += "  healthy\n";
  return text;
}

}  // namespace anadrome::tool
