// SPDX-License-Identifier: BSD-2-Clause
#include "flags.h"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace bench {

Flags::Flags(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) throw std::runtime_error("'" + word + "' is not a flag");
    const auto equals = word.find('=');
    const bool in_one = equals != std::string::npos;
    if (!in_one && i + 1 == argc) throw std::runtime_error(word + " has no value");
    left_[word.substr(2, in_one ? equals - 2 : equals)] =
        in_one ? word.substr(equals + 1) : argv[++i];
  }
}

std::string Flags::text(const std::string& name, const std::string& otherwise) {
  const auto node = left_.extract(name);
  return node.empty() ? otherwise : node.mapped();
}

std::int64_t Flags::count(const std::string& name, std::int64_t otherwise) {
  const std::string given = text(name, std::to_string(otherwise));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc{} || end != given.data() + given.size() || value < 0)
    throw std::runtime_error("--" + name + " " + given + " is not a count");
  return value;
}

std::vector<std::string> Flags::list(const std::string& name, const std::string& otherwise) {
  std::istringstream words(text(name, otherwise));
  std::vector<std::string> all;
  for (std::string word; std::getline(words, word, ',');) all.push_back(word);
  return all;
}

void Flags::end() const {
  if (!left_.empty()) throw std::runtime_error("unknown flag --" + left_.begin()->first);
}

}  // namespace bench
