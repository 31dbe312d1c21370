// SPDX-License-Identifier: BSD-2-Clause
// The bytes after the last whole record of a journal: none, a commit that was under way when the
// run ended, or records that were synced once and have changed since.
#pragma once

#include <cstdint>
#include <string>

namespace anadrome::tool {

enum class Tail {
  kNothing,
  kUnfinished,  ///< as a crash leaves it; a change in the newest commit cannot be told from that
  kDamage       ///< something was written behind it, and that is done only once it was synced
};

/// `good_bytes`: up to here the journal at `path` is whole, and not empty. Throws ERR_IO.
Tail tail_of(const std::string& path, std::int64_t good_bytes);

}  // namespace anadrome::tool
