// SPDX-License-Identifier: BSD-2-Clause
// HDF5's LZ4 filter, for this process: kept files of compressed states are read whether or not the
// machine has a plugin for it.
#pragma once

namespace anadrome::tool {

/// From here on HDF5 reads such datasets.
void register_lz4_filter();

}  // namespace anadrome::tool
