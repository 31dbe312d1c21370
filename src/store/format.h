// SPDX-License-Identifier: BSD-2-Clause
// The versions of what lies on disk: docs/format.md has the bytes.
#pragma once

#include <cstdint>

namespace anadrome::store {

/// The format of segments and of the master: their attribute anadrome_format.
inline constexpr std::int64_t kFormatVersion = 1;
/// The format of journals.
inline constexpr std::uint32_t kJournalVersion = 1;

}  // namespace anadrome::store
