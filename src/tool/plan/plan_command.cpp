#include "tool/plan/plan_command.h"

#include <memory>
#include <string>

#include "base/error.h"
#include "base/text_out.h"
#include "tool/output.h"
#include "tool/pictures/sweep_picture.h"
#include "tool/plan/actions_json.h"
#include "tool/plan/comparison_json.h"
#include "tool/plan/comparison_text.h"
#include "tool/plan/plan_flags.h"
#include "tool/plan/question.h"
#include "tool/plan/schedule_table.h"

namespace anadrome::tool {
namespace {

// A line per entry.
std::string lines_of(const nlohmann::ordered_json& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    constexpr std::size_t kLabel = 12;
    const std::string number = value.is_string() ? value.get<std::string>() : value.dump();
    text += key + std::string(key.size() < kLabel ? kLabel - key.size() : 1, ' ') + number + "\n";
  }
  return text;
}

int run_abstract(const PlanFlags& flags) {
  const Problem problem = flags.problem();
  const Schedule& schedule = schedule_named(flags.schedule);
  if (problem.tape_slots > 0 && !schedule.uses_tapes) {
    throw Error(ANADROME_ERR_ARGUMENT,
                std::string("--tape-slots: ") + schedule.name + " keeps no tapes; take mixed");
  }
  if (problem.interval > 0 && std::string(schedule.name) != "async") {
    throw Error(ANADROME_ERR_ARGUMENT, "--interval is for async");
  }
  if (problem.step_costs.empty() != (std::string(schedule.name) != "uneven")) {
    throw Error(ANADROME_ERR_ARGUMENT, "--costs and --schedule uneven go together");
  }
  if (flags.actions) {
    TextOut out(put_out);
    write_actions(schedule.actions(problem), out);
    return kFine;
  }
  const auto counted = counts_json(schedule.name, problem, schedule.count(problem));
  if (flags.json) {
    put_out(counted.dump() + "\n");
    return kFine;
  }
  put_out(lines_of(counted));
  return kFine;
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

void draw(const Comparison& comparison, const PlanFlags& flags) {
  const Estimate& row = chosen_row(comparison, flags.schedule);
  const Schedule& schedule = schedule_named(row.schedule);
  put_in_file("--svg", flags.svg, [&](TextOut& out) {
    draw_sweep([&] { return schedule.actions(row.sweep); }, comparison.question, row, out);
  });
}

int run_question(const Question& question, const PlanFlags& flags) {
  check(question, flags);
  const Answer answer = question.answer(flags);
  if (flags.given("--svg") && answer.possible) {
    if (!answer.draw) throw Error(ANADROME_ERR_ARGUMENT, "--svg: there is nothing to draw");
    put_in_file("--svg", flags.svg, answer.draw);
  }
  if (flags.actions && answer.possible) {
    if (!answer.write_actions) {
      throw Error(ANADROME_ERR_ARGUMENT, "--actions: there is nothing to print");
    }
    TextOut out(put_out);
    answer.write_actions(out);
  } else {
    put_out(flags.json ? answer.json.dump() + "\n" : lines_of(answer.json));
  }
  return answer.possible ? kFine : kNo;
}

int run_what_if(const PlanFlags& flags) {
  if (!flags.schedule.empty()) schedule_named(flags.schedule);
  const Comparison comparison = compare(flags.what_if());
  if (!flags.svg.empty()) draw(comparison, flags);
  put_out(flags.json ? comparison_json(comparison).dump(2) + "\n"
                     : comparison_text(comparison, terminal_columns()));
  return comparison.recommended >= 0 ? kFine : kNo;
}

}  // namespace

Command add_plan(CLI::App& tool) {
  CLI::App* plan = tool.add_subcommand(
      "plan", "What a sweep would take: time, memory and disk of every schedule.");
  const auto flags = std::make_shared<PlanFlags>();
  flags->add_to(*plan);
  return {plan, [flags] {
            if (const Question* question = question_asked(*flags)) {
              return run_question(*question, *flags);
            }
            flags->check();
            return flags->abstract ? run_abstract(*flags) : run_what_if(*flags);
          }};
}

}  // namespace anadrome::tool
