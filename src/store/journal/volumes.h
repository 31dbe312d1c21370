// SPDX-License-Identifier: BSD-2-Clause
// The directories of a run by number.
#pragma once

namespace anadrome::store {

/// A run has a home, where x_0 and everything goes that has to outlive a node. It may have a faster
/// volume beside it.
inline constexpr int kHome = 0, kFast = 1, kMostVolumes = 2;

}  // namespace anadrome::store
