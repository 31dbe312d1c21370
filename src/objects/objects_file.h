// SPDX-License-Identifier: BSD-2-Clause
// The file that a store leaves for readers: a dataset /KEY/PART for each part of each object.
#pragma once

#include <string>

#include "objects/objects.h"
#include "store/files/directory.h"

namespace anadrome::store {

/// The name of a rank's file in the store's directory.
std::string objects_file_name(std::int64_t rank);

/// Writes all objects to a new file at `place`. Throws ERR_NO_SPACE, ERR_IO, or what keeps an
/// object from being read, and leaves no file then.
void write_objects_file(Objects& objects, const FilePlace& place, const std::string& run_id);

}  // namespace anadrome::store
