// SPDX-License-Identifier: BSD-2-Clause
// An object store on real files, and a dictionary beside it that says what it must hold.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "objects/objects.h"
#include "temporary_directory.h"

namespace anadrome::store {

/// There is no memory to start transfer number `at`.
class ForgetfulTransport final : public Transport {
 public:
  ForgetfulTransport(const BlockLayout& layout, std::int64_t at)
      : real_(make_direct_transport(layout, {})), at_(at) {}
  void start(Transfer& transfer) override {
    if (++started_ == at_) throw std::bad_alloc();
    real_->start(transfer);
  }
  bool overlaps() const override { return true; }
  double wait(const Transfer& transfer) override { return real_->wait(transfer); }
  bool done(const Transfer& transfer) override { return real_->done(transfer); }
  bool cancel(const Transfer& transfer) override { return real_->cancel(transfer); }
  TransferTotals totals() const override { return real_->totals(); }
  std::vector<FinishedWrite> take_finished_writes() override { return {}; }
  /// Transfers that were begun so far.
  std::int64_t started() const { return started_; }
  /// Was there such a transfer? From now on there is memory.
  bool was_hit() {
    const bool hit = started_ >= at_;
    at_ = 0;
    return hit;
  }

 private:
  std::unique_ptr<Transport> real_;
  std::int64_t at_, started_ = 0;
};

struct ObjectBench {
  using Key = Objects::Key;
  using Bytes = std::vector<std::byte>;

  explicit ObjectBench(std::int64_t memory, std::int64_t most_blocks = std::int64_t{1} << 40,
                       bool disk = true, std::int64_t lacks_memory_at = 0, int rank = 0,
                       const std::string& in = "")
      : layout(object_layout(memory)),
        pool(layout.block_bytes(), memory / layout.block_bytes()),
        files(layout, {Directory::open(in.empty() ? directory.path() : in), "0123456789abcdef",
                       rank, most_blocks, TransportName::kAuto}),
        transport(std::make_unique<ForgetfulTransport>(layout, lacks_memory_at)),
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
  /// Is each of those that are there?
  testing::AssertionResult all_are_right() {
    for (const auto& [key, bytes] : expected)
      if (!is_right(key)) return testing::AssertionFailure() << "object " << key;
    return testing::AssertionSuccess();
  }
  /// Objects number 0 to `end` of one block each.
  void put_blocks(Key end, Key first = 0) {
    for (Key key = first; key < end; ++key) put(key, 16 << 10);
  }
  /// Puts such objects until one is refused; returns why, and its number.
  std::pair<anadrome_status, Key> fill(Key first = 0, std::size_t bytes = 16 << 10) {
    const Failure failure = failure_from([&] {
      for (;; ++first) put(first, bytes);
    });
    return {failure.status, first};
  }
  void drop(Key key) {
    objects.drop(key);
    expected.erase(key);
  }

  TemporaryDirectory directory;
  BlockLayout layout;
  Pool pool;
  ObjectFiles files;
  std::unique_ptr<ForgetfulTransport> transport;
  ObjectBlocks blocks;
  Objects objects;
  std::map<Key, Bytes> expected;
  std::uint64_t versions = 0;
};

}  // namespace anadrome::store
