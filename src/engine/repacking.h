// SPDX-License-Identifier: BSD-2-Clause
// keep=on with compress: the states of a segment -> a file that every reader of HDF5 with the LZ4
// filter can read. The file's first rank writes it; the others send their blocks, each in its turn.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/error.h"
#include "store/block_layout.h"
#include "store/repacked_segment.h"
#include "store/segment.h"

namespace anadrome::engine {

class Repacking {
 public:
  /// Brings a block of this rank into memory, until the next call. Returns what went wrong.
  using Read = std::function<Failure(std::int64_t block, std::span<const std::byte>& bytes)>;

  /// `file_comm`: the ranks of a file.
  Repacking(MPI_Comm file_comm, const store::BlockLayout& layout, Read read);

  /// The first `used` blocks of `range`. The first rank gives the file (NULL: it has none) and how
  /// it lays out fields. Returns this rank's failure. Collective over the ranks of the file.
  Failure move(const store::Segment::Range& range, std::int64_t used, store::RepackedSegment* file,
               std::span<const store::FieldDescription> fields);

  /// On the first rank: all ranks have sent all they have.
  bool whole() const { return whole_; }

  /// Memory that the first rank takes beside the file.
  static constexpr std::int64_t kMessageBytes = std::int64_t{1} << 18;

 private:
  Failure send_mine(const store::Segment::Range& range, std::int64_t used);
  void receive(int rank, std::int64_t used);
  void add_mine(const store::Segment::Range& range, std::int64_t used);
  void hold(const Failure& failure);
  void add(std::size_t field, std::span<const std::byte> bytes);
  std::span<const std::byte> part(std::span<const std::byte> block, std::size_t field) const;

  const MPI_Comm comm_;
  const store::BlockLayout& layout_;
  const Read read_;
  // The first rank's.
  store::RepackedSegment* file_ = nullptr;
  std::span<const store::FieldDescription> fields_;
  Failure failure_;
  bool whole_ = true;
  std::vector<std::byte> buffer_;
};

}  // namespace anadrome::engine
