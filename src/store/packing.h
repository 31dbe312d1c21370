// SPDX-License-Identifier: BSD-2-Clause
// Fields whose values the caller packs and unpacks.
#pragma once

#include "base/arithmetic.h"
#include "store/mover.h"

namespace anadrome::store {

class Packing final : public Mover {
 public:
  /// `size`: of a field that changes it; otherwise NULL.
  Packing(anadrome_pack_fn pack, anadrome_unpack_fn unpack, void* context,
          anadrome_size_fn size = nullptr)
      : pack_(pack), unpack_(unpack), context_(context), size_(size) {}

  bool varies() const override { return size_ != nullptr; }
  std::uint64_t bytes_now() const override { return call_back(size_, context_); }
  Failure copy_out(const Field& field, std::byte* place, std::size_t bytes) const override {
    return judge("pack", field, call_back(pack_, context_, place, bytes));
  }
  Failure copy_in(const Field& field, const std::byte* place, std::size_t bytes) const override {
    return judge("unpack", field, call_back(unpack_, context_, place, bytes));
  }

 private:
  static Failure judge(const char* callback, const Field& field, int code) {
    if (code == 0) return {};
    return {ANADROME_ERR_PEER, std::string("the ") + callback + " callback of field '" +
                                   field.name + "' returned " + std::to_string(code)};
  }

  anadrome_pack_fn pack_;
  anadrome_unpack_fn unpack_;
  void* context_;
  anadrome_size_fn size_;
};

}  // namespace anadrome::store
