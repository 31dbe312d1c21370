// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/field_copy.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/index.h"
#include "store/memory/mover.h"

namespace anadrome::store {
namespace {

Failure too_large(const Field& field, std::uint64_t bytes) {
  return {ANADROME_ERR_ARGUMENT, "field '" + field.name + "' takes " + std::to_string(bytes) +
                                     " bytes, and was registered with " +
                                     std::to_string(field.count - kLengthBytes) + " at most"};
}

// Calls visit(field) in the order of a piece.
template <class Visit>
void visit_piece(std::span<const Field> fields, const Visit& visit) {
  for (const bool varying : {false, true}) {
    for (const Field& field : fields) {
      if (varies(field) == varying) visit(field);
    }
  }
}

template <class Byte>
Failure copy_all(std::span<const Field> fields, Byte* place,
                 Failure (*copy)(const Field&, Byte*, std::int64_t)) {
  Failure first;
  for (const Field& field : fields) {
    const Failure failure = copy(field, place, field.bytes());
    if (!first) first = failure;
    place += field.bytes();
  }
  return first;
}

}  // namespace

bool varies(const Field& field) { return field.mover != nullptr && field.mover->varies(); }

Failure copy_out(const Field& field, std::byte* place, std::int64_t room) {
  const auto bytes = size(room);
  if (field.mover == nullptr) {
    if (bytes > 0) std::memcpy(place, field.values, bytes);
    return {};
  }
  field.mover->count_move();
  if (!field.mover->varies()) return field.mover->copy_out(field, place, bytes);
  const std::uint64_t now = field.mover->bytes_now();
  if (now > bytes - kLengthBytes) return too_large(field, now);
  std::memcpy(place, &now, kLengthBytes);
  return field.mover->copy_out(field, place + kLengthBytes, now);
}

Failure copy_in(const Field& field, const std::byte* place, std::int64_t room) {
  const auto bytes = size(room);
  if (field.mover == nullptr) {
    if (bytes > 0) std::memcpy(field.values, place, bytes);
    return {};
  }
  field.mover->count_move();
  if (!field.mover->varies()) return field.mover->copy_in(field, place, bytes);
  std::uint64_t then = 0;
  std::memcpy(&then, place, kLengthBytes);
  if (then > bytes - kLengthBytes) {
    return {ANADROME_ERR_CORRUPT, "field '" + field.name + "' has come back with a length of " +
                                      std::to_string(then) + " bytes"};
  }
  return field.mover->copy_in(field, place + kLengthBytes, then);
}

Failure copy_all_out(std::span<const Field> fields, std::byte* place) {
  return copy_all(fields, place, copy_out);
}

Failure copy_all_in(std::span<const Field> fields, const std::byte* place) {
  return copy_all(fields, place, copy_in);
}

std::int64_t moves_of(std::span<const Field> fields) {
  std::int64_t moves = 0;
  for (const Field& field : fields) moves += field.mover != nullptr ? field.mover->moves() : 0;
  return moves;
}

Failure move_for_others(std::span<const Field> fields, Way way) {
  Failure first;
  std::vector<std::byte> bytes;
  for (const Field& field : fields) {
    if (!is_packed(field) || varies(field)) continue;
    bytes.assign(size(field.bytes()), std::byte{0});
    Failure failure = way == Way::kOut ? copy_out(field, bytes.data(), field.bytes())
                                       : copy_in(field, bytes.data(), field.bytes());
    if (!first) first = std::move(failure);
  }
  return first;
}

std::int64_t most_piece_bytes(std::span<const Field> fields) {
  std::int64_t bytes = 0;
  for (const Field& field : fields)
    bytes = checked_add(bytes, round_up(field.bytes(), kLengthBytes));
  return bytes;
}

std::int64_t keep_piece(std::span<const Field> fields, std::byte* place, std::int64_t room) {
  std::int64_t taken = 0;
  Failure failed;
  visit_piece(fields, [&](const Field& field) {
    std::int64_t bytes = field.bytes();
    if (varies(field)) {
      const std::uint64_t now = field.mover->bytes_now();
      if (now > static_cast<std::uint64_t>(bytes - kLengthBytes)) {
        failed = too_large(field, now);
        return;
      }
      bytes = static_cast<std::int64_t>(now) + kLengthBytes;
    }
    std::byte* to = place + taken;
    taken += round_up(bytes, kLengthBytes);
    if (taken > room) return;
    if (Failure failure = copy_out(field, to, bytes)) failed = std::move(failure);
  });
  if (failed) throw Error(failed.status, failed.message);
  return taken;
}

void restore_piece(std::span<const Field> fields, const std::byte* place) {
  Failure failed;
  std::int64_t next = 0;
  visit_piece(fields, [&](const Field& field) {
    std::int64_t bytes = field.bytes();
    if (varies(field)) {
      std::memcpy(&bytes, place + next, kLengthBytes);
      bytes += kLengthBytes;
    }
    if (Failure failure = copy_in(field, place + next, bytes)) failed = std::move(failure);
    next += round_up(bytes, kLengthBytes);
  });
  if (failed) throw Error(failed.status, failed.message);
}

}  // namespace anadrome::store
