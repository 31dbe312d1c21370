// SPDX-License-Identifier: BSD-2-Clause
// An object store on one rank: objects of named parts, put and got by key, within a memory and on
// disk beyond it. Nothing here knows of other ranks.
//
// All objects are in one order, of when they are needed next. An object that is put comes first, as
// adjoint sweeps want it; one that was got goes last, since a sweep that comes again gets all
// others before it; and expect puts the objects of a list first, in the order of the list. What is
// last in this order leaves memory first, and what is first on disk is read ahead.
//
// The bytes of an object fill blocks of their own as far as they can. The rest, and objects that
// are small, share blocks: one is open, where the next ones are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <anadrome/field.h>

#include "objects/expected_gets.h"
#include "objects/object_blocks.h"

namespace anadrome::store {

class Objects {
 public:
  using Key = std::int64_t;

  /// A part of an object, and the caller's array of it.
  struct Array {
    std::string_view name;
    anadrome_type type = ANADROME_BYTE;
    std::int64_t count = 0;
    std::byte* values = nullptr;
  };
  struct Part {
    std::string name;
    anadrome_type type;
    std::int64_t count;
    std::int64_t offset;  ///< of its first byte, in the object
    std::int64_t bytes() const { return count * element_bytes(type); }
  };

  explicit Objects(ObjectBlocks& blocks) : blocks_(blocks) {}

  /// The arrays become the object of this key; one of before is replaced, as soon as all of them
  /// are taken. On failure nothing changes. Throws ERR_ARGUMENT (names, types), ERR_ORDER (there is
  /// a view of it), ERR_MEMORY (larger than the memory; all of it is pinned), and what keeps others
  /// from making room: ERR_NO_SPACE, ERR_IO.
  void put(Key key, std::span<const Array> arrays);
  /// The named parts, into the arrays. Throws ERR_ARGUMENT (no such object or part; another type or
  /// count), ERR_CORRUPT or ERR_IO (it cannot be read), ERR_MEMORY.
  void get(Key key, std::span<const Array> arrays);
  /// The bytes of a part from byte `offset` on, as far as they lie side by side: pinned until they
  /// are released. Throws as get.
  std::span<const std::byte> view(Key key, std::string_view part, std::int64_t offset);
  /// Throws ERR_ARGUMENT if there is no such view.
  void release(const void* view);
  /// Throws ERR_ARGUMENT (no such object), ERR_ORDER (there is a view of it).
  void drop(Key key);
  /// The gets to come, in this order. Keys may be put later, and may come several times. An earlier
  /// list is forgotten. Throws ERR_MEMORY if the list does not fit.
  void expect(std::span<const Key> keys);

  bool contains(Key key) const { return objects_.contains(key); }
  std::int64_t count() const { return std::ssize(objects_); }
  /// In rising order.
  std::vector<Key> keys() const;
  /// Throws ERR_ARGUMENT if there is no such object.
  const std::vector<Part>& parts(Key key) const { return object(key).shape->parts; }
  std::int64_t bytes() const { return bytes_; }
  /// Bytes that the list of objects takes at most, an estimate.
  std::int64_t table_bytes() const;

  /// Wait until all is on disk. Returns the first failure.
  Failure sync();

 private:
  using Rank = ObjectBlocks::Rank;
  using Number = ObjectBlocks::Number;

  /// Objects and their parts begin at multiples of this, as arrays of any type want it.
  static constexpr std::int64_t kAlign = 16;

  /// The facts that objects of the same parts share.
  struct Shape {
    std::vector<Part> parts;
    std::int64_t bytes = 0;
    std::int64_t users = 0;
    const std::string* signature = nullptr;  ///< its key in shapes_
  };
  /// Bytes that lie side by side in a block.
  struct Run {
    Number block;
    std::int32_t offset, bytes;
  };
  using LiveRuns = std::vector<std::pair<Run*, Key>>;  ///< and whose they are
  struct Object {
    Key key = 0;
    Shape* shape = nullptr;
    Rank rank = 0;
    std::int32_t views = 0;
    std::vector<Run> runs;
  };
  /// A block that objects share.
  struct Shared {
    std::vector<Key> keys;  ///< of objects that were put there; some may be gone
    std::int64_t live = 0;  ///< bytes of those that are not
    bool stale = false;     ///< an object is needed later than its block says: in stale_
    bool sparse = false;    ///< to be compacted: in sparse_
  };
  struct View {
    const std::byte* bytes;
    Key key;
    Number block;
  };

  Object& object(Key key);
  const Object& object(Key key) const;
  Shape& shape_of(std::span<const Array> arrays);
  void let_go(Shape& shape);
  const Part& part(const Object& object, std::string_view name) const;

  /// Memory of a new object; nothing is written before it is filled.
  struct Place {
    std::vector<Run> runs;
    Number full = ObjectBlocks::kNone;  ///< the shared block that takes no more
    std::int64_t full_used = 0;
  };
  Place allocate(std::int64_t bytes);
  void commit(Key key, Object& object, Shape& shape, Place place);
  std::int64_t room() const;  ///< in the open block
  Number open_another(Number block);
  void close(Number block, std::int64_t used);
  void forget(Number block);
  void free(const std::vector<Run>& runs);
  bool is_sparse(Number block) const { return 2 * shared_.at(block).live < blocks_.used(block); }
  void compact(Number block);
  LiveRuns live_in(Number block);
  bool make_room_for(const LiveRuns& live);
  void compact_later(Number block);
  void compact_sparse();
  void copy_in(const Shape& shape, std::span<const Array> arrays, const std::vector<Run>& runs);
  void copy_out(const Object& object, std::span<const std::pair<const Part*, std::byte*>> wanted);
  std::byte* load(const Object& object, Number block);
  bool is_whole(const Run& run) const { return run.bytes == blocks_.block_bytes(); }

  Rank rank_for_put(Key key);
  Rank rank_after_get(const Object& object);
  void set_rank(Object& object, Rank rank);
  void set_needed(const Object& object);
  void was_used(Object& object);
  void leave(Number shared);
  void refresh();
  void read_ahead() noexcept;
  void fetch_what_comes_first();
  void keep_to_memory();
  [[noreturn]] void throw_list_too_long() const;

  ObjectBlocks& blocks_;
  std::unordered_map<Key, Object> objects_;
  std::map<std::string, Shape, std::less<>> shapes_;
  Shape* newest_shape_ = nullptr;
  std::map<Rank, Object*> order_;
  ExpectedGets expected_;
  Rank first_ = 0, last_ = 0;  ///< ranks that were given so far lie between these
  Rank ahead_ = 0;             ///< whatever comes before it is in memory, or on its way there
  std::int64_t bytes_ = 0, runs_ = 0;

  std::unordered_map<Number, Shared> shared_;
  std::vector<Number> stale_, sparse_;      ///< with room for all that are shared
  Number left_last_ = ObjectBlocks::kNone;  ///< the shared block that was used last
  Number open_ = ObjectBlocks::kNone;
  std::int64_t open_used_ = 0;
  std::vector<View> views_;
};

}  // namespace anadrome::store
