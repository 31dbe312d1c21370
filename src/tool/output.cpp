// SPDX-License-Identifier: BSD-2-Clause
#include "tool/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/error.h"

namespace anadrome::tool {

void put_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(status_of_errno(errno), "standard output: " + errno_text(errno));
  }
}

std::string wrapped(std::string_view label, std::string_view text, std::size_t columns) {
  const std::string indent(label.size(), ' ');
  std::string all, line(label);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (line.size() > indent.size() && line.size() + 1 + end > columns) {
      all += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all + line + "\n";
}

void put_in_file(const char* option, const std::string& name,
                 const std::function<void(TextOut&)>& write) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, &std::fclose);
  const auto failed = [&] {
    return Error(ANADROME_ERR_IO, std::string(option) + " " + name + ": " + errno_text(errno));
  };
  const auto open = [&] {
    file.reset(std::fopen(name.c_str(), "w"));
    if (!file) throw failed();
  };
  TextOut out([&](std::string_view text) {
    if (!file) open();  // now only: what cannot be written leaves the file that is there
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) throw failed();
  });
  write(out);
  if (!file) open();
  if (std::fflush(file.get()) != 0) throw failed();
}

}  // namespace anadrome::tool
