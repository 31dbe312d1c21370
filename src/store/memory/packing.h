// SPDX-License-Identifier: BSD-2-Clause
// Fields whose values the caller packs and unpacks.
#pragma once

#include "base/callback.h"
#include "store/memory/mover.h"

namespace anadrome::store {

class Packing final : public Mover {
 public:
  /// `size`: of a field that changes it; otherwise NULL.
  Packing(anadrome_pack_fn pack, anadrome_unpack_fn unpack, void* context,
          anadrome_size_fn size = nullptr)
      : pack_(pack), unpack_(unpack), context_(context), size_(size) {}

  bool varies() const override { return size_ != nullptr; }
  std::uint64_t bytes_now() const override {
    std::uint64_t bytes = 0;
    const Failure failed = failure_from([&] { bytes = call_back(size_, context_); });
    if (failed) throw Error(failed.status, "the size callback of a field " + failed.message);
    return bytes;
  }
  Failure copy_out(const Field& field, std::byte* place, std::size_t bytes) const override {
    return ask("pack", field, pack_, place, bytes);
  }
  Failure copy_in(const Field& field, const std::byte* place, std::size_t bytes) const override {
    return ask("unpack", field, unpack_, place, bytes);
  }

 private:
  template <class Function, class Place>
  Failure ask(const char* name, const Field& field, Function function, Place place,
              std::size_t bytes) const {
    return failure_of_callback({"the ", name, " callback of field '", field.name, "'"}, function,
                               context_, place, bytes);
  }

  anadrome_pack_fn pack_;
  anadrome_unpack_fn unpack_;
  void* context_;
  anadrome_size_fn size_;
};

}  // namespace anadrome::store
