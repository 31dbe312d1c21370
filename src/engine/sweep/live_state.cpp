// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/live_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {

using store::any_exchanged;
using store::BlockLayout;
using store::Field;

namespace {

constexpr std::int64_t kCacheLine = 64;

bool shares_blocks(const BlockLayout& layout) { return layout.states() > 1; }

}  // namespace

std::int64_t LiveState::live_blocks(const BlockLayout& layout, std::span<const Field> fields) {
  return any_exchanged(fields) && !shares_blocks(layout) ? 2 : 0;
}

std::int64_t LiveState::buffer_bytes(const BlockLayout& layout, std::span<const Field> fields) {
  std::int64_t bytes = 0;
  for (const Field& field : fields) {
    if (field.exchanged && shares_blocks(layout)) {
      bytes = checked_add(bytes, 2 * round_up(field.bytes(), kCacheLine));
    }
  }
  return bytes == 0 ? 0 : bytes + kCacheLine;
}

LiveState::LiveState(const BlockLayout& layout, std::vector<Field> state_fields,
                     store::BlockKeeper& blocks)
    : Live(blocks.pool()),
      layout_(layout),
      fields_(std::move(state_fields)),
      blocks_(blocks),
      exchanged_(any_exchanged(fields_)),
      hands_over_(exchanged_ && !shares_blocks(layout)) {
  const auto is_array = [](const Field& field) {
    return !field.exchanged && field.mover == nullptr;
  };
  if (std::all_of(fields_.begin(), fields_.end(), is_array)) {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const auto& [bytes, stride, offset] = layout.parts()[f];
      if (bytes == 0) continue;
      arrays_.push_back({static_cast<std::byte*>(fields_[f].values), size(bytes), offset, stride});
    }
  }
  if (!exchanged_ || hands_over_) return;
  buffers_.resize(fields_.size());
  const std::int64_t bytes = buffer_bytes(layout, fields_);
  if (bytes == 0) return;  // on this rank
  storage_.resize(size(bytes));
  const auto misaligned = static_cast<std::int64_t>(
      reinterpret_cast<std::uintptr_t>(storage_.data()) % static_cast<std::uintptr_t>(kCacheLine));
  std::byte* place = storage_.data() + (misaligned == 0 ? 0 : kCacheLine - misaligned);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (!fields_[f].exchanged) continue;
    const std::int64_t room = round_up(fields_[f].bytes(), kCacheLine);
    buffers_[f] = {place, place + room};
    fields_[f].values = place;
    place += 2 * room;
  }
}

LiveState::~LiveState() {
  let_go(now_);
  let_go(then_);
}

void LiveState::let_go(std::int64_t& block) {
  if (block >= 0) pool_.give_back(block);
  block = -1;
}

void LiveState::make_room_for_step() {
  if (hands_over_ && then_ < 0) then_ = blocks_.take();
}

void LiveState::step_done() {
  if (hands_over_) {
    let_go(now_);
    now_ = std::exchange(then_, -1);
    return;
  }
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (!fields_[f].exchanged) continue;
    std::swap(buffers_[f].now, buffers_[f].then);
    fields_[f].values = buffers_[f].now;
  }
}

std::int64_t LiveState::share_block() {
  if (!hands_over_ || now_ < 0 || pool_.holders(now_) > 1) return -1;
  pool_.hold(now_);
  return now_;
}

// Moves every field, whatever a callback of an earlier one returned: callbacks may be collective.
// `call` has a mover do it, `copy` moves an array.
template <class Call, class Copy>
void LiveState::move_fields(std::byte* block, std::int64_t index, bool with_exchanged,
                            const Call& call, const Copy& copy) {
  Failure failed;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    const auto bytes = size(layout_.parts()[f].bytes);
    std::byte* place = layout_.address(block, index, f);
    if (field.mover != nullptr) {
      if (Failure failure = call(field, place, layout_.parts()[f].bytes))
        failed = std::move(failure);
    } else if (bytes > 0 && (with_exchanged || !field.exchanged)) {
      copy(f, place, bytes);
    }
  }
  if (failed) throw Error(failed.status, failed.message);
}

void LiveState::keep_fields(std::int64_t block, std::int64_t index) {
  move_fields(pool_.address(block), index, !hands_over_ || block != now_, store::copy_out,
              [this](std::size_t f, std::byte* place, std::size_t bytes) {
                const bool from_block = hands_over_ && fields_[f].exchanged;
                std::memcpy(place, from_block ? now(f) : fields_[f].values, bytes);
              });
}

void LiveState::restore_fields(std::int64_t block, std::int64_t index) {
  if (hands_over_ && block != now_) {
    pool_.hold(block);
    let_go(now_);
    now_ = block;
  }
  move_fields(pool_.address(block), index, !hands_over_, store::copy_in,
              [this](std::size_t f, const std::byte* place, std::size_t bytes) {
                std::memcpy(fields_[f].values, place, bytes);
              });
}

void LiveState::keep_at(std::byte* place, std::int64_t room) {
  store::keep_piece(fields_, place, room);
}

void LiveState::restore_from(const std::byte* place) { store::restore_piece(fields_, place); }

void LiveState::take_fingerprints(std::span<Fingerprint> prints, std::span<std::byte> room,
                                  std::span<const Fingerprint> first) const {
  Failure failed;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    prints[f] = {};
    if (field.mover == nullptr) {
      const void* const values = field.exchanged ? now(f) : field.values;
      if (values == nullptr) continue;
      prints[f] = fingerprint(field.type, values, field.count, first.empty() ? nullptr : &first[f]);
    } else if (!room.empty()) {
      std::ranges::fill(room, std::byte{0});  // what is not packed is the same always
      const auto bytes = size(field.bytes());
      if (Failure failure = store::copy_out(field, room.data(), field.bytes())) {
        failed = std::move(failure);
      }
      prints[f] = fingerprint(room.data(), static_cast<std::int64_t>(bytes));
    }
  }
  if (failed) throw Error(failed.status, failed.message);
}

Apart LiveState::apart_from(std::int64_t block, std::size_t field, const Fingerprint& first) const {
  const Field& f = fields_[field];
  const std::byte* const kept = layout_.address(pool_.address(block), 0, field);
  return apart(f.type, kept, f.exchanged ? now(field) : f.values, f.count, first);
}

const void* LiveState::now(std::size_t field) const {
  if (!fields_[field].exchanged) return nullptr;
  if (!hands_over_) return buffers_[field].now;
  return now_ < 0 ? nullptr : layout_.address(pool_.address(now_), 0, field);
}

void* LiveState::then(std::size_t field) const {
  if (!fields_[field].exchanged) return nullptr;
  if (!hands_over_) return buffers_[field].then;
  return then_ < 0 ? nullptr : layout_.address(pool_.address(then_), 0, field);
}

}  // namespace anadrome::engine
