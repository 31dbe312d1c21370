#include "tool/plan/plan_command.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/text_out.h"
#include "tool/plan/actions_json.h"
#include "tool/plan/comparison_json.h"
#include "tool/plan/comparison_text.h"
#include "tool/plan/plan_flags.h"
#include "tool/plan/schedule_table.h"

namespace anadrome::tool {
namespace {

void put_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(status_of_errno(errno), "standard output: " + errno_text(errno));
  }
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
  std::string text;
  for (const auto& [key, value] : counted.items()) {
    constexpr std::size_t kLabel = 10;
    const std::string number = value.is_string() ? value.get<std::string>() : value.dump();
    text += key + std::string(kLabel - key.size(), ' ') + number + "\n";
  }
  put_out(text);
  return kFine;
}

int run_what_if(const PlanFlags& flags) {
  const Comparison comparison = compare(flags.what_if());
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
            flags->check();
            return flags->abstract ? run_abstract(*flags) : run_what_if(*flags);
          }};
}

}  // namespace anadrome::tool
