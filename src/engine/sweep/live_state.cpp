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

using device::Device;
using device::Route;
using device::Ticket;
using store::any_exchanged;
using store::BlockLayout;
using store::Field;

namespace {

constexpr std::int64_t kCacheLine = 64;

bool shares_blocks(const BlockLayout& layout) { return layout.states() > 1; }

bool lives_on_device(const Field& field) {
  return field.exchanged && store::on_device(field) != nullptr;
}
bool lives_on_host(const Field& field) {
  return field.exchanged && store::on_device(field) == nullptr;
}
bool any_on_host(std::span<const Field> fields) {
  return std::ranges::any_of(fields, lives_on_host);
}

Ticket& ticket_at(std::vector<Ticket>& tickets, std::int64_t number) {
  if (number >= std::ssize(tickets)) tickets.resize(size(number) + 1);
  return tickets[size(number)];
}

}  // namespace

std::int64_t LiveState::live_blocks(const BlockLayout& layout, std::span<const Field> fields) {
  return any_on_host(fields) && !shares_blocks(layout) ? 2 : 0;
}

std::int64_t LiveState::buffer_bytes(const BlockLayout& layout, std::span<const Field> fields) {
  std::int64_t bytes = 0;
  for (const Field& field : fields) {
    if (lives_on_host(field) && shares_blocks(layout)) {
      bytes = checked_add(bytes, 2 * round_up(field.bytes(), kCacheLine));
    }
  }
  return bytes == 0 ? 0 : bytes + kCacheLine;
}

// Of a state in slots of a device.
class LiveState::OnDevice final : public store::Live {
 public:
  explicit OnDevice(LiveState& state) : Live(state.slots_->pool()), state_(state) {}

  std::int64_t share_block() override {
    return state_.hands_over_ == HandsOver::kDevice ? state_.share() : -1;
  }
  void keep_at(std::byte* place, std::int64_t room) override { state_.keep_at(place, room); }
  void restore_from(const std::byte* place) override { state_.restore_from(place); }

 private:
  void keep_fields(std::int64_t block, std::int64_t) override { state_.keep_in_slot(block); }
  void restore_fields(std::int64_t block, std::int64_t) override { state_.restore_slot(block); }

  LiveState& state_;
};

LiveState::LiveState(const BlockLayout& layout, std::vector<Field> state_fields,
                     store::BlockKeeper& blocks, const ForDevices& devices)
    : Live(blocks.pool()),
      layout_(layout),
      fields_(std::move(state_fields)),
      blocks_(blocks),
      slots_(devices.slots),
      pins_(devices.pins),
      begins_(devices.begins),
      exchanged_(any_exchanged(fields_)) {
  if (std::ranges::any_of(fields_, lives_on_device)) {
    hands_over_ = HandsOver::kDevice;
  } else if (exchanged_ && !shares_blocks(layout)) {
    hands_over_ = HandsOver::kHost;
  }
  if (slots_ != nullptr) on_device_ = std::make_unique<OnDevice>(*this);
  for (auto& newest : newest_) newest.resize(fields_.size());
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
  if (!exchanged_ || hands_over_ != HandsOver::kNobody) return;
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
  static_cast<void>(finish_copies());  // first: they use the memory
  let_go(now_);
  let_go(then_);
}

void LiveState::let_go(std::int64_t& block) {
  if (block >= 0) home().pool().give_back(block);
  block = -1;
}

// What is still being copied from a block of a device is not written before.
void LiveState::make_room_for_step() {
  if (hands_over_ == HandsOver::kNobody || then_ >= 0) return;
  then_ = home().take();
  if (hands_over_ != HandsOver::kDevice) return;
  for (const Field& field : fields_) {
    if (lives_on_device(field) && field.count > 0)
      store::on_device(field)->device().follow(store::on_device(field)->stream(),
                                               ticket_at(of_slots_, then_));
  }
}

void LiveState::is_now(std::int64_t block) {
  now_ = block;
  if (hands_over_ != HandsOver::kDevice) return;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (fields_[f].exchanged) fields_[f].values = block < 0 ? nullptr : address(block, f);
  }
}

void LiveState::step_done() {
  if (hands_over_ != HandsOver::kNobody) {
    let_go(now_);
    return is_now(std::exchange(then_, -1));
  }
  for (std::size_t f = 0; f < buffers_.size(); ++f) {
    if (!fields_[f].exchanged) continue;
    std::swap(buffers_[f].now, buffers_[f].then);
    fields_[f].values = buffers_[f].now;
  }
}

std::int64_t LiveState::share() {
  if (now_ < 0 || home().pool().holders(now_) > 1) return -1;
  home().pool().hold(now_);
  return now_;
}

std::int64_t LiveState::share_block() { return hands_over_ == HandsOver::kHost ? share() : -1; }

// ---- copies ----

// Every field is copied, whatever a callback of an earlier one returned: callbacks may be
// collective.
template <class Each>
void LiveState::each_field(const Each& each) {
  Failure failed;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (Failure failure = each(f)) failed = std::move(failure);
  }
  if (failed) throw Error(failed.status, failed.message);
}

bool LiveState::begins(std::size_t field) const {
  return begins_ && store::on_device(fields_[field]) != nullptr;
}

Failure LiveState::copy_out(std::size_t f, std::byte* place) {
  const Field& field = fields_[f];
  const std::int64_t bytes = layout_.parts()[f].bytes;
  if (field.mover != nullptr) return store::copy_out(field, place, bytes);
  const bool in_block = is_handed_over(f);
  if (bytes > 0) std::memcpy(place, in_block ? now(f) : field.values, size(bytes));
  return {};
}

Failure LiveState::copy_in(std::size_t f, const std::byte* place) {
  return store::copy_in(fields_[f], place, layout_.parts()[f].bytes);
}

// Begins a copy to or from a block of the host's pool, if the field has elements.
template <class Copy>
void LiveState::begin(std::size_t f, std::int64_t block, const Copy& copy) {
  const store::DeviceMover& mover = *store::on_device(fields_[f]);
  mover.count_move();
  const auto bytes = size(fields_[f].bytes());
  if (bytes == 0) return;
  if (pins_ != nullptr) pins_->pin(block, pool_.address(block));
  newest_[0][f] = copy(mover, bytes);
  ticket_at(of_blocks_, block) = newest_[0][f];
}

void LiveState::begin_out(std::size_t f, std::byte* place, std::int64_t block) {
  begin(f, block, [&](const store::DeviceMover& mover, std::size_t bytes) {
    const void* const from = fields_[f].values;
    std::byte* const staging = slots_ != nullptr ? slots_->staging(f) : nullptr;
    if (staging != nullptr) {
      mover.device().copy_by(staging, slots_->staged(f), place, from, bytes, mover.stream());
      return slots_->staged(f);
    }
    if (!is_handed_over(f))
      return mover.device().copy(Route::kFar, place, from, bytes, mover.stream());
    return ticket_at(of_slots_, now_) = mover.device().copy(
               Route::kFar, place, from, bytes, mover.stream(), Device::After::kNothing);
  });
}

void LiveState::begin_in(std::size_t f, const std::byte* place, std::int64_t block) {
  begin(f, block, [&](const store::DeviceMover& mover, std::size_t bytes) {
    return mover.device().copy(Route::kFar, fields_[f].values, place, bytes, mover.stream());
  });
}

void LiveState::keep_fields(std::int64_t block, std::int64_t index) {
  each_field([&](std::size_t f) -> Failure {
    std::byte* const place = layout_.address(pool_.address(block), index, f);
    if (hands_over_ == HandsOver::kHost && block == now_ && is_handed_over(f)) return {};
    if (!begins(f)) return copy_out(f, place);
    return failure_from([&] { begin_out(f, place, block); });
  });
}

void LiveState::restore_fields(std::int64_t block, std::int64_t index) {
  if (hands_over_ == HandsOver::kHost && block != now_) {
    pool_.hold(block);
    let_go(now_);
    now_ = block;
  } else if (hands_over_ == HandsOver::kDevice) {
    let_go(now_);
    is_now(home().take());
  }
  each_field([&](std::size_t f) -> Failure {
    const std::byte* const place = layout_.address(pool_.address(block), index, f);
    if (hands_over_ == HandsOver::kHost && is_handed_over(f)) return {};
    if (!begins(f)) return copy_in(f, place);
    return failure_from([&] { begin_in(f, place, block); });
  });
}

// ---- in slots of a device ----

void LiveState::keep_in_slot(std::int64_t block) {
  each_field([&](std::size_t f) -> Failure {
    std::byte* const place = slots_->address(block, f);
    const store::DeviceMover* const mover = store::on_device(fields_[f]);
    if (mover == nullptr) return copy_out(f, place);
    mover->count_move();
    const auto bytes = size(fields_[f].bytes());
    if (bytes == 0 || (is_handed_over(f) && block == now_)) return {};
    return failure_from([&] {
      newest_[1][f] =
          mover->device().copy(Route::kNear, place, fields_[f].values, bytes, mover->stream(),
                               Device::After::kCaller, ticket_at(of_slots_, block));
    });
  });
}

void LiveState::restore_slot(std::int64_t block) {
  if (hands_over_ == HandsOver::kDevice && block != now_) {
    home().pool().hold(block);
    let_go(now_);
    is_now(block);
  }
  each_field([&](std::size_t f) -> Failure {
    const std::byte* const place = slots_->address(block, f);
    const store::DeviceMover* const mover = store::on_device(fields_[f]);
    if (mover == nullptr) return copy_in(f, place);
    mover->count_move();
    const auto bytes = size(fields_[f].bytes());
    if (bytes == 0 || is_handed_over(f)) return {};
    return failure_from([&] {
      newest_[1][f] =
          mover->device().copy(Route::kNear, fields_[f].values, place, bytes, mover->stream());
    });
  });
}

Ticket LiveState::ticket(std::int64_t block) const {
  return block >= 0 && block < std::ssize(of_blocks_) ? of_blocks_[size(block)] : Ticket();
}

Failure LiveState::finish_copies() const {
  Failure failed;
  for (const auto& newest : newest_) {
    for (const Ticket& ticket : newest) {
      if (Failure failure = ticket.wait()) failed = std::move(failure);
    }
  }
  return failed;
}

void LiveState::keep_at(std::byte* place, std::int64_t room) {
  store::keep_piece(fields_, place, room);
}

void LiveState::restore_from(const std::byte* place) { store::restore_piece(fields_, place); }

void LiveState::take_fingerprints(std::span<Fingerprint> prints,
                                  std::optional<std::span<std::byte>> room,
                                  std::span<const Fingerprint> first) const {
  Failure failed;
  std::byte nothing{};  // of a rank without elements, whose callback is called like the others'
  std::byte* const to = room && !room->empty() ? room->data() : &nothing;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const Field& field = fields_[f];
    prints[f] = {};
    if (field.mover == nullptr) {
      const void* const values = field.exchanged ? now(f) : field.values;
      if (values == nullptr) continue;
      prints[f] = fingerprint(field.type, values, field.count, first.empty() ? nullptr : &first[f]);
    } else if (room && (field.values != nullptr || store::is_packed(field))) {
      std::ranges::fill(*room, std::byte{0});  // what is not packed is the same always
      if (Failure failure = store::copy_out(field, to, field.bytes())) {
        failed = std::move(failure);
      }
      prints[f] = fingerprint(to, field.bytes());
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
  if (hands_over_ == HandsOver::kNobody) return buffers_[field].now;
  return now_ < 0 ? nullptr : address(now_, field);
}

void* LiveState::then(std::size_t field) const {
  if (!fields_[field].exchanged) return nullptr;
  if (hands_over_ == HandsOver::kNobody) return buffers_[field].then;
  return then_ < 0 ? nullptr : address(then_, field);
}

}  // namespace anadrome::engine
