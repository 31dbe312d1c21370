// SPDX-License-Identifier: BSD-2-Clause
// Copies that the host waits for, of whoever has a pointer and no more.
#pragma once

#include <cstddef>

namespace anadrome::device {

/// After what is queued on the default stream of the device that `on_device`, one of the two ends,
/// is on. Throws ERR_UNSUPPORTED if no driver knows it, ERR_IO for what that refuses.
void copy_at_once(void* to, const void* from, std::size_t bytes, const void* on_device);

}  // namespace anadrome::device
