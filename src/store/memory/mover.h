// SPDX-License-Identifier: BSD-2-Clause
// How the values of a field get into memory of the library and back, where they are not an array
// that memcpy can copy: packed by the caller, or in the memory of a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {

class DeviceMover;

/// A field without a mover is copied by memcpy, and nothing is called.
class Mover {
 public:
  virtual ~Mover() = default;
  /// Does the field change its size? Then it takes bytes_now() bytes, and not more than its count
  /// says, and its bytes have their number before them.
  virtual bool varies() const { return false; }
  virtual std::uint64_t bytes_now() const { return 0; }
  /// The field's values -> `bytes` bytes at `place`, and back. May be collective over ranks, if the
  /// size is fixed: called on all of them for every field, whatever became of the others.
  virtual Failure copy_out(const Field& field, std::byte* place, std::size_t bytes) const = 0;
  virtual Failure copy_in(const Field& field, const std::byte* place, std::size_t bytes) const = 0;

  /// This, if the field is in the memory of a device: then nobody is called back.
  virtual const DeviceMover* on_device() const { return nullptr; }

  /// How often values were moved.
  std::int64_t moves() const { return moves_; }
  void count_move() const { ++moves_; }

 private:
  mutable std::int64_t moves_ = 0;
};

}  // namespace anadrome::store
