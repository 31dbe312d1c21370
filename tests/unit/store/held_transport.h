// SPDX-License-Identifier: BSD-2-Clause
// A transport to a disk in memory that does nothing until somebody waits, or the test says so; or,
// where it is collective, all at once.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tier_bench.h"

namespace anadrome::store {

class HeldTransport final : public Transport {
 public:
  explicit HeldTransport(const BlockLayout& layout) : layout_(layout) {}

  bool overlaps() const override { return !collective; }
  bool is_lossy() const override { return lossy; }
  void start(Transfer& transfer) override {
    transfer.done = false;
    transfer.failure = {};
    under_way_.push_back(&transfer);
    started.push_back({transfer.write, transfer.identity.block});
    if (collective) finish(transfer);
  }
  double wait(const Transfer& transfer) override {
    if (transfer.done) return 0;
    waited_for.push_back(transfer.identity.block);
    finish(transfer);
    return 0.25;
  }
  bool done(const Transfer& transfer) override { return transfer.done; }
  bool cancel(const Transfer& transfer) override { return std::erase(under_way_, &transfer) > 0; }
  TransferTotals totals() const override { return {}; }
  std::vector<FinishedWrite> take_finished_writes() override { return {}; }

  std::size_t under_way() const { return under_way_.size(); }
  void finish_oldest() { finish(*under_way_.front()); }
  void finish_all() {
    while (!under_way_.empty()) finish_oldest();
  }

  struct Started {
    bool write;
    std::int64_t block;
    bool operator==(const Started&) const = default;
  };
  std::vector<Started> started;
  std::vector<std::int64_t> waited_for;
  Failure write_failure, read_failure;  ///< of whatever finishes from now on
  Failure copy_failure;                 ///< of a copy's write alone, likewise
  bool collective = false;
  bool lossy = false;  ///< numbers, int64 all of them, come back larger by 1000

 private:
  using Place = std::pair<const Segment*, std::int64_t>;
  void finish(const Transfer& transfer) {
    const auto found = std::find(under_way_.begin(), under_way_.end(), &transfer);
    Transfer& mine = **found;
    under_way_.erase(found);
    mine.failure = mine.write ? write_failure : read_failure;
    if (mine.write && mine.is_copy && copy_failure) mine.failure = copy_failure;
    if (!mine.failure) carry_out(mine);
    mine.seconds = 0.5;
    mine.done = true;
  }
  void carry_out(Transfer& mine) {
    const auto bytes = static_cast<std::size_t>(layout_.block_bytes());
    if (mine.change > 0) return change(mine.bytes, bytes, mine.change);
    std::vector<std::byte>& place = disk_[{mine.segment, mine.place}];
    if (mine.write) {
      place.assign(mine.bytes, mine.bytes + bytes);
      mine.encoded.exact = mine.exact || !lossy;
      if (!mine.encoded.exact) change(place.data(), bytes, 1);
      mine.checksum = {static_cast<std::uint64_t>(mine.identity.block) + 1, 7};
    } else {
      std::copy(place.begin(), place.end(), mine.bytes);
    }
  }
  static void change(std::byte* numbers, std::size_t bytes, double times) {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::int64_t)) {
      std::int64_t value = 0;
      std::memcpy(&value, numbers + at, sizeof value);
      value += static_cast<std::int64_t>(1000 * times);
      std::memcpy(numbers + at, &value, sizeof value);
    }
  }

  const BlockLayout& layout_;
  std::vector<Transfer*> under_way_;
  std::map<Place, std::vector<std::byte>> disk_;
};

/// A tier whose home is such a disk.
struct HeldTier : TierBench {
  using State = Resident::State;
  using Started = HeldTransport::Started;

  explicit HeldTier(const TierShape& shape = {})
      : TierBench(shape,
                  [](const BlockLayout& made) { return std::make_unique<HeldTransport>(made); }) {}
  void keep_and_write_up_to(std::int64_t anchors, std::int64_t spacing = 1) {
    for (std::int64_t anchor = 0; anchor < anchors; ++anchor)
      keep_and_write(anchor, spacing * anchor);
  }
  State state(std::int64_t block) const { return blocks.residents().at(block).state; }
  bool in_memory(std::int64_t block) const { return blocks.residents().count(block) > 0; }
  /// What was begun since the last call of this.
  std::vector<std::int64_t> begun(bool write = false) {
    std::vector<std::int64_t> all;
    for (const Started& one : std::exchange(held->started, {}))
      if (one.write == write) all.push_back(one.block);
    return all;
  }
  /// Takes all of the pool that is free, so that whatever may go has to.
  void fill_pool() {
    while (pool.take() >= 0) continue;
  }
  void finish_and_settle() {
    held->finish_all();
    tier->settle_finished();
  }
  HeldTransport* held = static_cast<HeldTransport*>(transport.get());
};

}  // namespace anadrome::store
