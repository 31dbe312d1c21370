// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "engine/asked/options.h"
#include "tool/command.h"
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
  const std::string_view preset = option.preset.empty() ? "none" : option.preset;
  std::string text = std::string(option.name) + " (default: " + std::string(preset) + ")\n";
  text += wrapped("    ", without_marks(option.meaning), kColumns);
  text += "    Example: " + setting(option, option.example) + "\n";
  if (has_refusal(option))
    text += wrapped("    ", setting(option, option.wrong) + " is refused: " + refusal(option),
                    kColumns);
  if (!option.care.empty()) text += wrapped("    ", without_marks(option.care), kColumns);
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
    std::string name = "  " + setting(option, option.preset);
    name.resize(kNames, ' ');
    text += wrapped(name, without_marks(meaning.substr(0, meaning.find(". "))), kColumns);
  }
  return text;
}

}  // namespace

std::string options_page() {
  const auto item = [](std::string_view said) { return wrapped("* ", said, kColumnsOfPages - 2); };
  std::string text;
  for (const auto& [layer, heading] : kLayers) {
    text += std::string("## ") + heading + "\n";
    std::string names;
    for (const OptionText& option : option_texts()) {
      if (option.layer != layer) continue;
      const std::string name(option.name);
      names += (names.empty() ? "" : " · ") + ("[`" + name + "`](#" + name + ")");
    }
    text += wrapped("", names, kColumnsOfPages);
    for (const OptionText& option : option_texts()) {
      if (option.layer != layer) continue;
      text += "\n### " + std::string(option.name) + "\n";
      text += wrapped("", option.meaning, kColumnsOfPages);
      text += "* Default: " +
              (option.preset.empty() ? "none" : "`" + std::string(option.preset) + "`") +
              ". Example: `" + setting(option, option.example) + "`.\n";
      if (has_refusal(option))
        text += item("`" + setting(option, option.wrong) + "`: \"" + refusal(option) + "\".");
      if (!option.care.empty()) text += item(option.care);
      text += item("Read more: " + std::string(option.more) + ".");
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
