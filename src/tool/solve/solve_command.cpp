// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "tool/command.h"
#include "tool/exact_json.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/pictures/sweep_picture.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {

std::vector<std::int64_t> counts_in(const char* option, const std::string& text,
                                    std::int64_t least) {
  std::vector<std::int64_t> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      counts.push_back(parse_count(option, word, least, schedule::kMostSteps));
    }
  }
  return counts;
}

namespace {

struct Wanted {
  std::string svg;
  bool actions = false, json = false;
};

struct Asked {
  CLI::App* question = nullptr;
  Ask ask;
  Wanted wanted;
};

int run(const Asked& asked) {
  const Answer answer = asked.ask();
  const Wanted& wanted = asked.wanted;
  if (!wanted.svg.empty() && answer.possible) {
    if (!answer.draw) throw Error(ANADROME_ERR_ARGUMENT, "--svg: there is nothing to draw");
    put_in_file("--svg", wanted.svg, answer.draw);
  }
  if (wanted.actions && answer.possible) {
    if (!answer.write_actions) {
      throw Error(ANADROME_ERR_ARGUMENT, "--actions: there is nothing to print");
    }
    TextOut out(put_out);
    answer.write_actions(out);
  } else {
    put_out(wanted.json ? answer.json.dump() + "\n" : lines_of(answer.json));
  }
  return answer.possible ? kFine : kNo;
}

std::unique_ptr<Asked> add(CLI::App& solve, const Question& question) {
  auto asked = std::make_unique<Asked>();
  asked->question = solve.add_subcommand(question.name, question.meaning);
  asked->question->footer(std::string("Example: anadrome solve ") + question.name + " " +
                          question.example);
  Options options(*asked->question);
  options.group("The question");
  asked->ask = question.add(options);
  options.group("The answer");
  options.file("--svg", asked->wanted.svg, {"also draw it", "answer.svg"});
  options.flag("--actions", asked->wanted.actions, "print the actions, one JSON object a line");
  options.flag("--json", asked->wanted.json, "for programs");
  return asked;
}

}  // namespace

Command add_solve(CLI::App& tool) {
  CLI::App* solve = tool.add_subcommand(
      "solve",
      "Ask a planner that no schedule of a run uses; the exit code is 1 if there is no such plan.");
  solve->require_subcommand(1);
  const auto all = std::make_shared<std::vector<std::unique_ptr<Asked>>>();
  for (const Question& question :
       {objects_question(), double_question(), least_memory_question(), join_question(),
        offload_question(), uneven_tapes_question(), graph_question()}) {
    all->push_back(add(*solve, question));
  }
  return {solve, [all] {
            for (const auto& asked : *all) {
              if (asked->question->parsed()) return run(*asked);
            }
            return static_cast<int>(kUsage);
          }};
}

}  // namespace anadrome::tool
