// SPDX-License-Identifier: BSD-2-Clause
// A segment: one HDF5 file with room for a number of blocks of one or more ranks. docs/format.md
// has the bytes. The file's structure is made by HDF5 on tmpfs (a "skeleton" without data) and
// copied; after that the data are read and written at byte offsets, without HDF5, so that no thread
// but the caller's ever calls it and a full disk cannot take it by surprise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <anadrome/field.h>

namespace anadrome::store {

/// A field as the skeleton describes it.
struct FieldDescription {
  std::string name;
  anadrome_type type = ANADROME_BYTE;
  std::vector<std::int64_t> counts;   ///< elements of one state, per rank of the file
  std::vector<std::int64_t> strides;  ///< elements from one state to the next, per rank of the file
};

struct SegmentDescription {
  std::string run_id;
  std::string layout;
  std::int64_t number = 0;       ///< the segment's
  std::int64_t first_block = 0;  ///< number of its first block
  std::int64_t blocks = 0;       ///< room for so many
  std::int64_t states_per_block = 1;
  std::vector<std::int64_t> ranks;  ///< of the run's communicator, in the order of the file
  std::vector<FieldDescription> fields;
  bool compressed = false;  ///< its states
  bool reserved = true;     ///< all of the file's space, where the file system can do so
  bool views =
      true;  ///< /states/<field>, for readers: 16 bytes per slot and rank where slots are padded
};

/// Where things lie in the file, in bytes; the same for all ranks of the file.
struct SegmentOffsets {
  std::vector<std::int64_t> fields;  ///< first byte of /slots/<field>
  std::int64_t sweep = 0;            ///< first byte of /sweep
  std::int64_t slots_used = 0;       ///< first byte of /slots_used
  std::int64_t slot_step = 0;        ///< first byte of /slot_step
  std::int64_t checksum = 0;         ///< first byte of /checksum
  std::int64_t file_bytes = 0;
  bool operator==(const SegmentOffsets&) const = default;
};

/// Create the file at `path`, which must not exist, 0600. Throws ERR_NO_SPACE or ERR_IO, and leaves
/// nothing then.
SegmentOffsets create_segment(const std::string& path, const SegmentDescription& segment);

/// HDF5 writes at the offsets of the whole file. Throws ERR_NO_SPACE where the process may make
/// none that is so long.
void require_allowed_length(std::int64_t bytes);

/// A private scratch file on tmpfs, so that HDF5 never meets the user's disk.
class ScratchFile {
 public:
  /// `bytes`: room the file needs, for HDF5 does not survive a lack of it. Throws ERR_NO_SPACE.
  explicit ScratchFile(std::int64_t bytes);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

  /// Copy it to `path`, which must not exist: 0600, holes stay holes, with `reserved` space of
  /// their own. Returns its length. Throws ERR_NO_SPACE or ERR_IO, and leaves nothing then.
  std::int64_t publish(const std::string& path, bool reserved) const;

 private:
  std::string directory_, path_;
};

/// Room for a skeleton with tables of so many integers, and with virtual datasets of so many pieces
/// that choose so many blocks of elements in all.
std::int64_t scratch_room(std::int64_t integers, std::int64_t pieces, std::int64_t blocks);

}  // namespace anadrome::store
