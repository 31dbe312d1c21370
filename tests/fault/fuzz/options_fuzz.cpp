// SPDX-License-Identifier: BSD-2-Clause
// The option parser under libFuzzer: whatever the text, it is understood or refused with one line.
// The first byte of the input says what the rest is.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/byte_size.h"
#include "base/error.h"
#include "engine/asked/options.h"

namespace {

using namespace anadrome;

void require(bool condition) {
  if (!condition) std::abort();
}

template <class Body>
bool understood(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    require(error.status() == ANADROME_ERR_ARGUMENT && error.what()[0] != '\0');
    return false;
  }
}

// The options must make sense, whatever was understood.
void require_sense(const engine::Options& options) {
  require(options.memory >= 0 && options.disk >= -1 && options.interval >= 0 &&
          options.bandwidth_limit >= 0);
  require(options.checkpoints == -1 || options.checkpoints >= 1);
  require(!options.name.empty() && options.name.front() != '.' &&
          options.name.find('/') == std::string::npos);
  require(!options.directory.empty() && !options.report.empty());
}

// "key=value key=value".
void read_all(std::string_view text) {
  engine::Options options;
  if (!understood([&] { options.set_environment(text); })) return;
  require_sense(options);
  engine::Options again;
  again.set_environment(text);
  require(again.shared_values() == options.shared_values());
}

// A key by its number, and anything as its value: mutation seldom comes upon a key by itself.
void read_value(std::string_view text) {
  static const auto known = engine::Options().shared_values();
  if (text.empty()) return;
  engine::Options options;
  const auto number = static_cast<unsigned char>(text[0]) % known.size();
  if (!understood([&] { options.set(known[number].first, text.substr(1)); })) return;
  require_sense(options);
}

// One key and its value, with anything in either.
void read_one(std::string_view text) {
  const std::size_t split = std::min(text.find('\0'), text.size());
  engine::Options options;
  understood(
      [&] { options.set(text.substr(0, split), text.substr(std::min(split + 1, text.size()))); });
  options.shared_values();
}

void read_size(std::string_view text) {
  understood([&] { require(parse_bytes(text) >= 0); });
  understood([&] { require(parse_rate(text) > 0); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0] % 4) {
    case 0:
      read_all(rest);
      break;
    case 1:
      read_one(rest);
      break;
    case 2:
      read_value(rest);
      break;
    default:
      read_size(rest);
  }
  return 0;
}
