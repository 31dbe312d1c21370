// SPDX-License-Identifier: BSD-2-Clause
// A segment: one HDF5 file with room for a number of blocks of one or more ranks. docs/format.md
// has the bytes. The file's structure is made by HDF5 in memory (a "skeleton" without data) and
// copied; after that the data are read and written at byte offsets, without HDF5, so that no thread
// but the caller's ever calls it and a full disk cannot take it by surprise.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <anadrome/field.h>

#include "store/files/directory.h"
#include "store/files/file_system.h"

namespace anadrome::store {

/// A field as the skeleton describes it.
struct FieldDescription {
  std::string name;
  anadrome_type type = ANADROME_BYTE;
  std::vector<std::int64_t> counts;   ///< elements of one state, per rank of the file
  std::vector<std::int64_t> strides;  ///< elements from one state to the next, per rank of the file
};

/// What a file that was just made outlives. After a power loss one that says no longer whose it is
/// stays until somebody removes it, and the next begin there names it.
enum class Lasts { kProcess, kPowerLoss };

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
  Lasts lasts = Lasts::kProcess;
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

/// Create the file at `place`, which must not exist, 0600. Throws ERR_NO_SPACE or ERR_IO, and
/// leaves nothing then.
SegmentOffsets create_segment(const FilePlace& place, const SegmentDescription& segment);

/// HDF5 writes at the offsets of the whole file. Throws ERR_NO_SPACE where the process may make
/// none that is so long.
void require_allowed_length(std::int64_t bytes);

/// A file in memory, so that HDF5 never meets the user's disk. It has no name in any directory, and
/// goes with the process.
class ScratchFile {
 public:
  /// For what is published at `place`. Throws what the system says.
  explicit ScratchFile(const FilePlace& place, std::int64_t length = 0);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  /// For HDF5, which takes paths only, and makes a file there that may exist (H5F_ACC_TRUNC).
  const std::string& path() const { return path_; }

  /// Copy it to `place`, which must not exist: 0600, holes stay holes, with `reserved` space of
  /// their own. The first page is last, after what `fill` writes to the holes. Returns the length.
  /// Throws ERR_NO_SPACE or ERR_IO, and leaves nothing then.
  using Fill = std::function<void(const File& to)>;
  std::int64_t publish(const FilePlace& place, bool reserved, Lasts lasts = Lasts::kPowerLoss,
                       const Fill& fill = {}) const;
  static constexpr std::int64_t kFirstPage = 4096;
  const File& file() const { return file_; }

 private:
  File file_;
  std::string path_;
};

}  // namespace anadrome::store
