// SPDX-License-Identifier: BSD-2-Clause
// The command line of a benchmark: --name value or --name=value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

class Flags {
 public:
  /// Throws std::runtime_error, as all functions here do, with one line.
  Flags(int argc, char** argv);

  std::string text(const std::string& name, const std::string& otherwise);
  std::int64_t count(const std::string& name, std::int64_t otherwise);
  std::vector<std::string> list(const std::string& name, const std::string& otherwise);

  /// To be called when all flags were asked for: one that nobody asked for is an error.
  void end() const;

 private:
  std::map<std::string, std::string> left_;
};

}  // namespace bench
