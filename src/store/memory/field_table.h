// SPDX-License-Identifier: BSD-2-Clause
// The fields of one rank as text: a line "name role type count" for each, in the order of their
// registration. It says whether two programs mean the same fields, and how a block of theirs lies.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/memory/block_layout.h"

namespace anadrome::store {

/// "name (role, type)".
std::string described(const Field& field);

/// "float64".
std::string_view type_name(anadrome_type type);

std::string field_table(std::span<const Field> fields);

/// Back from a file, which may say anything. Throws ERR_CORRUPT naming the line.
std::vector<Field> parse_field_table(std::string_view table);

}  // namespace anadrome::store
