// SPDX-License-Identifier: BSD-2-Clause
#include "store/filtered_dataset.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/index.h"
#include "store/hdf5_write.h"

namespace anadrome::store {
namespace {

constexpr unsigned kSkipAll = 3;  // both filters

// The filter's frame is big-endian: bytes in all, bytes of a block, then each block's size and it.
constexpr std::size_t kFrameBytes = 16;

template <class Word>
std::byte* put(std::byte* to, Word word) {
  for (std::size_t i = sizeof word; i-- > 0;) *to++ = static_cast<std::byte>(word >> (8 * i));
  return to;
}
}  // namespace

std::int64_t chunk_elements(std::int64_t elements, std::int64_t element_bytes) {
  return std::min(elements, ChunkEncoder::kBytes / element_bytes);
}

Hdf5Dataset create_filtered(hid_t file, const std::string& path, hid_t type,
                            std::int64_t elements) {
  const auto element_bytes = static_cast<std::int64_t>(H5Tget_size(type));
  const auto extent = static_cast<hsize_t>(elements);
  const auto chunk = static_cast<hsize_t>(chunk_elements(elements, element_bytes));
  const Hdf5Space space(checked(H5Screate_simple(1, &extent, nullptr), "create a dataspace"));
  const Hdf5Properties creation(checked(H5Pcreate(H5P_DATASET_CREATE), "create properties"));
  checked(H5Pset_chunk(creation.get(), 1, &chunk), "set chunks");
  checked(H5Pset_shuffle(creation.get()), "set a filter");
  // Optional, or HDF5 wants to have it here.
  checked(H5Pset_filter(creation.get(), kLz4Filter, H5Z_FLAG_OPTIONAL, 0, nullptr), "set a filter");
  return Hdf5Dataset(checked(
      H5Dcreate2(file, path.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      "create " + path));
}

// ---- a chunk ----

ChunkEncoder::ChunkEncoder() : shuffled_(size(kBytes)), encoded_(size(kBytes) + kFrameBytes) {}

ChunkEncoder::Encoded ChunkEncoder::encode(std::span<const std::byte> chunk,
                                           std::int64_t element_bytes) {
  shuffle(chunk, element_bytes, shuffled_.data());
  const std::span<const std::byte> shuffled(shuffled_.data(), chunk.size());
  const std::int64_t bytes =
      // At least one byte fewer: a block of full size is one that was not compressed.
      compress_lz4(shuffled, std::span(encoded_).subspan(kFrameBytes, chunk.size() - 1));
  if (bytes == 0) return {chunk, kSkipAll};
  std::byte* next = put(encoded_.data(), static_cast<std::uint64_t>(chunk.size()));
  next = put(next, static_cast<std::uint32_t>(chunk.size()));
  put(next, static_cast<std::uint32_t>(bytes));
  return {std::span(encoded_).first(kFrameBytes + size(bytes)), 0};
}

// ---- writing ----

FilteredWriter::FilteredWriter(Hdf5Dataset dataset, std::int64_t elements,
                               std::int64_t element_bytes, ChunkEncoder& encoder)
    : dataset_(std::move(dataset)),
      element_bytes_(element_bytes),
      bytes_(checked_multiply(elements, element_bytes)),
      encoder_(encoder),
      chunk_(size(chunk_elements(elements, element_bytes) * element_bytes)) {}

void FilteredWriter::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), chunk_.size() - size(filled_));
    std::memcpy(chunk_.data() + filled_, bytes.data(), part);
    is_empty_ = false;
    filled_ += static_cast<std::int64_t>(part);
    bytes = bytes.subspan(part);
    if (size(filled_) == chunk_.size()) write();
  }
}

void FilteredWriter::skip(std::int64_t bytes) {
  const auto whole = static_cast<std::int64_t>(chunk_.size());
  while (bytes > 0) {
    const std::int64_t part = std::min(bytes, whole - filled_);
    if (part < whole) std::memset(chunk_.data() + filled_, 0, size(part));
    filled_ += part;
    bytes -= part;
    if (size(filled_) == chunk_.size()) write();
  }
}

// A chunk that is only skipped is not there. Of the last one the rest is beyond the dataset.
void FilteredWriter::finish() {
  if (first_ + filled_ != bytes_)
    throw Error(ANADROME_ERR_INTERNAL, "a dataset lacks bytes, or has too many");
  if (filled_ > 0) skip(static_cast<std::int64_t>(chunk_.size()) - filled_);
}

void FilteredWriter::write() {
  if (!is_empty_) {
    const ChunkEncoder::Encoded encoded = encoder_.encode(chunk_, element_bytes_);
    const auto element = static_cast<hsize_t>(first_ / element_bytes_);
    errno = 0;
    const herr_t written = H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, encoded.skipped, &element,
                                          encoded.bytes.size(), encoded.bytes.data());
    if (written < 0) {
      const int why = errno;
      throw Error(why != 0 ? status_of_errno(why) : ANADROME_ERR_IO,
                  std::string("HDF5 could not write a chunk of states") +
                      (why != 0 ? ": " + errno_text(why) : ""));
    }
  }
  first_ += static_cast<std::int64_t>(chunk_.size());
  filled_ = 0;
  is_empty_ = true;
}

}  // namespace anadrome::store
