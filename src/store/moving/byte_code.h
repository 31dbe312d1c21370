// SPDX-License-Identifier: BSD-2-Clause
// Integers and texts as bytes, little-endian and of fixed width whatever the machine; texts carry
// their length. The decoder takes nothing for granted: past the end, or past a length that does not
// fit, it gives zeros and is no longer good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"

namespace anadrome::store {

class Encoder {
 public:
  Encoder& u32(std::uint32_t value) { return put(value, 4); }
  Encoder& u64(std::uint64_t value) { return put(value, 8); }
  Encoder& i64(std::int64_t value) { return u64(static_cast<std::uint64_t>(value)); }
  Encoder& sum(const Checksum& sum) { return u64(sum.low).u64(sum.high); }
  Encoder& text(std::string_view text) {
    u32(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  Encoder& integers(std::span<const std::int64_t> values) {
    u32(static_cast<std::uint32_t>(values.size()));
    for (const std::int64_t value : values) i64(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Encoder& put(std::uint64_t value, int bytes) {
    for (int b = 0; b < bytes; ++b) bytes_ += static_cast<char>(value >> (8 * b) & 0xff);
    return *this;
  }
  std::string bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t u32() { return static_cast<std::uint32_t>(take(4)); }
  std::uint64_t u64() { return take(8); }
  std::int64_t i64() { return static_cast<std::int64_t>(take(8)); }
  Checksum sum() {
    const std::uint64_t low = u64();
    return {low, u64()};
  }
  std::string text() {
    const std::size_t length = count(1);
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return text;
  }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values(count(8));
    for (std::int64_t& value : values) value = i64();
    return values;
  }
  /// A number of things that follow, of `bytes` each; 0 if so many cannot follow.
  std::size_t count(std::size_t bytes) {
    const std::size_t number = u32();
    if (number > rest_.size() / bytes) good_ = false;
    return good_ ? number : 0;
  }
  bool good() const { return good_; }
  /// All was there, and nothing is left.
  bool finished() const { return good_ && rest_.empty(); }

 private:
  std::uint64_t take(std::size_t bytes) {
    if (rest_.size() < bytes) good_ = false;
    if (!good_) return 0;
    std::uint64_t value = 0;
    for (std::size_t b = 0; b < bytes; ++b) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[b])) << (8 * b);
    }
    rest_.remove_prefix(bytes);
    return value;
  }
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace anadrome::store
