// SPDX-License-Identifier: BSD-2-Clause
// An object store on real files, and a dictionary beside it that says what it must hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "store/objects.h"
#include "temporary_directory.h"

namespace anadrome::store {

struct ObjectBench {
  using Key = Objects::Key;
  using Bytes = std::vector<std::byte>;

  explicit ObjectBench(std::int64_t memory, std::int64_t most_blocks = std::int64_t{1} << 40,
                       bool disk = true, const TransportOptions& options = {})
      : layout(object_layout(memory)),
        pool(layout.block_bytes(), memory / layout.block_bytes()),
        files(layout, {directory.path(), "0123456789abcdef", 0, most_blocks, DirectIo::kAuto}),
        transport(make_direct_transport(layout, options)),
        blocks({layout, pool, disk ? &files : nullptr, disk ? transport.get() : nullptr}, 1, 2),
        objects(blocks) {}

  std::int64_t block_bytes() const { return layout.block_bytes(); }

  /// Bytes that no other (key, version) has.
  static Bytes bytes_of(Key key, std::uint64_t version, std::size_t count) {
    std::mt19937_64 random(static_cast<std::uint64_t>(key) * 1000003 + version);
    Bytes bytes(count);
    for (std::size_t i = 0; i < count; i += 8) {
      const std::uint64_t word = random();
      std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, count - i));
    }
    return bytes;
  }
  static Objects::Array array(const char* name, Bytes& bytes) {
    return {name, ANADROME_BYTE, static_cast<std::int64_t>(bytes.size()), bytes.data()};
  }
  /// Two parts: half of the bytes, and the rest.
  static std::pair<Bytes, Bytes> split(const Bytes& all) {
    const auto cut = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    return {Bytes(all.begin(), cut), Bytes(cut, all.end())};
  }

  void put(Key key, std::size_t count) {
    const Bytes all = bytes_of(key, ++versions, count);
    auto [a, b] = split(all);
    const std::vector<Objects::Array> arrays = {array("a", a), array("b", b)};
    objects.put(key, arrays);
    expected[key] = all;
  }
  /// The object's bytes; throws as get.
  Bytes got(Key key) {
    auto [a, b] = split(Bytes(expected.at(key).size()));
    const std::vector<Objects::Array> arrays = {array("b", b), array("a", a)};
    objects.get(key, arrays);
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  bool is_right(Key key) { return got(key) == expected.at(key); }
  void drop(Key key) {
    objects.drop(key);
    expected.erase(key);
  }

  TemporaryDirectory directory;
  BlockLayout layout;
  Pool pool;
  ObjectFiles files;
  std::unique_ptr<Transport> transport;
  ObjectBlocks blocks;
  Objects objects;
  std::map<Key, Bytes> expected;
  std::uint64_t versions = 0;
};

}  // namespace anadrome::store
