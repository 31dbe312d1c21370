// SPDX-License-Identifier: BSD-2-Clause
// The versions of what lies on disk: docs/format.md has the bytes.
#pragma once

#include <cstdint>

namespace anadrome::store {

/// The attribute of each HDF5 file of a run that has its format.
inline constexpr const char* kFormatAttribute = "anadrome_format";
/// The format of segments and of the master.
inline constexpr std::int64_t kFormatVersion = 1;
/// ... of segments whose states are compressed.
inline constexpr std::int64_t kCompressedFormatVersion = 2;
/// ... of segments that are kept although they were compressed.
inline constexpr std::int64_t kFilteredFormatVersion = 3;
/// The format of journals. Those of format 1 are read, too: their blocks are not compressed.
inline constexpr std::uint32_t kJournalVersion = 2;

}  // namespace anadrome::store
