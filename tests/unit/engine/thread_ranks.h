// SPDX-License-Identifier: BSD-2-Clause
// Ranks that are threads of a test: what they do together goes through memory, without MPI.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "engine/ranks/ranks.h"

namespace anadrome::engine {

class ThreadRanks {
 public:
  explicit ThreadRanks(int size)
      : size_(size), barrier_(size), parts_(static_cast<std::size_t>(size)) {}

  /// One of them; used by one thread.
  class Rank final : public Ranks {
   public:
    Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    void largest(std::span<std::int64_t> values) override {
      combine(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    void largest(std::span<double> values) override {
      combine(values, [](double a, double b) { return std::max(a, b); });
    }
    void sum(std::span<std::int64_t> values) override {
      combine(values, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    void sum(std::span<double> values) override {
      combine(values, [](double a, double b) { return a + b; });
    }
    void broadcast(std::span<std::byte> bytes, int root) override {
      const std::vector<std::span<std::byte>> parts = all_.gather(rank_, bytes);
      const std::vector<std::byte> given(parts[static_cast<std::size_t>(root)].begin(),
                                         parts[static_cast<std::size_t>(root)].end());
      all_.barrier_.arrive_and_wait();  // all have read
      std::copy(given.begin(), given.end(), bytes.begin());
    }

   private:
    template <class Value, class Combine>
    void combine(std::span<Value> values, const Combine& both) {
      const auto parts = all_.gather(rank_, std::as_writable_bytes(values));
      std::vector<Value> result(values.begin(), values.end());
      for (const std::span<std::byte>& part : parts) {
        std::vector<Value> others(values.size());
        std::memcpy(others.data(), part.data(), part.size());
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = both(result[i], others[i]);
      }
      // A sum has this rank's part twice.
      if (both(Value{1}, Value{1}) != Value{1}) {
        for (std::size_t i = 0; i < result.size(); ++i) result[i] -= values[i];
      }
      all_.barrier_.arrive_and_wait();  // all have read
      std::copy(result.begin(), result.end(), values.begin());
    }

    ThreadRanks& all_;
    int rank_;
  };

  /// Runs `body` once for each rank, all at a time.
  static void run(int size, const std::function<void(Ranks&)>& body) {
    ThreadRanks all(size);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&all, &body, rank] {
        Rank mine(all, rank);
        body(mine);
      });
    }
  }

 private:
  std::vector<std::span<std::byte>> gather(int rank, std::span<std::byte> part) {
    parts_[static_cast<std::size_t>(rank)] = part;
    barrier_.arrive_and_wait();
    return parts_;
  }

  int size_;
  std::barrier<> barrier_;
  std::vector<std::span<std::byte>> parts_;
};

}  // namespace anadrome::engine
