// SPDX-License-Identifier: BSD-2-Clause
#include "objects/objects.h"

#include <algorithm>
#include <cstring>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/index.h"
#include "store/memory/field_table.h"

namespace anadrome::store {
namespace {

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
  const bool is_new = !objects_.contains(key);
  Object& object = objects_[key];
  const Rank rank = rank_for_put(key);
  const bool moves = is_new || rank != object.rank;
  const auto undo = [&] {
    if (moves) order_.erase(rank);
    if (is_new) objects_.erase(key);
    let_go(shape);
  };
  try {
    if (object.views > 0) {
      throw Error(ANADROME_ERR_ORDER, "there is a view of " + text(key) + ": release it first");
    }
    if (shape.bytes > blocks_.usable_bytes()) {
      if (shape.bytes <= blocks_.usable_bytes() + blocks_.withheld_bytes()) throw_list_too_long();
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
                    size(to - from));
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
                                             std::string(type_name(part.type)) + ", not " +
                                             std::to_string(array.count) + " of type " +
                                             std::string(type_name(array.type)));
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
      std::memcpy(values + (from - part->offset), memory + (from - begin), size(to - from));
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
  return {bytes, size(to - from)};
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

// ---- the whole ----

Failure Objects::sync() {
  if (open_ != ObjectBlocks::kNone) {
    close(std::exchange(open_, ObjectBlocks::kNone), std::exchange(open_used_, 0));
  }
  return blocks_.flush();
}

}  // namespace anadrome::store
