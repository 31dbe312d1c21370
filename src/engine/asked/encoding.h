// SPDX-License-Identifier: BSD-2-Clause
// How a run's states are encoded on disk, by its options and fields.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/asked/options.h"
#include "store/moving/encoded_part.h"

namespace anadrome::engine {

/// None: as they are.
std::optional<store::Encoding> encoding_of(const Options& options,
                                           std::span<const store::Field> fields);

/// The settings that a process that goes on must share, a line each.
std::string encoding_lines(const Options& options, std::span<const store::Field> fields);

}  // namespace anadrome::engine
