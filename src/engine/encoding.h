// SPDX-License-Identifier: BSD-2-Clause
// How a run's states are encoded on disk, by its options and fields.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/options.h"
#include "store/encoded_part.h"

namespace anadrome::engine {

/// None: as they are.
std::optional<store::Encoding> encoding_of(const Options& options,
                                           std::span<const store::Field> fields);

/// What a process that goes on must have set alike, a line each.
std::string encoding_lines(const Options& options, std::span<const store::Field> fields);

}  // namespace anadrome::engine
