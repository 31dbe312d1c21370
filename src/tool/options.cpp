// SPDX-License-Identifier: BSD-2-Clause
#include "tool/options.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/index.h"
#include "base/words.h"

namespace anadrome::tool {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& text, const std::string& why) {
  throw Error(ANADROME_ERR_ARGUMENT, name + " '" + text + "' " + why);
}

// Errors of the base's parsers do not name the option.
template <class Parse>
auto parsed(const std::string& name, const std::string& text, const Parse& parse) {
  try {
    return parse(text);
  } catch (const Error& error) {
    throw Error(error.status(), name + ": " + error.what());
  }
}

}  // namespace

std::string first_name(const char* names) {
  const std::string all = names;
  return all.substr(0, all.find(','));
}

void read_two(const std::string& option, const std::string& text,
              const std::function<void(const std::string& one, bool is_fast)>& read) {
  const TwoWords words =
      parsed(option, text, [](const std::string& both) { return two_words(both); });
  if (words.are_two) read(words.first, true);
  read(words.last, false);
}

std::int64_t parse_size(const std::string& option, const std::string& text) {
  const std::int64_t bytes =
      parsed(option, text, [](const std::string& size) { return parse_bytes(size); });
  if (bytes > schedule::kMostSteps) refuse(option, text, "is too large");
  return bytes;
}

std::string text_of_file(const char* option, const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (in) errno = 0;  // of a file without a byte the stream says that it failed
  if (!in || (!(text << in.rdbuf()) && errno != 0))
    throw Error(ANADROME_ERR_ARGUMENT, std::string(option) + " " + file + ": " + errno_text(errno));
  return text.str();
}

CLI::Option* Options::count(const char* name, std::int64_t& value, std::int64_t least,
                            std::int64_t most, const Help& help) {
  return add(name, "N", help, [=, &value, flag = first_name(name)](const std::string& text) {
    value = parse_count(flag, text, least, most);
  });
}

CLI::Option* Options::bytes(const char* name, std::int64_t& value, std::int64_t least,
                            const Help& help) {
  return add(name, "BYTES", help, [=, &value, flag = first_name(name)](const std::string& text) {
    value = parse_size(flag, text);
    if (value < least) refuse(flag, text, "is too small");
  });
}

CLI::Option* Options::rates(const char* name, double& home, double& fast, const Help& help) {
  return add(
      name, "BYTES/s", help, [&home, &fast, flag = first_name(name)](const std::string& text) {
        read_two(flag, text, [&](const std::string& one, bool is_fast) {
          (is_fast ? fast : home) =
              real(parsed(flag, one, [](const std::string& rate) { return parse_rate(rate); }));
        });
      });
}

CLI::Option* Options::seconds(const char* name, double& value, double least, const Help& help) {
  return add(name, "SECONDS", help, [=, &value, flag = first_name(name)](const std::string& text) {
    value = parsed(flag, text, [](const std::string& seconds) { return parse_seconds(seconds); });
    if (value < least) refuse(flag, text, "is too short: expected seconds above 0, e.g. 0.08");
  });
}

CLI::Option* Options::decimal(const char* name, Decimal& value, const Help& help) {
  return add(name, "COST", help, [&value, flag = first_name(name)](const std::string& text) {
    value = parse_decimal(flag, text);
  });
}

CLI::Option* Options::word(const char* name, std::string& value,
                           std::initializer_list<const char*> words, const Help& help) {
  const std::vector<std::string> known(words.begin(), words.end());
  std::string all;
  for (const std::string& word : known) all += (all.empty() ? "" : "|") + word;
  const auto read = [known, all, &value, flag = first_name(name)](const std::string& text) {
    value = in_small_letters(text);
    if (std::find(known.begin(), known.end(), value) == known.end()) {
      refuse(flag, text, "is not one of " + all);
    }
  };
  return add(name, all.c_str(), help, read);
}

CLI::Option* Options::digit(const char* name, bool& value, const Help& help) {
  return add(name, "0|1", help, [&value, flag = first_name(name)](const std::string& text) {
    value = parse_count(flag, text, 0, 1) == 1;
  });
}

CLI::Option* Options::text(const char* name, std::string& value, const char* unit,
                           const Help& help) {
  return add(name, unit, help, [&value](const std::string& text) { value = text; });
}

CLI::Option* Options::flag(const char* name, bool& value, const char* meaning) {
  return app_.add_flag(name, value, meaning)->disable_flag_override()->group(group_);
}

CLI::Option* Options::add(const char* name, const char* unit, const Help& help,
                          std::function<void(const std::string&)> read) {
  std::string words = help.meaning;
  const auto add_words = [&words](const char* before, const char* more) {
    if (*more != '\0') words += before + std::string(more);
  };
  add_words("; for example ", help.example);
  add_words("; otherwise ", help.otherwise);
  return app_.add_option_function<std::string>(name, read, words)->type_name(unit)->group(group_);
}

}  // namespace anadrome::tool
