// SPDX-License-Identifier: BSD-2-Clause
// XXH3-128 over several pieces of memory, and the same over a value for table keys.
#pragma once

#include <xxhash.h>
// Distributions build libxxhash for the oldest processor. Some of these libraries have the vectors
// of newer ones, too, chosen at run time, with the same sums.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
#pragma weak XXH3_128bits_update_dispatch
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

namespace anadrome {

struct Checksum {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Checksum&) const = default;
};

/// Feed pieces, then ask for the sum.
class ChecksumStream {
 public:
  ChecksumStream() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  void add(const void* bytes, std::size_t count) {
#ifdef XXH_DISPATCH_DISABLE_REPLACE
    if (XXH3_128bits_update_dispatch != nullptr) {
      XXH3_128bits_update_dispatch(state_.get(), bytes, count);
      return;
    }
#endif
    XXH3_128bits_update(state_.get(), bytes, count);
  }
  template <class Value>
  void add_value(const Value& value) {
    static_assert(std::has_unique_object_representations_v<Value>);
    add(&value, sizeof value);
  }
  Checksum finish() const {
    const XXH128_hash_t sum = XXH3_128bits_digest(state_.get());
    return {sum.low64, sum.high64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

inline std::uint64_t hash_of(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace anadrome
