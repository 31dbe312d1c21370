// SPDX-License-Identifier: BSD-2-Clause
// Typed options of a subcommand. The help of each says what it is, its unit and an example; what is
// written is read at once, and an error names the option.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "tool/number_text.h"

namespace anadrome::tool {

struct Help {
  const char* meaning;
  const char* example;
  const char* otherwise = "";  ///< holds if the option is not given
};

class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  /// The heading of the options that follow.
  void group(const char* heading) { group_ = heading; }

  using Option = CLI::Option*;
  /// A whole number, least <= value <= most.
  Option count(const char* name, std::int64_t& value, std::int64_t least, std::int64_t most,
               const Help& help);
  /// A size, least <= value <= 2^62.
  Option bytes(const char* name, std::int64_t& value, std::int64_t least, const Help& help);
  /// Bytes per second, above 0: FAST,HOME, or home's alone.
  Option rates(const char* name, double& home, double& fast, const Help& help);
  Option seconds(const char* name, double& value, double least, const Help& help);
  /// An exact cost or time, in any unit.
  Option decimal(const char* name, Decimal& value, const Help& help);
  /// One of `words`, in any case.
  Option word(const char* name, std::string& value, std::initializer_list<const char*> words,
              const Help& help);
  /// 0 or 1.
  Option digit(const char* name, bool& value, const Help& help);
  Option text(const char* name, std::string& value, const char* unit, const Help& help);
  Option file(const char* name, std::string& value, const Help& help) {
    return text(name, value, "FILE", help);
  }
  Option flag(const char* name, bool& value, const char* meaning);

  /// `read` gets what is written, and throws ERR_ARGUMENT if that makes no sense.
  Option add(const char* name, const char* unit, const Help& help,
             std::function<void(const std::string&)> read);

 private:
  CLI::App& app_;
  std::string group_ = "Options";
};

/// Reads FAST,HOME, or HOME alone. Throws ERR_ARGUMENT, naming `option`, if there are more.
void read_two(const std::string& option, const std::string& text,
              const std::function<void(const std::string& one, bool is_fast)>& read);

/// "512MiB", at most 2^62 bytes. Throws ERR_ARGUMENT, naming `option`.
std::int64_t parse_size(const std::string& option, const std::string& text);

/// All that is in a file. Throws ERR_ARGUMENT, naming `option`.
std::string text_of_file(const char* option, const std::string& file);

/// "--state" of "--state,--state-size".
std::string first_name(const char* names);

}  // namespace anadrome::tool
