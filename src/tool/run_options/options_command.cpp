// SPDX-License-Identifier: BSD-2-Clause
#include "tool/run_options/options_command.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "engine/asked/options.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/run_options/option_texts.h"

namespace anadrome::tool {
namespace {

constexpr std::size_t kColumns = 78, kColumnsOfPages = 120;

constexpr std::array<std::pair<Layer, const char*>, 3> kLayers = {
    {{Layer::kEverybody, "The four that everybody sets"},
     {Layer::kSome, "Ten that some set"},
     {Layer::kFew, "The others"}}};

// Lines of at most `columns`, each after `margin`.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view margin) {
  std::string all, line(margin);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (line.size() > margin.size() && line.size() + 1 + end > columns) {
      all += line + "\n";
      line = margin;
    }
    if (line.size() > margin.size()) line += ' ';
    line += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all + line + "\n";
}

// What the library answers to the value that is refused.
std::string refusal(const OptionText& option) {
  try {
    engine::Options().set(option.name, option.wrong);
  } catch (const Error& error) {
    return error.what();
  }
  throw Error(ANADROME_ERR_INTERNAL, std::string(option.name) + ": its wrong value is taken");
}

bool has_refusal(const OptionText& option) {
  return !option.wrong.empty() || option.name == "report" || option.name == "trace";
}

std::string setting(const OptionText& option, std::string_view value) {
  return std::string(option.name) + "=" + std::string(value);
}

std::string preset(const OptionText& option, const char* none) {
  return option.preset.empty() ? none : std::string(option.preset);
}

// Markdown's links and marks of code, as plain text.
std::string without_marks(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ']') {
      at = std::min(text.find(')', at), text.size());
    } else if (text[at] != '`' && text[at] != '[') {
      plain += text[at];
    }
  }
  return plain;
}

std::string described(const OptionText& option) {
  std::string text = std::string(option.name) + " (default: " + preset(option, "none") + ")\n";
  text += wrapped(without_marks(option.meaning), kColumns, "    ");
  text += "    Example: " + setting(option, option.example) + "\n";
  if (has_refusal(option))
    text += wrapped(setting(option, option.wrong) + " is refused: " + refusal(option), kColumns,
                    "    ");
  if (!option.care.empty()) text += wrapped(without_marks(option.care), kColumns, "    ");
  return text;
}

std::string all_described() {
  std::string text;
  for (const auto& [layer, heading] : kLayers) {
    text += std::string(text.empty() ? "" : "\n") + heading + ":\n";
    for (const OptionText& option : option_texts()) {
      if (option.layer == layer) text += "\n" + described(option);
    }
  }
  return text;
}

const OptionText& text_of(const std::string& name) {
  const auto& all = option_texts();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const OptionText& each) { return each.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string_view> names;
  for (const OptionText& each : all) names.push_back(each.name);
  throw Error(ANADROME_ERR_ARGUMENT, "there is no option '" + name + "'; the nearest is '" +
                                         std::string(nearest(names, name)) + "'");
}

// Each option and its default, for --help and the manual page.
std::string overview() {
  std::string text = "Options of a run, and their defaults:\n";
  for (const OptionText& option : option_texts()) {
    constexpr std::size_t kNames = 28;
    const std::string_view meaning = option.meaning;
    std::string lines = wrapped(without_marks(meaning.substr(0, meaning.find(". "))), kColumns,
                                std::string(kNames, ' '));
    const std::string name = "  " + setting(option, option.preset);
    text += lines.replace(0, std::min(name.size(), kNames - 1), name);
  }
  return text;
}

}  // namespace

std::string options_page() {
  std::string text;
  for (const auto& [layer, heading] : kLayers) {
    text += std::string("## ") + heading + "\n";
    std::string names;
    for (const OptionText& option : option_texts()) {
      if (option.layer != layer) continue;
      const std::string name(option.name);
      names += (names.empty() ? "" : " · ") + ("[`" + name + "`](#" + name + ")");
    }
    text += wrapped(names, kColumnsOfPages, "");
    for (const OptionText& option : option_texts()) {
      if (option.layer != layer) continue;
      text += "\n### " + std::string(option.name) + "\n";
      text += wrapped(option.meaning, kColumnsOfPages, "");
      text += "* Default: " +
              (option.preset.empty() ? "none" : "`" + std::string(option.preset) + "`") +
              ". Example: `" + setting(option, option.example) + "`.\n";
      if (has_refusal(option))
        text += wrapped("`" + setting(option, option.wrong) + "`: \"" + refusal(option) + "\".",
                        kColumnsOfPages - 2, "  ")
                    .replace(0, 1, "*");
      if (!option.care.empty())
        text += wrapped(option.care, kColumnsOfPages - 2, "  ").replace(0, 1, "*");
      text += wrapped("Read more: " + std::string(option.more) + ".", kColumnsOfPages - 2, "  ")
                  .replace(0, 1, "*");
    }
    text += "\n";
  }
  return text;
}

Command add_options_command(CLI::App& tool) {
  struct Asked {
    std::string name;
    bool page = false;
  };
  const auto asked = std::make_shared<Asked>();
  CLI::App& command =
      *tool.add_subcommand("options",
                           "What the options of a run mean: default, example, what is refused.\n"
                           "Set them by anadrome_set, or ANADROME_OPTIONS=\"memory=8GiB ...\".");
  Options options(command);
  options.text("OPTION", asked->name, "NAME", {"one of them", "memory", "all"});
  options.flag("--page", asked->page, "as sections of docs/options.md");
  command.footer([] { return overview(); });
  return {&command, [asked] {
            if (asked->page)
              put_out(options_page());
            else
              put_out(asked->name.empty() ? all_described() : described(text_of(asked->name)));
            return kFine;
          }};
}

}  // namespace anadrome::tool
