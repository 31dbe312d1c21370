#include "tool/plan/question.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <span>
#include <sstream>

#include "base/error.h"
#include "tool/plan/double_question.h"
#include "tool/plan/graph_question.h"
#include "tool/plan/join_question.h"
#include "tool/plan/least_memory_question.h"
#include "tool/plan/number_text.h"
#include "tool/plan/objects_question.h"
#include "tool/plan/offload_question.h"
#include "tool/plan/schedule_table.h"
#include "tool/plan/uneven_tapes_question.h"

namespace anadrome::tool {
namespace {

// Flags that go with every question.
constexpr std::array kAlways = {"--help",     "--schedule", "--json",
                                "--abstract", "--actions",  "--svg"};

std::span<const Question> all_questions() {
  static const std::vector<Question> all = {
      objects_question(), double_question(), least_memory_question(), join_question(),
      offload_question(), graph_question(),  uneven_tapes_question()};
  return all;
}

}  // namespace

std::string question_names() {
  std::string names;
  for (const Question& question : all_questions()) {
    const auto same = [&](const Schedule& schedule) {
      return schedule.name == std::string_view(question.schedule);
    };
    if (std::any_of(all_schedules().begin(), all_schedules().end(), same)) continue;
    names += (names.empty() ? "" : ", ") + std::string(question.schedule);
  }
  return names;
}

const Question* question_asked(const PlanFlags& flags) {
  for (const Question& question : all_questions()) {
    // `double` and `least_memory` are schedules of the comparison, too, and `mixed` of the abstract
    // problem.
    const bool compared = flags.schedule == "double" || flags.schedule == "least_memory";
    const bool other = flags.schedule == "mixed" || (compared && !flags.abstract);
    const bool named = flags.given("--schedule") && flags.schedule == question.schedule && !other;
    if (named || question.asked(flags)) return &question;
  }
  return nullptr;
}

void check(const Question& question, const PlanFlags& flags) {
  for (const CLI::Option* option : flags.app->get_options()) {
    if (option->count() == 0) continue;
    const std::string name = "--" + option->get_lnames().front();
    const auto same = [&name](const char* flag) { return name == flag; };
    if (std::any_of(kAlways.begin(), kAlways.end(), same)) continue;
    if (std::any_of(question.flags.begin(), question.flags.end(), same)) continue;
    throw Error(ANADROME_ERR_ARGUMENT,
                name + " has no meaning for this question (" + question.schedule + ")");
  }
  if (flags.given("--schedule") && flags.schedule != question.schedule) {
    throw Error(ANADROME_ERR_ARGUMENT, std::string("--schedule ") + flags.schedule +
                                           " does not go with the flags of " + question.schedule);
  }
}

std::size_t word_of(const char* flag, const std::string& text,
                    std::initializer_list<const char*> words) {
  std::string known;
  std::size_t number = 0;
  for (const char* word : words) {
    if (text == word) return number;
    known += (number++ > 0 ? ", " : "") + std::string(word);
  }
  throw Error(ANADROME_ERR_ARGUMENT, std::string(flag) + " '" + text + "' is not one of " + known);
}

std::string text_of_file(const char* flag, const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    throw Error(ANADROME_ERR_ARGUMENT,
                std::string(flag) + " " + file + ": " + errno_text(errno == 0 ? EINVAL : errno));
  }
  return text.str();
}

std::vector<std::int64_t> counts_in(const char* flag, const std::string& text, std::int64_t least) {
  std::vector<std::int64_t> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      counts.push_back(parse_count(flag, word, least, schedule::kMostSteps));
    }
  }
  return counts;
}

}  // namespace anadrome::tool
