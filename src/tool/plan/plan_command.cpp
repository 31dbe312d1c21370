// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/index.h"
#include "base/text_out.h"
#include "base/words.h"
#include "tool/command.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/pictures/sweep_picture.h"
#include "tool/plan/comparison.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

struct PlanOptions {
  WhatIf question;
  std::string schedule, svg;
  bool json = false;
  double target = 0, walltime = 0;  ///< 0: not given
};

double factor(const char* flag, const std::string& text, const std::string& wanted) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (whole && value >= 1 && value <= 1e9) return value;
  throw Error(ANADROME_ERR_ARGUMENT,
              std::string(flag) + ": expected " + wanted + ", not '" + text + "'");
}

void read_undo(const std::string& text, WhatIf& question) {
  bool sensible = false;
  const Failure failure = failure_from([&] {
    const TwoWords words = two_words(text);
    question.undo_ratio = parse_decimal("--undo", words.first).as_double();
    if (words.are_two) question.undo = parse_seconds(words.last);
    sensible = question.undo_ratio >= 1 && words.are_two == (question.undo > 0);
  });
  if (!failure && sensible) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              "--undo: expected a ratio of at least 1, and perhaps a time above 0, e.g. 17 or "
              "17,90ms, not '" +
                  text + "'");
}

void add_options(CLI::App& plan, PlanOptions& asked) {
  constexpr std::int64_t kMostRanks = std::int64_t{1} << 31;
  constexpr double kShortest = 1e-12;
  WhatIf& question = asked.question;
  Options options(plan);
  options.group("The sweep");
  options
      .count("--steps", question.steps, 1, schedule::kMostSteps - 2,
             {"forward steps of the simulation", "100000"})
      ->required();
  options.bytes("--state,--state-size", question.state_bytes, 1, {"a state of one rank", "512MiB"})
      ->required();
  options.seconds("--step-time", question.forward, kShortest, {"time of a forward step", "80ms"})
      ->required();
  question.adjoint = -1;
  options.seconds("--adjoint-time", question.adjoint, 0,
                  {"time of an adjoint step, with the part of the forward step that it runs itself",
                   "160ms", "two forward steps"});
  options.count("--ranks", question.ranks, 1, kMostRanks, {"MPI ranks", "64", "1"});
  options.bytes("--tape-size", question.tape_bytes, 1,
                {"a step's tape on one rank, if the adjoint reads one", "2GiB"});
  options.add(
      "--undo", "RATIO,TIME",
      {"steps can be undone: bytes of a state over those of a residual, and the time to undo a "
       "step (a step's, if it is not given), as a run's summary says",
       "17,90ms", "they cannot"},
      [&question](const std::string& text) { read_undo(text, question); });
  options.digit("--stiff", question.tape_restarts,
                {"1: the tape of a step holds the state after it", "1", "0"});

  options.count("--passes", question.passes, 1, std::int64_t{1} << 31,
                {"passes over the trajectory after the sweep, forward and in reverse in turns, as "
                 "products with a Hessian take them: the option passes",
                 "20", "none"});
  options.seconds(
      "--visit-time", question.visit, kShortest,
      {"time of a step in a pass forward: the tangent-linear step", "100ms", "a forward step"});

  options.group("The machine");
  options.bytes("--memory", question.memory, 0,
                {"limit for all memory of the library on one rank", "8GiB",
                 "unlimited, with --target or --walltime"});
  options.rates(
      "--write-rate", question.write_rate, question.fast.write_rate,
      {"write rate of one rank; FAST,HOME of two directories", "400MB/s", "there is no disk"});
  options.rates("--read-rate", question.read_rate, question.fast.read_rate,
                {"read rate of one rank, likewise", "500MB/s", "as --write-rate"});
  const auto read_disk = [&question](const std::string& text) {
    read_two("--disk", text, [&question](const std::string& one, bool is_fast) {
      question.fast.has_disk = question.fast.has_disk || is_fast;
      std::int64_t& disk = is_fast ? question.fast.disk : question.disk;
      if (one != "unlimited") disk = parse_size("--disk", one);
    });
  };
  options.flag("--cores-busy", question.cores_busy,
               "no core is free for I/O threads: each transfer delays the steps by all of its "
               "time, the worst case");
  options.add(
      "--compress", "RATIO",
      {"states on disk are compressed: bytes before over bytes after; the rates above are those of "
       "states before",
       "2.5", "no compression"},
      [&question](const std::string& text) {
        question.compression.ratio = factor("--compress", text, "a ratio of at least 1, e.g. 2.5");
      });
  options.bytes("--slot", question.slot_bytes, 1,
                {"a state of one rank in single precision, as compress=float32 keeps it in memory "
                 "where not every state fits as it is",
                 "256MiB", "as --state"});
  options.count(
      "--checkpoints", question.checkpoints, 1, std::int64_t{1} << 31,
      {"states in memory that a schedule may use, as the option checkpoints", "8", "all that fit"});
  options.add("--disk", "BYTES", {"disk space, all ranks together", "40TiB", "unlimited"},
              read_disk);

  options.group("The answer");
  options.add(
      "--target", "FACTOR",
      {"find the least memory for a sweep that is at most this many times as long as the ideal",
       "1.2"},
      [&asked](const std::string& text) {
        asked.target = factor("--target", text, "a factor of the ideal, e.g. 1.2");
      });
  options.seconds("--walltime", asked.walltime, kShortest,
                  {"find the least memory for a sweep that ends within this time", "12h"});
  options.text("--schedule", asked.schedule, "NAME",
               {"the schedule to draw", "async", "the recommended one"});
  options.file("--svg", asked.svg,
               {"also draw the sweep: solver, disk, steps and slots against time", "plan.svg"});
  options.flag("--json", asked.json, "for programs; numbers from 2^53 on are strings of digits");
}

// The row to draw: the one that was named, or the recommended one.
const Estimate& chosen_row(const Comparison& comparison, const std::string& name) {
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const Estimate& row = comparison.rows[i];
    const bool chosen =
        name.empty() ? static_cast<int>(i) == comparison.recommended : row.schedule == name;
    if (!chosen) continue;
    if (!row.runs) throw Error(ANADROME_ERR_ARGUMENT, "--svg: " + name + " " + row.remark);
    return row;
  }
  throw Error(ANADROME_ERR_ARGUMENT, "--svg: there is no schedule to draw");
}

void draw(const Comparison& comparison, const PlanOptions& asked) {
  const std::string name =
      asked.schedule.empty() ? "" : schedule_named("--schedule", asked.schedule).name;
  const Estimate& row = chosen_row(comparison, name);
  const Schedule& schedule = schedule_named("--schedule", row.schedule);
  if (schedule.actions == nullptr)
    throw Error(ANADROME_ERR_ARGUMENT, "--svg: " + std::string(schedule.name) +
                                           " keeps no states to draw; name another --schedule");
  put_in_file("--svg", asked.svg, [&](TextOut& out) {
    draw_sweep([&] { return schedule.actions(row.sweep); }, comparison.question, row, out);
  });
}

int answer_target(const WhatIf& question, const PlanOptions& asked) {
  double seconds = asked.walltime;
  if (asked.target > 0) {
    const double within = asked.target * question.ideal_seconds();
    seconds = seconds > 0 ? std::min(seconds, within) : within;
  }
  const Target target = find_target(question, seconds);
  put_out(asked.json ? target_json(target).dump(2) + "\n" : target_text(target));
  return target.possible() ? kFine : kNo;
}

int run(const PlanOptions& asked) {
  if (!asked.schedule.empty()) schedule_named("--schedule", asked.schedule);
  const auto refuse_if = [](bool wrong, const std::string& why) {
    if (wrong) throw Error(ANADROME_ERR_ARGUMENT, why);
  };
  WhatIf question = asked.question;
  if (question.read_rate <= 0) question.read_rate = question.write_rate;
  if (question.fast.read_rate <= 0) question.fast.read_rate = question.fast.write_rate;
  refuse_if(!question.has_fast() && (question.fast.read_rate > 0 || question.fast.has_disk),
            "two directories have two rates: --write-rate FAST,HOME");
  refuse_if(question.has_fast() && question.disk != kNoLimit && !question.fast.has_disk,
            "two directories have two rooms: --disk FAST,HOME, either of which may be unlimited");
  refuse_if(question.write_rate <= 0 && question.read_rate > 0,
            "--write-rate is missing; see anadrome plan --help");
  refuse_if(question.visit > 0 && question.passes == 0,
            "--visit-time is of --passes, which is missing");
  if (question.adjoint < 0) question.adjoint = 2 * question.forward;
  if (asked.target > 0 || asked.walltime > 0) {
    refuse_if(
        question.passes > 0,
        "--passes are those of schedules in a memory: give --memory, and neither --target nor "
        "--walltime");
    return answer_target(question, asked);
  }
  refuse_if(question.passes > 0 && question.steps > kMostStepsOfPasses,
            "--passes are played to be counted: up to " + std::to_string(kMostStepsOfPasses) +
                " --steps");
  refuse_if(question.memory == 0, "--memory is missing; see anadrome plan --help");
  const Comparison comparison = compare(question);
  if (!asked.svg.empty()) draw(comparison, asked);
  put_out(asked.json ? comparison_json(comparison).dump(2) + "\n"
                     : comparison_text(comparison, terminal_columns()));
  return comparison.recommended >= 0 ? kFine : kNo;
}

}  // namespace

Command add_plan(CLI::App& tool) {
  CLI::App* plan =
      tool.add_subcommand("plan", "Estimate time, memory and disk of a sweep, for every schedule.");
  const auto asked = std::make_shared<PlanOptions>();
  add_options(*plan, *asked);
  plan->footer("Schedules: " + schedule_names() +
               "\nExample: anadrome plan --steps 100000 --state 512MiB --memory 8GiB "
               "--step-time 0.8 --adjoint-time 1.6 --write-rate 1GB/s");
  return {plan, [asked] { return run(*asked); }};
}

}  // namespace anadrome::tool
