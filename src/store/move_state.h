// Copies a state between the caller's registered fields and its place in the pool.
#pragma once

#include <span>

#include "store/block_layout.h"

namespace anadrome::store {

/// The caller's fields -> state `index` of `block`. Throws ERR_PEER-to-be (see Error) if a pack
/// callback fails; every field is still packed, since callbacks may be collective.
void keep_state(const BlockLayout& layout, std::span<const Field> state_fields, std::byte* block,
                std::int64_t index);

/// The way back.
void restore_state(const BlockLayout& layout, std::span<const Field> state_fields, std::byte* block,
                   std::int64_t index);

}  // namespace anadrome::store
