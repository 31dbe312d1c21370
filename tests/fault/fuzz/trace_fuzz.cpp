// SPDX-License-Identifier: BSD-2-Clause
// `anadrome timeline` under libFuzzer: a file is refused, by its name, or drawn as text that moves
// no cursor.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/plain_text.h"
#include "tool/pictures/recorded_sweep.h"

namespace {

using namespace anadrome;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string picture_of(const tool::RecordedSweep& sweep) {
  std::string picture;
  TextOut out([&](std::string_view piece) { picture += piece; });
  draw_timeline(sweep, out);
  return picture;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::istringstream file(std::string(reinterpret_cast<const char*>(bytes), size));
  try {
    std::istringstream lines(picture_of(tool::read_trace(file, "input")));
    for (std::string line; std::getline(lines, line);) require(plain(line) == line);
  } catch (const Error& error) {
    require(error.status() == ANADROME_ERR_ARGUMENT);
    require(std::strstr(error.what(), "input") != nullptr);
  }
  return 0;
}
