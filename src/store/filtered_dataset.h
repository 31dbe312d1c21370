// SPDX-License-Identifier: BSD-2-Clause
// A dataset of one dimension in chunks that are shuffled and compressed by LZ4, as HDF5's filters
// shuffle (2) and LZ4 (32004) take them. Whoever has these two reads it; no filter is needed to
// write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/codec.h"
#include "store/hdf5_owners.h"

namespace anadrome::store {

inline constexpr int kLz4Filter = 32004;  ///< registered with The HDF Group

/// As it is created in `file`: without bytes, which are read as zeros.
Hdf5Dataset create_filtered(hid_t file, const std::string& path, hid_t type, std::int64_t elements);

/// What the filters make of a chunk.
class ChunkEncoder {
 public:
  static constexpr std::int64_t kBytes = std::int64_t{1} << 18;  ///< of a whole chunk, at most
  ChunkEncoder();

  /// For H5Dwrite_chunk: valid until the next call.
  struct Encoded {
    std::span<const std::byte> bytes;
    unsigned skipped = 0;  ///< filters, a bit each
  };
  Encoded encode(std::span<const std::byte> chunk, std::int64_t element_bytes);

 private:
  std::vector<std::byte> shuffled_, encoded_;
};

/// Elements of a chunk of a dataset with so many.
std::int64_t chunk_elements(std::int64_t elements, std::int64_t element_bytes);

/// Writes the bytes of such a dataset from the first to the last.
class FilteredWriter {
 public:
  FilteredWriter(Hdf5Dataset dataset, std::int64_t elements, std::int64_t element_bytes,
                 ChunkEncoder& encoder);
  /// Throws ERR_IO, ERR_NO_SPACE.
  void append(std::span<const std::byte> bytes);
  /// So many that nobody wrote.
  void skip(std::int64_t bytes);
  void finish();

 private:
  void write();

  Hdf5Dataset dataset_;
  const std::int64_t element_bytes_, bytes_;
  ChunkEncoder& encoder_;
  std::vector<std::byte> chunk_;
  std::int64_t first_ = 0, filled_ = 0;  ///< bytes: of the chunk in the dataset, in the chunk
  bool is_empty_ = true;                 ///< nothing but what was skipped is in it
};

}  // namespace anadrome::store
