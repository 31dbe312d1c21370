// SPDX-License-Identifier: BSD-2-Clause
// The collective operations of a run's ranks. The seam between agreements and MPI: tests have ranks
// that are threads.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/ranks/communicator.h"

namespace anadrome::engine {

/// All functions are collective and take no memory from the heap. Throws ERR_PEER where
/// communication fails.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Each value becomes the largest of any rank.
  virtual void largest(std::span<std::int64_t> values) = 0;
  virtual void largest(std::span<double> values) = 0;
  /// Each value becomes the sum over all ranks.
  virtual void sum(std::span<std::int64_t> values) = 0;
  /// The same bits on all ranks.
  virtual void sum(std::span<double> values) = 0;
  /// Rank `root`'s bytes for all.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// This rank's number among those of its node, which see the same directories; what one of them
  /// finds out serves all. Collective the first time, as is the next one.
  virtual int rank_on_node() { return 0; }
  /// The bytes of the node's rank 0 for all of the node.
  virtual void broadcast_on_node(std::span<std::byte>) {}
};

class MpiRanks final : public Ranks {
 public:
  /// Duplicates `comm`. Collective.
  explicit MpiRanks(MPI_Comm comm);
  MPI_Comm comm() const { return comm_.get(); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void largest(std::span<std::int64_t> values) override;
  void largest(std::span<double> values) override;
  void sum(std::span<std::int64_t> values) override;
  void sum(std::span<double> values) override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  int rank_on_node() override;
  void broadcast_on_node(std::span<std::byte> bytes) override;
  /// The ranks of this node. Collective the first time.
  MPI_Comm node();

 private:
  Communicator comm_;
  Communicator node_;
  int rank_ = 0;
  int size_ = 1;
};

/// A struct of numbers of one type, each of which becomes the largest of any rank, or the sum: who
/// brings them and who takes them have the same names for them. Collective.
template <class Number, class Named>
Named largest_of(Ranks& ranks, const Named& mine) {
  auto numbers = std::bit_cast<std::array<Number, sizeof mine / sizeof(Number)>>(mine);
  ranks.largest(numbers);
  return std::bit_cast<Named>(numbers);
}
template <class Number, class Named>
Named sum_of(Ranks& ranks, const Named& mine) {
  auto numbers = std::bit_cast<std::array<Number, sizeof mine / sizeof(Number)>>(mine);
  ranks.sum(numbers);
  return std::bit_cast<Named>(numbers);
}

/// The place of the first value that is not the same on all ranks; -1: all are. `both`: the values,
/// then their complements. Collective, and the same on all ranks; `both` is undefined afterwards.
std::int64_t first_that_differs(Ranks& ranks, std::span<std::int64_t> both);

/// Throws ERR_PEER with MPI's text where `code` says that `what` failed.
void require_mpi(int code, const char* what);

}  // namespace anadrome::engine
