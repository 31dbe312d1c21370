#include "tool/plan/plan_flags.h"

#include <array>

#include "base/byte_size.h"
#include "base/error.h"
#include "tool/plan/question.h"
#include "tool/plan/schedule_table.h"
#include "tool/plan/step_costs.h"

namespace anadrome::tool {
namespace {

constexpr std::array kWhatIfFlags = {"--state", "--memory",    "--step-time",  "--ranks",
                                     "--disk",  "--read-rate", "--write-rate", "--svg"};
constexpr std::array kAbstractFlags = {"--slots",   "--disk-slots", "--interval", "--uf",
                                       "--ub",      "--write",      "--read",     "--tape-slots",
                                       "--actions", "--costs"};

template <class Parse>
auto value_of(const char* flag, const std::string& text, const Parse& parse) {
  try {
    return parse(text);
  } catch (const Error& error) {
    throw Error(error.status(), std::string(flag) + " " + error.what());
  }
}

std::int64_t bytes_of(const char* flag, const std::string& text) {
  const std::int64_t bytes =
      value_of(flag, text, [](const std::string& size) { return parse_bytes(size); });
  if (bytes > schedule::kMostSteps) {
    throw Error(ANADROME_ERR_ARGUMENT, std::string(flag) + " '" + text + "' is too large");
  }
  return bytes;
}

bool flag_01(const char* flag, const std::string& text) {
  return parse_count(flag, text, 0, 1) == 1;
}

constexpr double kShortest = 1e-12;

}  // namespace

void PlanFlags::add_to(CLI::App& plan) {
  app = &plan;
  plan.add_option("--steps", steps, "forward steps of the simulation");
  plan.add_option("--schedule", schedule,
                  "with --svg the schedule to draw (default: the recommended one); with "
                  "--abstract the one to count: " +
                      schedule_names() + ", and of the questions below " + question_names());
  plan.add_flag("--json", json, "for programs; numbers from 2^53 on are strings of digits");
  plan.add_option("--stiff", stiff, "1: the tape of a step holds the state after it (0)");
  plan.add_option("--adjoint-time", adjoint_time,
                  "seconds of an adjoint step, with what it runs itself of its forward step");

  const char* what_if = "What if";
  const auto add = [&plan](const char* group, const char* flag, std::string& text,
                           const char* help) { plan.add_option(flag, text, help)->group(group); };
  add(what_if, "--state,--state-size", state, "bytes of a state per rank: 512MiB");
  add(what_if, "--memory", memory, "bytes per rank for all that the library holds: 8GiB");
  add(what_if, "--step-time", step_time, "seconds of a forward step");
  add(what_if, "--ranks", ranks, "MPI ranks (1)");
  add(what_if, "--write-rate", write_rate, "bytes per second and rank: 1GB/s; without it no disk");
  add(what_if, "--read-rate", read_rate, "bytes per second and rank (as --write-rate)");
  add(what_if, "--disk", disk, "bytes on disk, all ranks together (unlimited)");
  add(what_if, "--tape-size", tape_size,
      "bytes per rank of a step's tape, if the adjoint reads one; in the abstract as --tape-slots");
  add(what_if, "--svg", svg, "draw the schedule: step against time, slots below");

  const char* in_abstract = "In the abstract";
  plan.add_flag("--abstract", abstract, "count advances, writes and reads of one schedule")
      ->group(in_abstract);
  plan.add_flag("--actions", actions, "print the actions, a JSON object a line")
      ->group(in_abstract);
  add(in_abstract, "--slots", slots, "states that fit in RAM, x_0 among them");
  add(in_abstract, "--disk-slots", disk_slots, "states that fit on disk (unlimited)");
  add(in_abstract, "--interval", interval, "async: steps between anchors");
  add(in_abstract, "--uf", uf, "cost of an advance (1)");
  add(in_abstract, "--ub", ub, "cost of an adjoint step (0)");
  add(in_abstract, "--write", write, "cost of a write (0)");
  add(in_abstract, "--read", read, "cost of a read (0)");
  add(in_abstract, "--tape-slots", tape_slots, "mixed: slots that a tape takes (1)");
  add(in_abstract, "--costs", costs,
      "uneven: file of a line per step, what it costs and, for all or none, the bytes of the state "
      "before it; with bytes --slots are bytes. Of --fast-memory and --memory: see docs/plan.md");
  own.add_to(plan);
}

void PlanFlags::need(const char* flag) const {
  if (!given(flag)) {
    throw Error(ANADROME_ERR_ARGUMENT, std::string(flag) + " is missing; see anadrome plan --help");
  }
}

void PlanFlags::check() const {
  for (const char* flag : kWhatIfFlags) {
    if (abstract && given(flag)) {
      throw Error(ANADROME_ERR_ARGUMENT, std::string(flag) + " does not go with --abstract");
    }
  }
  for (const char* flag : kAbstractFlags) {
    if (!abstract && given(flag)) {
      throw Error(ANADROME_ERR_ARGUMENT, std::string(flag) + " goes with --abstract only");
    }
  }
  need("--steps");
}

WhatIf PlanFlags::what_if() const {
  for (const char* flag : {"--state", "--memory", "--step-time", "--adjoint-time"}) need(flag);
  const auto rate = [](const std::string& text) { return parse_rate(text); };
  WhatIf question;
  question.steps = parse_count("--steps", steps, 1, schedule::kMostSteps - 2);
  question.ranks = parse_count("--ranks", ranks, 1, std::int64_t{1} << 31);
  question.state_bytes = bytes_of("--state", state);
  if (question.state_bytes < 1) throw Error(ANADROME_ERR_ARGUMENT, "--state: a state has no bytes");
  question.memory = bytes_of("--memory", memory);
  question.forward = parse_number("--step-time", step_time, kShortest);
  question.adjoint = parse_number("--adjoint-time", adjoint_time, 0);
  if (given("--write-rate")) {
    question.write_rate = static_cast<double>(value_of("--write-rate", write_rate, rate));
    question.read_rate = question.write_rate;
  }
  if (given("--read-rate")) {
    need("--write-rate");
    question.read_rate = static_cast<double>(value_of("--read-rate", read_rate, rate));
  }
  if (disk != "unlimited") question.disk = bytes_of("--disk", disk);
  if (given("--tape-size")) {
    question.tape_bytes = bytes_of("--tape-size", tape_size);
    if (question.tape_bytes < 1) {
      throw Error(ANADROME_ERR_ARGUMENT, "--tape-size: a tape has no bytes");
    }
  }
  question.tape_restarts = flag_01("--stiff", stiff);
  return question;
}

Problem PlanFlags::problem() const {
  constexpr std::int64_t kMost = schedule::kMostSteps;
  need("--schedule");
  need("--slots");
  Problem problem;
  problem.steps = parse_count("--steps", steps, 1, kMost);
  problem.slots = parse_count("--slots", slots, 1, kMost);
  problem.disk_slots = kNoLimit;
  if (given("--disk-slots")) problem.disk_slots = parse_count("--disk-slots", disk_slots, 0, kMost);
  if (given("--interval")) problem.interval = parse_count("--interval", interval, 1, kMost);
  if (given("--tape-slots")) problem.tape_slots = parse_count("--tape-slots", tape_slots, 1, kMost);
  if (given("--tape-size")) {
    if (given("--tape-slots")) {
      throw Error(ANADROME_ERR_ARGUMENT, "--tape-size and --tape-slots are the same here");
    }
    problem.tape_slots = parse_count("--tape-size", tape_size, 1, kMost);
  }
  problem.tape_restarts = flag_01("--stiff", stiff);
  problem.prices = {parse_decimal("--uf", uf), parse_decimal("--ub", ub),
                    parse_decimal("--write", write), parse_decimal("--read", read)};
  if (given("--adjoint-time")) {
    problem.prices.adjoint = parse_decimal("--adjoint-time", adjoint_time);
  }
  if (given("--costs")) read_step_costs(costs, problem);
  return problem;
}

}  // namespace anadrome::tool
