// SPDX-License-Identifier: BSD-2-Clause
// How blocks get to the disk and back. The one virtual seam between the engine and the ways of
// doing I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "device/device.h"
#include "store/files/segment.h"
#include "store/memory/block_layout.h"
#include "store/moving/encoded_part.h"

namespace anadrome::store {

/// A block's identity. Its checksum covers this, too: a stale, swapped or foreign block is caught.
struct BlockIdentity {
  std::uint64_t run_id_low = 0, run_id_high = 0;
  std::int64_t sweep = 0;
  std::int64_t block = 0;
  std::int64_t first_step = 0;  ///< step of its first state
  std::int64_t states = 0;      ///< in the block; fewer than fit if the sweep ended
};

/// One transfer. The transport fills the second half.
struct Transfer {
  /// Instead of moving a block: to be done after all writes that were started before it; if it is
  /// urgent, after those that are. Throws what fails.
  std::function<void()> task;
  bool write = false;
  bool urgent = false;  ///< goes before those in the queue that are not
  /// Not 0: nothing is moved, but the block in memory becomes what writing it with tolerances that
  /// are so many times larger, and reading it, makes of it.
  double change = 0;
  bool is_copy = false;  ///< the block's place is another one
  const Segment* segment = nullptr;
  std::int64_t place = 0;      ///< of those of the volume
  int volume = 0;              ///< of the run's, for who counts transfers
  std::byte* bytes = nullptr;  ///< the block in the pool
  device::Ticket ready;        ///< copies between it and a device, which are waited for first
  /// By field, where only so many bytes of one state are moved; none: as the layout has them.
  std::vector<Extent> extents;
  BlockIdentity identity;
  bool exact = false;  ///< a write that changes nothing, whatever the codec
  // Results of a write, and what a read must find.
  Checksum checksum;  ///< of the block
  EncodedBlock encoded;

  bool done = false;
  Failure failure;
  double seconds = 0;             ///< of the transfer, without its time in the queue
  double started = 0, ended = 0;  ///< on the monotonic clock, checksum included
  double processor_seconds = 0;   ///< of these, in which the I/O thread computed
};

struct TransferTotals {
  std::int64_t bytes_written = 0, bytes_read = 0;
  std::int64_t bytes_encoded = 0;  ///< of states, to be written in fewer
  double seconds_writing = 0, seconds_reading = 0, seconds_checksums = 0;
  TransferTotals& operator+=(const TransferTotals& more) {
    bytes_written += more.bytes_written;
    bytes_read += more.bytes_read;
    bytes_encoded += more.bytes_encoded;
    seconds_writing += more.seconds_writing;
    seconds_reading += more.seconds_reading;
    seconds_checksums += more.seconds_checksums;
    return *this;
  }
  /// Since `before`.
  TransferTotals since(const TransferTotals& before) const {
    return {bytes_written - before.bytes_written,     bytes_read - before.bytes_read,
            bytes_encoded - before.bytes_encoded,     seconds_writing - before.seconds_writing,
            seconds_reading - before.seconds_reading, seconds_checksums - before.seconds_checksums};
  }
};

/// The outcome of a write.
struct FinishedWrite {
  const Segment* segment = nullptr;
  std::int64_t place = 0;
  bool is_copy = false;
  BlockIdentity identity;
  Checksum checksum;
  EncodedBlock encoded;
  Failure failure;
};

struct TransportOptions {
  bool remember_writes = false;       ///< for take_finished_writes
  std::int64_t bytes_per_second = 0;  ///< limit; 0: none
  std::optional<Encoding> encoding;   ///< none: blocks go as they are
  bool cores_are_busy = false;        ///< what the I/O thread computes, the solver has not
  double patience = 60;               ///< in seconds; a caller who has waited for so long ...
  std::function<void(bool write)> late = {};  ///< ... calls this, once a transfer; throws nothing
};

class Transport {
 public:
  virtual ~Transport() = default;
  /// Does a transfer run beside the caller? If not, start() returns when it is done, and is
  /// collective over the ranks of the file.
  virtual bool overlaps() const = 0;
  /// Does a block that was written come back with other numbers, unless it was `exact`?
  virtual bool is_lossy() const { return false; }
  /// Begin a transfer; `transfer` and its bytes must stay in place until it is done. Never throws
  /// for what the disk does: see failure.
  virtual void start(Transfer& transfer) = 0;
  /// Wait until it is done; returns the seconds waited.
  virtual double wait(const Transfer& transfer) = 0;
  virtual bool done(const Transfer& transfer) = 0;
  /// Take back a transfer that waits in the queue; false if it has begun, or is done.
  virtual bool cancel(const Transfer& transfer) = 0;
  virtual TransferTotals totals() const = 0;
  /// The writes since the last call, in order.
  virtual std::vector<FinishedWrite> take_finished_writes() = 0;
};

/// One thread, which only reads and writes at offsets: no HDF5 and no MPI in it.
std::unique_ptr<Transport> make_direct_transport(const BlockLayout& layout,
                                                 const TransportOptions& options);

/// The checksum of a block, as its bytes come along.
class BlockChecksum {
 public:
  BlockChecksum(const BlockLayout& layout, const Transfer& transfer);
  /// The first `end` bytes of part `field` are there; fields come in order.
  void add_up_to(std::size_t field, std::int64_t end);
  /// Encoded bytes instead of a part.
  void add(std::span<const std::byte> encoded) { stream_.add(encoded.data(), encoded.size()); }
  Checksum finish() const { return stream_.finish(); }

 private:
  const BlockLayout& layout_;
  const std::vector<Extent>* extents_ = nullptr;
  const std::int64_t states_;
  const std::byte* bytes_;
  ChecksumStream stream_;
  std::size_t field_ = 0;
  std::int64_t added_ = 0;  ///< bytes of this part; if its states are padded, states
};

/// The checksum of a block.
Checksum checksum_of(const BlockLayout& layout, const Transfer& transfer);

/// The bytes of part `field` in memory.
Extent used_extent(const BlockLayout& layout, const Transfer& transfer, std::size_t field);
/// The bytes of that part that are moved: whole pages, unless the layout has none.
Extent moved_extent(const BlockLayout& layout, const Transfer& transfer, std::size_t field);

/// Sleeps until `moved` bytes may have been moved since `began`.
void keep_to_limit(const TransportOptions& options, double began, std::int64_t moved);

/// Failure of a read.
Failure not_what_was_written(const Transfer& transfer, const std::string& why);
/// Failure of a read whose bytes have the checksum `found`; none if they are those written.
Failure compare(const Transfer& transfer, const Checksum& found);

}  // namespace anadrome::store
