// SPDX-License-Identifier: BSD-2-Clause
#include "store/objects.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/byte_size.h"
#include "base/checked.h"

namespace anadrome::store {
namespace {

using Rank = ObjectBlocks::Rank;

constexpr Rank kNever = std::numeric_limits<Rank>::max();
/// Entry i of the list of expect has the rank kExpected + i: before all others.
constexpr Rank kExpected = std::numeric_limits<Rank>::min() / 2;
bool is_expected(Rank rank) { return rank < kExpected / 2; }

/// Objects and their parts begin at multiples of this, as arrays of any type want it.
constexpr std::int64_t kAlign = 16;

std::string text(Objects::Key key) { return "object " + std::to_string(key); }

bool same(const std::vector<Objects::Part>& parts, std::span<const Objects::Array> arrays) {
  return std::equal(parts.begin(), parts.end(), arrays.begin(), arrays.end(),
                    [](const Objects::Part& part, const Objects::Array& array) {
                      return part.name == array.name && part.type == array.type &&
                             part.count == array.count;
                    });
}

void require_name(std::string_view name) {
  constexpr std::size_t kLongest = 63;
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  if (!name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), allowed) &&
      name != "." && name != "..") {
    return;
  }
  throw Error(ANADROME_ERR_ARGUMENT,
              "'" + std::string(name) +
                  "' is not the name of a part: use 1 to 63 letters, digits, '_', '-' and '.'");
}

}  // namespace

// ---- what objects are made of ----

Objects::Object& Objects::object(Key key) {
  return const_cast<Object&>(std::as_const(*this).object(key));
}

const Objects::Object& Objects::object(Key key) const {
  const auto found = objects_.find(key);
  if (found == objects_.end()) {
    throw Error(ANADROME_ERR_ARGUMENT, "there is no " + text(key));
  }
  return found->second;
}

Objects::Shape& Objects::shape_of(std::span<const Array> arrays) {
  if (newest_shape_ != nullptr && same(newest_shape_->parts, arrays)) return *newest_shape_;
  std::string signature;
  Shape shape;
  for (const Array& array : arrays) {
    require_name(array.name);
    if (element_bytes(array.type) == 0 || array.count < 0) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "part '" + std::string(array.name) + "' has no such type, or too large a count");
    }
    for (const Part& part : shape.parts) {
      if (part.name != array.name) continue;
      throw Error(ANADROME_ERR_ARGUMENT, "two parts have the name '" + part.name + "'");
    }
    const std::int64_t offset = round_up(shape.bytes, kAlign);
    shape.parts.push_back({std::string(array.name), array.type, array.count, offset});
    const std::int64_t bytes = checked_multiply(array.count, element_bytes(array.type));
    shape.bytes = checked_add(offset, bytes);
    signature += shape.parts.back().name + "/" + std::to_string(array.type) + "/" +
                 std::to_string(array.count) + "/";
  }
  const auto place = shapes_.try_emplace(signature, std::move(shape)).first;
  place->second.signature = &place->first;
  Shape* const before = std::exchange(newest_shape_, &place->second);
  if (before != nullptr && before != newest_shape_) let_go(*before);
  return *newest_shape_;
}

void Objects::let_go(Shape& shape) {
  if (shape.users > 0) return;
  if (newest_shape_ == &shape) newest_shape_ = nullptr;
  shapes_.erase(shapes_.find(*shape.signature));
}

const Objects::Part& Objects::part(const Object& object, std::string_view name) const {
  for (const Part& part : object.shape->parts) {
    if (part.name == name) return part;
  }
  throw Error(ANADROME_ERR_ARGUMENT, text(object.key) + " has no part '" + std::string(name) + "'");
}

std::vector<Objects::Key> Objects::keys() const {
  std::vector<Key> keys;
  keys.reserve(objects_.size());
  for (const auto& entry : objects_) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// ---- put ----

void Objects::put(Key key, std::span<const Array> arrays) {
  for (const Array& array : arrays) {
    if (array.values != nullptr || array.count == 0) continue;
    throw Error(ANADROME_ERR_ARGUMENT,
                "the array of part '" + std::string(array.name) + "' is NULL");
  }
  keep_to_memory();
  Shape& shape = shape_of(arrays);
  const auto [place, is_new] = objects_.try_emplace(key);
  Object& object = place->second;
  const Rank rank = rank_for_put(key);
  const bool moves = is_new || rank != object.rank;
  const auto undo = [&, is_new = is_new, place = place] {
    if (moves) order_.erase(rank);
    if (is_new) objects_.erase(place);
    let_go(shape);
  };
  try {
    if (object.views > 0) {
      throw Error(ANADROME_ERR_ORDER, "there is a view of " + text(key) + ": release it first");
    }
    if (shape.bytes > blocks_.usable_bytes()) {
      throw Error(ANADROME_ERR_MEMORY, text(key) + " has " + format_bytes(shape.bytes) +
                                           ", and the store's memory holds " +
                                           format_bytes(blocks_.usable_bytes()) +
                                           ": raise the option memory");
    }
    if (moves) order_.emplace(rank, &object);
    Place memory = allocate(shape.bytes);
    copy_in(shape, arrays, memory.runs);
    if (!is_new && moves) order_.erase(object.rank);
    object.key = key;
    object.rank = rank;
    commit(key, object, shape, std::move(memory));
  } catch (...) {
    undo();
    throw;
  }
}

// Memory for an object, in blocks that nobody else has as far as it fills them. Nothing changes if
// there is none.
Objects::Place Objects::allocate(std::int64_t bytes) {
  constexpr std::int64_t kLeastPiece = 4096;
  const std::int64_t block_bytes = blocks_.block_bytes();
  const std::int64_t whole = bytes / block_bytes, rest = bytes % block_bytes;
  if (rest > room()) compact_sparse();
  const std::int64_t begin = round_up(open_used_, kAlign), room = this->room();
  const bool opens = rest > room;
  const std::int64_t here = !opens ? rest : room >= kLeastPiece ? room : 0;
  Place place;
  place.runs.reserve(static_cast<std::size_t>(whole + 2));
  if (here > 0) {
    std::vector<Key>& keys = shared_.at(open_).keys;
    if (keys.size() == keys.capacity()) keys.reserve(2 * keys.size() + 8);
  }
  std::vector<Number> taken;
  if (whole > 0 || opens) {
    refresh();
    blocks_.take(whole + (opens ? 1 : 0), taken);
  }
  for (std::int64_t i = 0; i < whole; ++i) {
    place.runs.push_back(
        {taken[static_cast<std::size_t>(i)], 0, static_cast<std::int32_t>(block_bytes)});
  }
  if (here > 0) {
    place.runs.push_back(
        {open_, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(here)});
    open_used_ = begin + here;
  }
  if (!opens) return place;
  place.full_used = open_used_;
  try {
    place.full = open_another(taken.back());
  } catch (...) {
    for (const Number block : taken) blocks_.free(block);
    throw;
  }
  open_used_ = rest - here;
  place.runs.push_back({open_, 0, static_cast<std::int32_t>(open_used_)});
  return place;
}

std::int64_t Objects::room() const {
  return open_ == ObjectBlocks::kNone ? 0 : blocks_.block_bytes() - round_up(open_used_, kAlign);
}

// Returns the one that was open.
Objects::Number Objects::open_another(Number block) {
  Shared& shared = shared_[block];
  shared.keys.reserve(8);
  blocks_.set_needed(block, kNever);
  open_used_ = 0;
  return std::exchange(open_, block);
}

// The object has its bytes: those of before make room, and what is full may be written.
void Objects::commit(Key key, Object& object, Shape& shape, Place place) {
  ++shape.users;
  bytes_ += shape.bytes;
  runs_ += std::ssize(place.runs);
  const std::vector<Run> before = std::exchange(object.runs, std::move(place.runs));
  Shape* const shape_before = std::exchange(object.shape, &shape);
  for (const Run& run : object.runs) {
    if (is_whole(run)) continue;
    Shared& shared = shared_.at(run.block);
    shared.keys.push_back(key);
    shared.live += run.bytes;
  }
  set_needed(object);
  for (const Run& run : object.runs) {
    if (is_whole(run)) blocks_.filled(run.block, run.bytes);
  }
  if (place.full != ObjectBlocks::kNone) close(place.full, place.full_used);
  if (shape_before == nullptr) return;
  bytes_ -= shape_before->bytes;
  --shape_before->users;
  let_go(*shape_before);
  free(before);
}

void Objects::close(Number block, std::int64_t used) {
  if (shared_.at(block).live == 0) {
    shared_.erase(block);
    return blocks_.free(block);
  }
  blocks_.filled(block, used);
  if (is_sparse(block)) sparse_.push_back(block);
}

void Objects::copy_in(const Shape& shape, std::span<const Array> arrays,
                      const std::vector<Run>& runs) {
  std::int64_t begin = 0;
  std::size_t p = 0;
  for (const Run& run : runs) {
    std::byte* const memory = blocks_.address(run.block) + run.offset;
    const std::int64_t end = begin + run.bytes;
    for (; p < shape.parts.size(); ++p) {
      const Part& part = shape.parts[p];
      const std::int64_t from = std::max(begin, part.offset);
      const std::int64_t to = std::min(end, part.offset + part.bytes());
      if (from < to) {
        std::memcpy(memory + (from - begin), arrays[p].values + (from - part.offset),
                    static_cast<std::size_t>(to - from));
      }
      if (part.offset + part.bytes() > end) break;
    }
    begin = end;
  }
}

// ---- get ----

void Objects::get(Key key, std::span<const Array> arrays) {
  Object& object = this->object(key);
  std::vector<std::pair<const Part*, std::byte*>> wanted;
  wanted.reserve(arrays.size());
  for (const Array& array : arrays) {
    const Part& part = this->part(object, array.name);
    if (part.type != array.type || part.count != array.count) {
      throw Error(ANADROME_ERR_ARGUMENT, "part '" + part.name + "' of " + text(key) + " has " +
                                             std::to_string(part.count) + " elements of type " +
                                             std::to_string(part.type) + ", not " +
                                             std::to_string(array.count) + " of type " +
                                             std::to_string(array.type));
    }
    if (array.values == nullptr && array.count > 0) {
      throw Error(ANADROME_ERR_ARGUMENT, "the array of part '" + part.name + "' is NULL");
    }
    wanted.emplace_back(&part, array.values);
  }
  copy_out(object, wanted);
  was_used(object);
}

void Objects::copy_out(const Object& object,
                       std::span<const std::pair<const Part*, std::byte*>> wanted) {
  const bool all_there = std::all_of(object.runs.begin(), object.runs.end(),
                                     [&](const Run& run) { return blocks_.in_memory(run.block); });
  if (!all_there) {
    refresh();
    for (auto run = object.runs.rbegin(); run != object.runs.rend(); ++run) {
      blocks_.fetch_now(run->block);  // the last one that is asked for comes first
    }
  }
  std::int64_t begin = 0;
  for (const Run& run : object.runs) {
    const std::int64_t end = begin + run.bytes;
    const std::byte* memory = nullptr;
    for (const auto& [part, values] : wanted) {
      const std::int64_t from = std::max(begin, part->offset);
      const std::int64_t to = std::min(end, part->offset + part->bytes());
      if (from >= to) continue;
      if (memory == nullptr) memory = load(object, run.block) + run.offset;
      std::memcpy(values + (from - part->offset), memory + (from - begin),
                  static_cast<std::size_t>(to - from));
    }
    begin = end;
  }
}

std::byte* Objects::load(const Object& object, Number block) {
  try {
    return blocks_.load(block);
  } catch (const Error& error) {
    if (error.status() != ANADROME_ERR_CORRUPT) {
      throw Error(error.status(), text(object.key) + ": " + error.what());
    }
    throw Error(ANADROME_ERR_CORRUPT, text(object.key) + " read back from " +
                                          blocks_.path_of(block) +
                                          " is not what was put: its checksum differs");
  }
}

// ---- views ----

std::span<const std::byte> Objects::view(Key key, std::string_view name, std::int64_t offset) {
  Object& object = this->object(key);
  const Part& part = this->part(object, name);
  if (offset < 0 || offset > part.bytes()) {
    throw Error(ANADROME_ERR_ARGUMENT, "part '" + part.name + "' of " + text(key) + " has " +
                                           std::to_string(part.bytes()) + " bytes");
  }
  if (offset == part.bytes()) return {};
  std::int64_t begin = 0;
  auto run = object.runs.begin();
  for (; begin + run->bytes <= part.offset + offset; ++run) begin += run->bytes;
  refresh();
  views_.reserve(views_.size() + 1);
  const std::int64_t from = part.offset + offset - begin;
  const std::int64_t to = std::min<std::int64_t>(run->bytes, part.offset + part.bytes() - begin);
  const std::byte* bytes = load(object, run->block) + run->offset + from;
  views_.push_back({bytes, key, run->block});
  blocks_.pin(run->block);
  ++object.views;
  return {bytes, static_cast<std::size_t>(to - from)};
}

void Objects::release(const void* view) {
  if (view == nullptr) return;
  const auto found = std::find_if(views_.rbegin(), views_.rend(),
                                  [&](const View& known) { return known.bytes == view; });
  if (found == views_.rend()) {
    throw Error(ANADROME_ERR_ARGUMENT, "this is no view, or one that was released");
  }
  blocks_.unpin(found->block);
  Object& object = this->object(found->key);
  views_.erase(std::next(found).base());
  if (--object.views == 0) was_used(object);
}

// ---- drop ----

void Objects::drop(Key key) {
  Object& object = this->object(key);
  if (object.views > 0) {
    throw Error(ANADROME_ERR_ORDER, "there is a view of " + text(key) + ": release it first");
  }
  order_.erase(object.rank);
  Shape& shape = *object.shape;
  --shape.users;
  bytes_ -= shape.bytes;
  const std::vector<Run> runs = std::move(object.runs);
  objects_.erase(key);
  if (shape.users == 0 && &shape != newest_shape_) let_go(shape);
  const Number left_before = left_last_;
  free(runs);
  if (left_last_ != left_before || (!runs.empty() && is_whole(runs.front()))) read_ahead();
}

// All runs first: one block may have two of them.
void Objects::free(const std::vector<Run>& runs) {
  runs_ -= std::ssize(runs);
  for (const Run& run : runs) {
    if (is_whole(run)) {
      blocks_.free(run.block);
    } else {
      shared_.at(run.block).live -= run.bytes;
    }
  }
  for (const Run& run : runs) {
    if (is_whole(run) || !shared_.contains(run.block)) continue;
    leave(run.block);
    compact(run.block);
  }
}

// A shared block of which less than half is in use gives it to the open one, so that holes never
// take more than what is alive. One that moves, is viewed or lies on disk alone waits.
void Objects::compact(Number block) {
  const auto found = shared_.find(block);
  Shared& shared = found->second;
  if (shared.live == 0) {
    shared.keys.clear();
    if (block == open_) {
      open_used_ = 0;
      return;
    }
    shared_.erase(found);
    std::erase(stale_, block);
    return blocks_.free(block);
  }
  if (block == open_ || !is_sparse(block)) return;
  if (!blocks_.may_move(block)) return sparse_.push_back(block);
  const std::int64_t bytes = bytes_to_move(shared, block);
  if (bytes > room()) {
    const Number another = blocks_.take_free();
    if (another == ObjectBlocks::kNone) return;
    const std::int64_t used = open_used_;
    const Number full = open_another(another);
    if (full != ObjectBlocks::kNone) close(full, used);
  }
  Shared& open = shared_.at(open_);
  open.keys.reserve(open.keys.size() + shared.keys.size());
  for (const Key key : shared_.at(block).keys) {
    const auto owner = objects_.find(key);
    if (owner == objects_.end()) continue;
    for (Run& run : owner->second.runs) {
      if (run.block != block) continue;
      const std::int64_t begin = round_up(open_used_, kAlign);
      std::memcpy(blocks_.address(open_) + begin, blocks_.address(block) + run.offset,
                  static_cast<std::size_t>(run.bytes));
      run.block = open_;
      run.offset = static_cast<std::int32_t>(begin);
      open_used_ = begin + run.bytes;
      open.keys.push_back(key);
      open.live += run.bytes;
    }
  }
  blocks_.set_needed(open_, std::min(blocks_.needed(open_), blocks_.needed(block)));
  shared_.erase(block);
  std::erase(stale_, block);
  blocks_.free(block);
}

void Objects::compact_sparse() {
  for (const Number block : std::exchange(sparse_, {})) {
    if (shared_.contains(block)) compact(block);
  }
}

std::int64_t Objects::bytes_to_move(const Shared& shared, Number block) const {
  std::int64_t bytes = 0;
  for (const Key key : shared.keys) {
    const auto owner = objects_.find(key);
    if (owner == objects_.end()) continue;
    for (const Run& run : owner->second.runs) {
      if (run.block == block) bytes += round_up(run.bytes, kAlign);
    }
  }
  return bytes;
}

// ---- the order in which objects are needed ----

void Objects::expect(std::span<const Key> keys) {
  std::vector<std::int64_t> next(keys.size(), -1);
  std::unordered_map<Key, std::int64_t> first;
  for (std::int64_t entry = std::ssize(keys); entry-- > 0;) {
    const auto [place, is_new] = first.try_emplace(keys[static_cast<std::size_t>(entry)], entry);
    if (!is_new) next[static_cast<std::size_t>(entry)] = std::exchange(place->second, entry);
  }
  // What was expected and is not any more comes first of the rest, in its order.
  std::vector<Object*> before;
  for (const auto& [rank, object] : order_) {
    if (!is_expected(rank)) break;
    before.push_back(object);
  }
  for (auto object = before.rbegin(); object != before.rend(); ++object) {
    set_rank(**object, --first_);
  }
  next_entry_ = std::move(next);
  entry_of_ = std::move(first);
  passed_ = -1;
  try {
    keep_to_memory();
  } catch (...) {
    next_entry_ = {};
    entry_of_ = {};
    throw;
  }
  for (const auto& [key, entry] : entry_of_) {
    const auto found = objects_.find(key);
    if (found != objects_.end()) set_rank(found->second, kExpected + entry);
  }
  ahead_ = kExpected;
  read_ahead();
}

// The next entry of a key behind `entry` and behind all that is over; 0: there is none.
Objects::Rank Objects::next_expected(Key key, std::int64_t entry) {
  const auto found = entry_of_.find(key);
  if (found == entry_of_.end()) return 0;
  std::int64_t next = found->second;
  while (next >= 0 && next <= std::max(entry, passed_)) {
    next = next_entry_[static_cast<std::size_t>(next)];
  }
  if (next < 0) {
    entry_of_.erase(found);
    return 0;
  }
  found->second = next;
  return kExpected + next;
}

Objects::Rank Objects::rank_for_put(Key key) {
  const Rank expected = entry_of_.empty() ? 0 : next_expected(key, -1);
  return expected != 0 ? expected : --first_;
}

// Entries before the one that was got are passed over.
Objects::Rank Objects::rank_after_get(Object& object) {
  if (!is_expected(object.rank)) return ++last_;
  passed_ = object.rank - kExpected;
  while (order_.begin()->first < object.rank) {
    Object& passed = *order_.begin()->second;
    const Rank expected = next_expected(passed.key, passed_);
    set_rank(passed, expected != 0 ? expected : --first_);
  }
  const Rank expected = next_expected(object.key, passed_);
  return expected != 0 ? expected : ++last_;
}

void Objects::set_rank(Object& object, Rank rank) {
  auto node = order_.extract(object.rank);
  node.key() = rank;
  order_.insert(std::move(node));
  object.rank = rank;
  set_needed(object);
}

void Objects::set_needed(const Object& object) {
  for (const Run& run : object.runs) {
    if (is_whole(run)) {
      blocks_.set_needed(run.block, object.rank);
    } else if (object.rank < blocks_.needed(run.block)) {
      blocks_.set_needed(run.block, object.rank);
    }
  }
}

// An object that shares a block is mostly followed by its neighbours.
void Objects::was_used(Object& object) {
  const Number left_before = left_last_;
  set_rank(object, rank_after_get(object));
  for (const Run& run : object.runs) {
    if (!is_whole(run)) leave(run.block);
  }
  const bool whole = !object.runs.empty() && is_whole(object.runs.front());
  if (whole || left_last_ != left_before) read_ahead();
}

// The block that was used before may be needed later than it says.
void Objects::leave(Number shared) {
  const Number before = std::exchange(left_last_, shared);
  if (before == shared) return;
  const auto found = shared_.find(before);
  if (found == shared_.end() || found->second.stale) return;
  found->second.stale = true;
  stale_.push_back(before);
}

void Objects::refresh() {
  for (const Number block : std::exchange(stale_, {})) {
    const auto found = shared_.find(block);
    if (found == shared_.end()) continue;
    found->second.stale = false;
    Rank soonest = kNever;
    for (const Key key : found->second.keys) {
      const auto owner = objects_.find(key);
      if (owner == objects_.end()) continue;
      const auto& runs = owner->second.runs;
      const bool here =
          std::any_of(runs.begin(), runs.end(), [&](const Run& run) { return run.block == block; });
      if (here) soonest = std::min(soonest, owner->second.rank);
    }
    blocks_.set_needed(block, soonest);
  }
}

// What comes first and is not in memory, as far as there is memory that is not needed sooner.
void Objects::read_ahead() {
  ahead_ = std::min(ahead_, blocks_.soonest_evicted());
  bool refreshed = false;
  for (auto next = order_.lower_bound(ahead_); next != order_.end(); ++next) {
    ahead_ = next->first;
    for (const Run& run : next->second->runs) {
      if (!blocks_.is_on_disk(run.block)) continue;
      if (!std::exchange(refreshed, true)) refresh();
      if (!blocks_.fetch(run.block)) return;
    }
  }
  if (!order_.empty()) ahead_ = order_.rbegin()->first + 1;
}

// ---- memory ----

std::int64_t Objects::table_bytes() const {
  constexpr std::int64_t kHeap = 16;  // what an allocation takes beside its bytes
  constexpr std::int64_t kNode = 16 + kHeap, kTreeNode = 48 + kHeap;
  constexpr std::int64_t kObject = sizeof(Key) + sizeof(Object) + kNode + kTreeNode + kHeap +
                                   2 * static_cast<std::int64_t>(sizeof(Key));
  constexpr std::int64_t kEntry = sizeof(std::int64_t), kEntryOf = 2 * sizeof(Key) + kNode;
  constexpr std::int64_t kShape = 512;
  return std::ssize(objects_) * kObject + runs_ * static_cast<std::int64_t>(sizeof(Run)) +
         std::ssize(next_entry_) * kEntry + std::ssize(entry_of_) * kEntryOf +
         std::ssize(shapes_) * kShape + blocks_.table_bytes();
}

// A little is not counted.
void Objects::keep_to_memory() {
  constexpr std::int64_t kLittle = std::int64_t{1} << 20;
  const std::int64_t bytes = std::max<std::int64_t>(table_bytes() - kLittle, 0);
  blocks_.withhold(ceil_divide(bytes, blocks_.block_bytes()));
}

Failure Objects::sync() {
  if (open_ != ObjectBlocks::kNone) {
    close(std::exchange(open_, ObjectBlocks::kNone), std::exchange(open_used_, 0));
  }
  return blocks_.flush();
}

}  // namespace anadrome::store
