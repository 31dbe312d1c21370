#include "store/live_state.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/checksum.h"
#include "base/error.h"

namespace anadrome::store {
namespace {

constexpr std::int64_t kCacheLine = 64;

bool any_exchanged(std::span<const Field> fields) {
  return std::any_of(fields.begin(), fields.end(), [](const Field& f) { return f.exchanged; });
}

bool shares_blocks(const BlockLayout& layout) { return layout.states() > 1; }

Failure judge(const char* callback, const Field& field, int code) {
  if (code == 0) return {};
  return {ANADROME_ERR_PEER, std::string("the ") + callback + " callback of field '" + field.name +
                                 "' returned " + std::to_string(code)};
}

Failure too_large(const Field& field, std::uint64_t bytes) {
  return {ANADROME_ERR_ARGUMENT, "field '" + field.name + "' takes " + std::to_string(bytes) +
                                     " bytes, and was registered with " +
                                     std::to_string(field.count - kLengthBytes) + " at most"};
}

// A field of changing size has its length before it.
Failure pack(const Field& field, std::byte* place, std::size_t room) {
  if (field.size == nullptr) {
    return judge("pack", field, field.pack(field.context, place, room));
  }
  const std::uint64_t bytes = field.size(field.context);
  if (bytes > room - kLengthBytes) return too_large(field, bytes);
  std::memcpy(place, &bytes, kLengthBytes);
  return judge("pack", field, field.pack(field.context, place + kLengthBytes, bytes));
}

Failure unpack(const Field& field, const std::byte* place, std::size_t room) {
  if (field.size == nullptr) {
    return judge("unpack", field, field.unpack(field.context, place, room));
  }
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, place, kLengthBytes);
  if (bytes > room - kLengthBytes) {
    return {ANADROME_ERR_CORRUPT, "field '" + field.name + "' has come back with a length of " +
                                      std::to_string(bytes) + " bytes"};
  }
  return judge("unpack", field, field.unpack(field.context, place + kLengthBytes, bytes));
}

Failure copy_back(const Field& field, const std::byte* place, std::int64_t bytes) {
  if (field.pack != nullptr) return unpack(field, place, static_cast<std::size_t>(bytes));
  if (bytes > 0) std::memcpy(field.values, place, static_cast<std::size_t>(bytes));
  return {};
}

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

LiveState::LiveState(const BlockLayout& layout, std::vector<Field> state_fields, Pool& pool,
                     std::function<std::int64_t()> take_block)
    : layout_(layout),
      fields_(std::move(state_fields)),
      pool_(pool),
      take_block_(std::move(take_block)),
      exchanged_(any_exchanged(fields_)),
      hands_over_(exchanged_ && !shares_blocks(layout)) {
  if (!exchanged_ || hands_over_) return;
  buffers_.resize(fields_.size());
  const std::int64_t bytes = buffer_bytes(layout, fields_);
  if (bytes == 0) return;  // on this rank
  storage_.resize(static_cast<std::size_t>(bytes));
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
  if (hands_over_ && then_ < 0) then_ = take_block_();
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

std::int64_t LiveState::block_to_keep_in(const std::function<std::int64_t()>& take_block) {
  if (!hands_over_ || now_ < 0 || pool_.holders(now_) > 1) return take_block();
  pool_.hold(now_);
  return now_;
}

// Moves every field, whatever a callback of an earlier one returned: callbacks may be collective.
// `call` runs a field's callback, `copy` moves an array.
template <class Call, class Copy>
void LiveState::move_fields(std::byte* block, std::int64_t index, bool with_exchanged,
                            const Call& call, const Copy& copy) {
  Failure failed;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    const auto bytes = static_cast<std::size_t>(layout_.parts()[f].bytes);
    std::byte* place = layout_.address(block, index, f);
    if (field.pack != nullptr) {
      if (Failure failure = call(field, place, bytes)) failed = std::move(failure);
    } else if (bytes > 0 && (with_exchanged || !field.exchanged)) {
      copy(f, place, bytes);
    }
  }
  if (failed) throw Error(failed.status, failed.message);
}

void LiveState::keep(std::int64_t block, std::int64_t index) {
  move_fields(pool_.address(block), index, !hands_over_ || block != now_, pack,
              [this](std::size_t f, std::byte* place, std::size_t bytes) {
                const bool from_block = hands_over_ && fields_[f].exchanged;
                std::memcpy(place, from_block ? now(f) : fields_[f].values, bytes);
              });
}

void LiveState::restore(std::int64_t block, std::int64_t index) {
  if (hands_over_ && block != now_) {
    pool_.hold(block);
    let_go(now_);
    now_ = block;
  }
  move_fields(pool_.address(block), index, !hands_over_, unpack,
              [this](std::size_t f, const std::byte* place, std::size_t bytes) {
                std::memcpy(fields_[f].values, place, bytes);
              });
}

// ---- in one piece ----

std::int64_t LiveState::most_piece_bytes(std::span<const Field> fields, std::int64_t alignment) {
  std::int64_t bytes = 0;
  for (const Field& field : fields) bytes = checked_add(bytes, round_up(field.bytes(), alignment));
  return bytes;
}

std::int64_t LiveState::bytes_now() const {
  std::int64_t bytes = 0;
  for (const Field& field : fields_) {
    bytes += field.size != nullptr ? static_cast<std::int64_t>(field.size(field.context))
                                   : field.bytes();
  }
  return bytes;
}

// Callbacks of fields of fixed size may be collective: these have their room whatever the others
// take.
template <class Visit>
void LiveState::visit_piece(const Visit& visit) {
  for (const bool varying : {false, true}) {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if ((fields_[f].size != nullptr) == varying) visit(f, fields_[f]);
    }
  }
}

std::int64_t LiveState::keep_aligned(std::byte* place, std::int64_t room, std::int64_t alignment,
                                     std::vector<Extent>* extents) {
  std::int64_t taken = 0;
  Failure failed;
  visit_piece([&](std::size_t f, const Field& field) {
    std::int64_t bytes = field.bytes();
    if (field.size != nullptr) {
      const std::uint64_t now = field.size(field.context);
      if (now > static_cast<std::uint64_t>(bytes - kLengthBytes)) {
        failed = too_large(field, now);
        return;
      }
      bytes = static_cast<std::int64_t>(now) + kLengthBytes;
    }
    if (extents != nullptr) (*extents)[f] = {taken, bytes};
    std::byte* to = place + taken;
    taken += round_up(bytes, alignment);
    if (taken > room) return;
    if (field.pack == nullptr) {
      if (bytes > 0) std::memcpy(to, field.values, static_cast<std::size_t>(bytes));
    } else if (Failure failure = pack(field, to, static_cast<std::size_t>(bytes))) {
      failed = std::move(failure);
    }
  });
  if (failed) throw Error(failed.status, failed.message);
  return taken;
}

std::int64_t LiveState::keep_in_piece(std::byte* place, std::int64_t room) {
  return keep_aligned(place, room, kLengthBytes, nullptr);
}

std::int64_t LiveState::keep_in_pages(std::byte* place, std::int64_t room,
                                      std::vector<Extent>& extents) {
  extents.resize(fields_.size());
  return keep_aligned(place, room, kPage, &extents);
}

void LiveState::restore_piece(const std::byte* place) {
  Failure failed;
  visit_piece([&](std::size_t, const Field& field) {
    std::int64_t bytes = field.bytes();
    if (field.size != nullptr) {
      std::memcpy(&bytes, place, kLengthBytes);
      bytes += kLengthBytes;
    }
    if (Failure failure = copy_back(field, place, bytes)) failed = std::move(failure);
    place += round_up(bytes, kLengthBytes);
  });
  if (failed) throw Error(failed.status, failed.message);
}

void LiveState::restore_pages(const std::byte* place, const std::vector<Extent>& extents) {
  Failure failed;
  visit_piece([&](std::size_t f, const Field& field) {
    const auto& [offset, bytes] = extents.at(f);
    if (Failure failure = copy_back(field, place + offset, bytes)) failed = std::move(failure);
  });
  if (failed) throw Error(failed.status, failed.message);
}

std::uint64_t LiveState::hash() const {
  ChecksumStream stream;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (fields_[f].pack != nullptr || layout_.parts()[f].bytes == 0) continue;
    const void* values = fields_[f].exchanged ? now(f) : fields_[f].values;
    stream.add(values, static_cast<std::size_t>(layout_.parts()[f].bytes));
  }
  return stream.finish().low;
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

}  // namespace anadrome::store
