// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text_out.h"
#include "tool/command.h"
#include "tool/exact_json.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/schedules/action_sources.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

struct CountOptions {
  std::string schedule, costs;
  Problem problem;
  bool actions = false, json = false;
};

void add_options(CLI::App& count, CountOptions& asked) {
  constexpr std::int64_t kMost = schedule::kMostSteps;
  Problem& problem = asked.problem;
  problem.disk_slots = kNoLimit;
  Options options(count);
  options.text("SCHEDULE", asked.schedule, "NAME", {"its name", "revolve"})->required();
  options.group("The problem");
  options.count("--steps", problem.steps, 1, kMost, {"forward steps", "1000"})->required();
  options
      .count("--slots", problem.slots, 1, kMost,
             {"states that fit in RAM, x_0 among them; bytes if --costs has sizes", "10"})
      ->required();
  options.count("--disk-slots", problem.disk_slots, 0, kMost,
                {"states that fit on disk", "100", "unlimited"});
  options.count("--interval", problem.interval, 1, kMost,
                {"async: steps between anchors", "12", "the best one"});
  options.count("--tape-slots", problem.tape_slots, 1, kMost,
                {"mixed: slots that a tape occupies", "2", "1"});
  options.digit("--stiff", problem.tape_restarts,
                {"mixed: 1: the tape of a step holds the state after it", "1", "0"});
  options.group("Costs, in any unit, with at most nine digits after the point");
  options.decimal("--uf", problem.prices.advance, {"a forward step", "2.5", "1"});
  options.decimal("--ub", problem.prices.adjoint,
                  {"an adjoint step, with what it runs of its forward step", "5", "0"});
  options.decimal("--write", problem.prices.write, {"a write of a state", "20", "0"});
  options.decimal("--read", problem.prices.read, {"a read of a state", "20", "0"});
  options.file("--costs", asked.costs,
               {"uneven: a line per step, what it costs and, for all or none, the bytes of the "
                "state before it",
                "costs.txt"});
  options.group("The answer");
  options.flag("--actions", asked.actions, "print the actions, one JSON object a line");
  options.flag("--json", asked.json, "for programs; numbers from 2^53 on are strings of digits");
}

constexpr std::int64_t kMostLines = std::int64_t{1} << 24;

void read_line(const std::string& where, const std::string& line, Problem& problem) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string cost, bytes, more;
  if (!(words >> cost)) return;
  problem.step_costs.push_back(parse_decimal(where, cost));
  if (words >> bytes) {
    problem.state_bytes.push_back(parse_count(where, bytes, 1, schedule::kMostSteps));
  }
  if (words >> more) {
    throw Error(ANADROME_ERR_ARGUMENT, where + ": '" + more + "' is one word too many");
  }
  if (!problem.state_bytes.empty() && problem.state_bytes.size() != problem.step_costs.size()) {
    throw Error(ANADROME_ERR_ARGUMENT, where + ": expected bytes in every line or in none");
  }
}

// The file of --costs: a line "cost" or "cost bytes" for each step; '#' begins a remark.
void read_step_costs(const std::string& file, Problem& problem) {
  std::istringstream in(text_of_file("--costs", file));
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    const std::string where = "--costs " + file + ", line " + std::to_string(number);
    if (number > kMostLines) throw Error(ANADROME_ERR_ARGUMENT, where + ": too many lines");
    read_line(where, line, problem);
  }
  if (std::ssize(problem.step_costs) != problem.steps) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "--costs " + file + ": " + std::to_string(problem.step_costs.size()) +
                    " lines for " + std::to_string(problem.steps) + " steps");
  }
}

nlohmann::ordered_json counts_json(const char* schedule, const Problem& problem,
                                   const Counts& counts) {
  nlohmann::ordered_json json = {{"schedule", schedule},
                                 {"steps", exact_json(problem.steps)},
                                 {"slots", exact_json(problem.slots)},
                                 {"advances", exact_json(counts.advances + counts.recorded)},
                                 {"writes", exact_json(counts.writes)},
                                 {"reads", exact_json(counts.reads)}};
  if (counts.overlapped) {
    constexpr double kWhole = 9007199254740992;  // 2^53
    if (counts.makespan < kWhole && counts.makespan == std::floor(counts.makespan)) {
      json["cost"] = static_cast<std::int64_t>(counts.makespan);
    } else {
      json["cost"] = counts.makespan;
    }
    return json;
  }
  constexpr std::size_t kDigitsOfDoubles = 15;
  json["cost"] = decimal_json(cost_of(problem, counts), problem.digits(), kDigitsOfDoubles);
  return json;
}

void check(const Schedule& schedule, const CountOptions& asked) {
  const std::string_view name = schedule.name;
  const auto refuse = [](const std::string& why) { throw Error(ANADROME_ERR_ARGUMENT, why); };
  if (name == "undo") refuse("undo keeps no states to be counted: anadrome plan --undo prices it");
  if (schedule.count == nullptr) {
    refuse(std::string(name) + " is a question of its own: use anadrome solve " +
           std::string(name));
  }
  if (asked.problem.tape_slots > 0 && !schedule.uses_tapes) {
    refuse("--tape-slots: " + std::string(name) + " keeps no tapes; take mixed");
  }
  if (asked.problem.interval > 0 && name != "async") refuse("--interval is for async");
  if (asked.costs.empty() == (name == "uneven")) refuse("--costs and uneven go together");
}

int run(const CountOptions& asked) {
  const Schedule& schedule = schedule_named("SCHEDULE", asked.schedule);
  check(schedule, asked);
  Problem problem = asked.problem;
  if (!asked.costs.empty()) read_step_costs(asked.costs, problem);
  if (asked.actions) {
    TextOut out(put_out);
    write_actions(schedule.actions(problem), out);
    return kFine;
  }
  const auto counted = counts_json(schedule.name, problem, schedule.count(problem));
  put_out(asked.json ? counted.dump() + "\n" : lines_of(counted));
  return kFine;
}

}  // namespace

Command add_count(CLI::App& tool) {
  CLI::App* count = tool.add_subcommand(
      "count", "Count the steps, transfers and cost of one schedule exactly, or list its actions.");
  const auto asked = std::make_shared<CountOptions>();
  add_options(*count, *asked);
  count->footer("Schedules: " + schedule_names(true) +
                "\nExample: anadrome count revolve --steps 1000 --slots 10");
  return {count, [asked] { return run(*asked); }};
}

}  // namespace anadrome::tool
