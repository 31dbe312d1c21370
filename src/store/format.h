// The versions of what lies on disk: docs/format.md has the bytes.
#pragma once

#include <cstdint>

namespace anadrome::store {

/// Of segments and of the master: their attribute anadrome_format.
inline constexpr std::int64_t kFormatVersion = 1;
/// Of journals, which have one of their own.
inline constexpr std::uint32_t kJournalVersion = 1;

}  // namespace anadrome::store
