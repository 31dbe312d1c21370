// SPDX-License-Identifier: BSD-2-Clause
// The values of fields into memory of the library and back: one field, or all of a state in one
// piece, whose fields take only what they take now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {

/// Does the field change its size?
bool varies(const Field& field);

/// The field's values -> `place`, which has the bytes that a state's part has; or, where the field
/// changes its size, at most so many. Returns ERR_PEER if a callback fails, ERR_ARGUMENT if the
/// field is larger than it was registered.
Failure copy_out(const Field& field, std::byte* place, std::int64_t room);
/// The way back. ERR_CORRUPT: the length before a field of changing size is not one it can have.
Failure copy_in(const Field& field, const std::byte* place, std::int64_t room);
/// All of `fields`, one after the other without gaps. Every field is copied, whatever a callback of
/// an earlier one returned: callbacks may be collective. Returns the first failure.
Failure copy_all_out(std::span<const Field> fields, std::byte* place);
Failure copy_all_in(std::span<const Field> fields, const std::byte* place);

/// How often the movers of `fields` moved values.
std::int64_t moves_of(std::span<const Field> fields);
enum class Way { kOut, kIn };
/// For a rank that has nowhere to keep a state, or none to bring back, while others do: what may be
/// collective is called as it is there, for bytes of no use. Of these it takes as many as the
/// largest packed field has. Returns the first failure.
Failure move_for_others(std::span<const Field> fields, Way way);

// A piece has the fields of fixed size first, so that they have their room whatever the others
// take, and then those of changing size; each begins on 8 bytes.
/// Most that any state with these fields takes.
std::int64_t most_piece_bytes(std::span<const Field> fields);
/// Values -> at most `room` bytes at `place`, which hold at least the fields of fixed size. Returns
/// the bytes of all of them; if these are more than `room`, they are not kept. Throws what copy_out
/// returns, once every other field is copied.
std::int64_t keep_piece(std::span<const Field> fields, std::byte* place, std::int64_t room);
void restore_piece(std::span<const Field> fields, const std::byte* place);

}  // namespace anadrome::store
