// SPDX-License-Identifier: BSD-2-Clause
// The questions about chains of uneven steps: offload and uneven_tapes.
#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <sstream>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "planners/offload/offload_planner.h"
#include "planners/questions/uneven_tapes.h"
#include "tool/exact_json.h"
#include "tool/pictures/sweep_picture.h"
#include "tool/solve/questions.h"

namespace anadrome::tool {
namespace {

// ---- costs ----

// The costs of an uneven chain's steps, and the sizes of its states and tapes.
struct ChainCosts {
  std::vector<Decimal> forward, adjoint, transfer;
  std::vector<std::int64_t> units, tape_units;  ///< of states, and of tapes if there are any
};

Decimal decimal_of(const nlohmann::json& number) {
  if (!number.is_number()) throw Error(ANADROME_ERR_ARGUMENT, "--costs: expected a number");
  if (!number.is_number_float()) return parse_decimal("--costs", number.dump());
  std::array<char, 400> text;  // the longest is that of the smallest number
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number.get<double>(),
                                 std::chars_format::fixed);
  return parse_decimal("--costs", std::string(text.data(), end.ptr));
}

std::vector<Decimal> decimals_of(const nlohmann::json& json, const char* key) {
  if (!json.contains(key) || !json[key].is_array()) {
    throw Error(ANADROME_ERR_ARGUMENT, std::string("--costs: there is no array \"") + key + "\"");
  }
  std::vector<Decimal> values;
  for (const auto& number : json[key]) values.push_back(decimal_of(number));
  return values;
}

std::vector<std::int64_t> counts_of(const nlohmann::json& json, const char* key) {
  std::vector<std::int64_t> counts;
  for (const Decimal& size : decimals_of(json, key)) {
    if (size.digits > 0) {
      throw Error(ANADROME_ERR_ARGUMENT, std::string("--costs: \"") + key + "\" are whole numbers");
    }
    counts.push_back(size.value);
  }
  return counts;
}

ChainCosts costs_of_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error(ANADROME_ERR_ARGUMENT, "--costs: not a JSON object");
  ChainCosts costs;
  costs.forward = decimals_of(json, "f");
  costs.adjoint = decimals_of(json, "b");
  costs.units = counts_of(json, "a");
  if (json.contains("tape")) costs.tape_units = counts_of(json, "tape");
  if (json.contains("transfer")) costs.transfer = decimals_of(json, "transfer");
  return costs;
}

// A line per step: f b a, or f b a tape.
ChainCosts costs_of_lines(const std::string& text) {
  ChainCosts costs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string f, b, a, tape, more;
    if (!(words >> f)) continue;
    if (!(words >> b >> a) || (words >> tape && words >> more)) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "--costs: a line has f, b, a and maybe a tape, not '" + line + "'");
    }
    if (tape.empty() != costs.tape_units.empty() && !costs.units.empty()) {
      throw Error(ANADROME_ERR_ARGUMENT, "--costs: expected tapes in every line or in none");
    }
    if (!tape.empty()) {
      costs.tape_units.push_back(parse_count("--costs", tape, 0, schedule::kMostSteps));
    }
    costs.forward.push_back(parse_decimal("--costs", f));
    costs.adjoint.push_back(parse_decimal("--costs", b));
    costs.units.push_back(parse_count("--costs", a, 0, schedule::kMostSteps));
  }
  return costs;
}

ChainCosts chain_costs(const std::string& file) {
  const std::string text = text_of_file("--costs", file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  return json ? costs_of_json(text) : costs_of_lines(text);
}

int digits_of(const ChainCosts& costs) {
  int digits = 0;
  for (const auto* values : {&costs.forward, &costs.adjoint, &costs.transfer}) {
    for (const Decimal& value : *values) digits = std::max(digits, value.digits);
  }
  return digits;
}

std::vector<std::int64_t> ticks_of(const std::vector<Decimal>& times, int digits) {
  std::vector<std::int64_t> ticks;
  for (const Decimal& time : times) ticks.push_back(time.ticks(digits));
  return ticks;
}

// ---- offload ----

using schedule::Fate;
using schedule::OffloadChain;
using schedule::OffloadPlan;

struct Scaled {
  OffloadChain chain;
  int digits = 0;  ///< of a tick after the point
};

Scaled scaled(ChainCosts costs, const std::string& bandwidth) {
  constexpr int kDigitsOfTransfers = 6;
  Scaled result;
  result.digits = digits_of(costs);
  const bool by_bandwidth = !bandwidth.empty();
  if (by_bandwidth == !costs.transfer.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, by_bandwidth
                                           ? "--bandwidth: --costs has transfers already"
                                           : "--bandwidth is missing, or transfers in --costs");
  }
  OffloadChain& chain = result.chain;
  chain.state_units = costs.units;
  if (by_bandwidth) {
    result.digits = std::max(result.digits, kDigitsOfTransfers);
    const Decimal rate = parse_decimal("--bandwidth", bandwidth);
    if (rate.value < 1) throw Error(ANADROME_ERR_ARGUMENT, "--bandwidth must be above 0");
    for (const std::int64_t units : costs.units) {
      const std::int64_t ticks = Decimal{units, 0}.ticks(result.digits + rate.digits);
      chain.write.push_back(ceil_divide(ticks, rate.value));
    }
  } else {
    chain.write = ticks_of(costs.transfer, result.digits);
  }
  chain.read = chain.write;
  if (costs.forward.size() == costs.adjoint.size() && !costs.forward.empty()) {
    costs.forward.pop_back();  // the last step is run by its adjoint only
  }
  chain.forward = ticks_of(costs.forward, result.digits);
  chain.adjoint = ticks_of(costs.adjoint, result.digits);
  return result;
}

void put_spans(const OffloadPlan& plan, int digits, TextOut& out) {
  std::vector<schedule::Span<std::int64_t>> spans = plan.run.spans;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const auto& span : spans) {
    const Doing doing = span.doing == Doing::kRecompute ? Doing::kAdvance : span.doing;
    out.put("{\"action\": \"").put(engine::to_string(activity_of(doing)));
    out.put("\", \"step\": ").integer(span.step());
    out.put(", \"start\": ").put(decimal_text(wide(span.start), digits));
    out.put(", \"end\": ").put(decimal_text(wide(span.end), digits)).put("}\n");
  }
  out.flush();
}

SpanPicture picture_of(const OffloadPlan& plan, double tick) {
  SpanPicture picture;
  picture.seconds = real(plan.run.makespan) * tick;
  picture.last_step = std::ssize(plan.fates);
  picture.disk = true;
  for (const auto& span : plan.run.spans) {
    picture.spans.push_back(
        {span.doing, real(span.start) * tick, real(span.end) * tick, span.first, span.last});
  }
  return picture;
}

struct OffloadAsked {
  std::string costs, bandwidth, duplex = "half", allow = "offload,recompute";
  std::int64_t fast_memory = 0;
};

Answer answer(const OffloadAsked& asked) {
  const ChainCosts costs = chain_costs(asked.costs);
  if (!costs.tape_units.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "--costs: tapes are a question of solve uneven_tapes");
  }
  Scaled problem = scaled(costs, asked.bandwidth);
  problem.chain.fast_memory = asked.fast_memory;
  problem.chain.full_duplex = asked.duplex == "full";
  const OffloadPlan plan =
      schedule::plan_offload(problem.chain, {asked.allow != "recompute", asked.allow != "offload"});
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "offload";
  json["steps"] = problem.chain.steps();
  json["fast_memory"] = problem.chain.fast_memory;
  answer.possible = plan.run.makespan >= 0;
  std::int64_t forwards = 0, writes = 0, reads = 0;
  for (const auto& span : plan.run.spans) {
    writes += span.doing == Doing::kWrite ? 1 : 0;
    reads += span.doing == Doing::kRead ? 1 : 0;
    forwards += span.doing <= Doing::kRecompute ? 1 : 0;
  }
  std::string fates;
  for (const Fate fate : plan.fates) fates += "KOD"[static_cast<std::size_t>(fate)];
  json["advances"] = forwards;
  json["writes"] = writes;
  json["reads"] = reads;
  json["cost"] = answer.possible ? decimal_json(wide(plan.run.makespan), problem.digits)
                                 : nlohmann::ordered_json(nullptr);
  json["lower_bound"] = decimal_json(wide(plan.lower_bound), problem.digits);
  json["fates"] = fates;
  if (!answer.possible) return answer;
  answer.write_actions = [plan, problem](TextOut& out) { put_spans(plan, problem.digits, out); };
  answer.draw = [plan, problem](TextOut& out) {
    SpanPicture picture = picture_of(plan, Decimal{1, problem.digits}.as_double());
    picture.title = "offload: " + std::to_string(problem.chain.steps()) + " uneven steps";
    picture.remark =
        "keep, offload or recompute: " + decimal_text(wide(plan.run.makespan), problem.digits) +
        " s; with no limit on memory " + decimal_text(wide(plan.lower_bound), problem.digits) +
        " s";
    draw_spans(picture, out);
  };
  return answer;
}

Ask add_offload_options(Options& options) {
  const auto asked = std::make_shared<OffloadAsked>();
  options
      .file("--costs", asked->costs,
            {"{\"f\": [], \"b\": [], \"a\": [], \"transfer\": []}, or lines f b a", "costs.json"})
      ->required();
  options
      .count("--fast-memory", asked->fast_memory, 0, schedule::kMostSteps,
             {"limit for all states together, in the unit of a", "1200"})
      ->required();
  options.text("--bandwidth", asked->bandwidth, "a/TIME",
               {"a per time, where --costs has no transfers", "6"});
  options.word("--duplex", asked->duplex, {"half", "full"},
               {"half: a write or a read at a time", "full", "half"});
  options.word("--allow", asked->allow,
               {"offload,recompute", "recompute,offload", "offload", "recompute"},
               {"permitted treatment of a state that is not kept", "offload", "both"});
  return [asked] { return answer(*asked); };
}

// ---- uneven_tapes ----

using questions::TapesAction;
using questions::TapesKind;
using questions::UnevenTapes;
using questions::UnevenTapesPlan;

void put_actions(const UnevenTapesPlan& plan, TextOut& out) {
  for (const TapesAction& action : plan.actions) {
    constexpr std::array kWords = {"advance", "keep", "restore", "keep_tape", "record", "adjoint"};
    out.put("{\"action\": \"").put(kWords[static_cast<std::size_t>(action.kind)]);
    out.put("\", \"step\": ").integer(action.first);
    if (action.kind == TapesKind::kAdvance) out.put(", \"last\": ").integer(action.last);
    out.put("}\n");
  }
  out.flush();
}

SpanPicture picture_of(const UnevenTapesPlan& plan, const UnevenTapes& chain, double tick) {
  SpanPicture picture;
  picture.last_step = chain.steps();
  std::int64_t run_before = 0;
  double now = 0;
  const auto add = [&](Doing doing, std::int64_t ticks, std::int64_t from, std::int64_t to) {
    const double end = now + real(ticks) * tick;
    picture.spans.push_back({doing, now, end, from, to});
    now = end;
  };
  for (const TapesAction& action : plan.actions) {
    if (action.kind == TapesKind::kKeep || action.kind == TapesKind::kRestore) continue;
    if (action.kind == TapesKind::kAdjoint) {
      add(Doing::kAdjoint, chain.adjoint[at(action.first)], action.first + 1, action.first);
      continue;
    }
    for (std::int64_t step = action.first; step < action.last; ++step) {
      add(step < run_before ? Doing::kRecompute : Doing::kAdvance, chain.forward[at(step)], step,
          step + 1);
      run_before = std::max(run_before, step + 1);
    }
  }
  picture.seconds = now;
  picture.title = "uneven tapes: " + std::to_string(chain.steps()) + " steps";
  picture.remark = "states and tapes of uneven size in one memory";
  return picture;
}

struct UnevenTapesAsked {
  std::string costs;
  std::int64_t memory = 0;
};

Answer answer(const UnevenTapesAsked& asked) {
  const ChainCosts costs = chain_costs(asked.costs);
  if (!costs.transfer.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "--costs: transfers are a question of solve offload");
  }
  if (costs.tape_units.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "--costs: expected lines f b a tape, or \"tape\": []");
  }
  const int digits = digits_of(costs);
  UnevenTapes chain;
  chain.forward = ticks_of(costs.forward, digits);
  chain.adjoint = ticks_of(costs.adjoint, digits);
  chain.state_units = costs.units;
  chain.tape_units = costs.tape_units;
  chain.units = asked.memory;
  const auto plan = questions::plan_uneven_tapes(chain);
  Answer answer;
  answer.possible = plan.has_value();
  std::int64_t forwards = 0, tapes = 0;
  if (plan) {
    for (const TapesAction& action : plan->actions) {
      const bool runs = action.kind == TapesKind::kAdvance || action.kind == TapesKind::kTape ||
                        action.kind == TapesKind::kRecord;
      forwards += runs ? action.last - action.first : 0;
      tapes += action.kind == TapesKind::kTape ? 1 : 0;
    }
  }
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "uneven_tapes";
  json["steps"] = chain.steps();
  json["memory"] = chain.units;
  json["advances"] = forwards;
  json["tapes"] = tapes;
  json["cost"] = plan ? decimal_json(wide(plan->time), digits) : nlohmann::ordered_json(nullptr);
  if (!plan) return answer;
  answer.write_actions = [plan](TextOut& out) { put_actions(*plan, out); };
  answer.draw = [plan, chain, digits](TextOut& out) {
    draw_spans(picture_of(*plan, chain, Decimal{1, digits}.as_double()), out);
  };
  return answer;
}

Ask add_uneven_tapes_options(Options& options) {
  const auto asked = std::make_shared<UnevenTapesAsked>();
  options
      .file("--costs", asked->costs,
            {"{\"f\": [], \"b\": [], \"a\": [], \"tape\": []}, or lines f b a tape", "chain.txt"})
      ->required();
  options
      .bytes("--memory", asked->memory, 0,
             {"for states and tapes, in the unit of their sizes", "60"})
      ->required();
  return [asked] { return answer(*asked); };
}

}  // namespace

Question offload_question() {
  return {"offload", "Keep, offload or recompute each state of uneven steps: the least time.",
          "--costs costs.json --fast-memory 1200 --bandwidth 6", add_offload_options};
}

Question uneven_tapes_question() {
  return {"uneven_tapes", "States and tapes of uneven size in one memory: the least time.",
          "--costs chain.txt --memory 60", add_uneven_tapes_options};
}

}  // namespace anadrome::tool
