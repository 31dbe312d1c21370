// SPDX-License-Identifier: BSD-2-Clause
// The C interface of the object store.
#include <anadrome/store.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "api/c/handles.h"
#include "api/schedules/guard.h"
#include "base/index.h"
#include "objects/object_store.h"

struct anadrome_store {
  explicit anadrome_store(MPI_Comm comm) : store(comm) {}
  anadrome::engine::ObjectStore store;
  anadrome::MadeHere made;
};

namespace {

using namespace anadrome::api;
using anadrome::at;
using anadrome::Error;
using anadrome::Failure;
using anadrome::store::Objects;

// In place for objects of few parts, which may be many.
class Arrays {
 public:
  Arrays(const anadrome_part* parts, int count) : count_(count) {
    require(count >= 0 && (parts != nullptr || count == 0), "the list of parts is NULL");
    if (count > kFew) many_.resize(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) data()[i] = array_of(parts[i]);
  }
  std::span<const Objects::Array> all() { return {data(), static_cast<std::size_t>(count_)}; }

 private:
  static constexpr int kFew = 8;
  static Objects::Array array_of(const anadrome_part& part) {
    require(part.name != nullptr, "the name of a part is NULL");
    require(part.count <= static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()),
            "the count of a part is too large");
    return {part.name, part.type, static_cast<std::int64_t>(part.count),
            static_cast<std::byte*>(part.values)};
  }
  Objects::Array* data() { return count_ > kFew ? many_.data() : few_.data(); }

  int count_;
  std::array<Objects::Array, kFew> few_;
  std::vector<Objects::Array> many_;
};

}  // namespace

anadrome_status anadrome_store_open(MPI_Comm comm, const char* options, anadrome_store** store) {
  return guard_open([&] {
    require(store != nullptr, "store_open: store is NULL");
    *store = nullptr;
    require_mpi("store_open");
    require_intracommunicator(comm, "store_open");
    std::unique_ptr<anadrome_store> made(open_on_all_ranks<anadrome_store>(comm));
    made->store.open(options != nullptr ? options : "");
    *store = made.release();
  });
}

anadrome_status anadrome_store_put(anadrome_store* store, int64_t key, int parts,
                                   const anadrome_part* part) {
  return guard([&] {
    require_open(store, "store_put", "store");
    store->store.objects().put(key, Arrays(part, parts).all());
  });
}

anadrome_status anadrome_store_get(anadrome_store* store, int64_t key, int parts,
                                   const anadrome_part* part) {
  return guard([&] {
    require_open(store, "store_get", "store");
    store->store.objects().get(key, Arrays(part, parts).all());
  });
}

anadrome_status anadrome_store_view(anadrome_store* store, int64_t key, const char* part,
                                    size_t offset, const void** view, size_t* bytes) {
  return guard([&] {
    require_open(store, "store_view", "store");
    require(part != nullptr && view != nullptr && bytes != nullptr,
            "store_view: an argument is NULL");
    require(offset <= static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()),
            "store_view: the offset is too large");
    const auto seen = store->store.objects().view(key, part, static_cast<std::int64_t>(offset));
    *view = seen.empty() ? nullptr : seen.data();
    *bytes = seen.size();
  });
}

anadrome_status anadrome_store_release(anadrome_store* store, const void* view) {
  return guard([&] {
    require_open(store, "store_release", "store");
    store->store.objects().release(view);
  });
}

anadrome_status anadrome_store_drop(anadrome_store* store, int64_t key) {
  return guard([&] {
    require_open(store, "store_drop", "store");
    store->store.objects().drop(key);
  });
}

anadrome_status anadrome_store_expect(anadrome_store* store, int64_t count, const int64_t* keys) {
  return guard([&] {
    require_open(store, "store_expect", "store");
    require(count >= 0 && (keys != nullptr || count == 0), "store_expect: the keys are NULL");
    store->store.objects().expect({keys, static_cast<std::size_t>(count)});
  });
}

anadrome_status anadrome_store_contains(const anadrome_store* store, int64_t key, int* yes) {
  return guard([&] {
    require_open(store, "store_contains", "store");
    require(yes != nullptr, "store_contains: yes is NULL");
    *yes = store->store.objects().contains(key) ? 1 : 0;
  });
}

anadrome_status anadrome_store_keys(const anadrome_store* store, int64_t most, int64_t* keys,
                                    int64_t* count) {
  return guard([&] {
    require_open(store, "store_keys", "store");
    require(count != nullptr && (keys != nullptr || most <= 0), "store_keys: an argument is NULL");
    *count = store->store.objects().count();
    if (most <= 0) return;
    const std::vector<std::int64_t> all = store->store.objects().keys();
    std::copy_n(all.begin(), std::min(most, *count), keys);
  });
}

anadrome_status anadrome_store_parts(const anadrome_store* store, int64_t key, int most,
                                     anadrome_part* parts, int* count) {
  return guard([&] {
    require_open(store, "store_parts", "store");
    require(count != nullptr && (parts != nullptr || most <= 0),
            "store_parts: an argument is NULL");
    const std::vector<Objects::Part>& all = store->store.objects().parts(key);
    *count = static_cast<int>(all.size());
    for (int i = 0; i < std::min(most, *count); ++i) {
      const Objects::Part& part = all[at(i)];
      parts[i] = {part.name.c_str(), part.type, static_cast<std::size_t>(part.count), nullptr};
    }
  });
}

anadrome_status anadrome_store_sync(anadrome_store* store) {
  return guard([&] {
    require_open(store, "store_sync", "store");
    const Failure failure = store->store.objects().sync();
    if (failure) throw Error(failure.status, failure.message);
  });
}

anadrome_status anadrome_store_statistics(const anadrome_store* store,
                                          anadrome_store_stats* stats) {
  return guard([&] {
    require_open(store, "store_statistics", "store");
    require(stats != nullptr && stats->size >= sizeof(std::size_t),
            "store_statistics: set stats->size to sizeof(anadrome_store_stats)");
    const anadrome::store::TransferTotals totals = store->store.totals();
    anadrome_store_stats now{};
    const std::size_t size = std::min(stats->size, sizeof now);
    now.size = size;
    now.objects = store->store.objects().count();
    now.bytes = store->store.objects().bytes();
    now.memory_bytes = store->store.memory_bytes();
    now.block_bytes = store->store.blocks().block_bytes();
    now.bytes_written = totals.bytes_written;
    now.bytes_read = totals.bytes_read;
    now.seconds_writing = totals.seconds_writing;
    now.seconds_reading = totals.seconds_reading;
    now.seconds_stalled_write = store->store.blocks().seconds_waited_for_writes();
    now.seconds_stalled_read = store->store.blocks().seconds_waited_for_reads();
    now.direct_io = store->store.direct_io();
    std::memcpy(stats, &now, size);
  });
}

anadrome_status anadrome_store_close(anadrome_store** store) {
  return guard([&] {
    require(store != nullptr, "store_close: store is NULL");
    if (*store == nullptr) return;
    anadrome_store* const handle = std::exchange(*store, nullptr);
    require_open(handle, "store_close", "store");  // its memory stays
    const std::unique_ptr<anadrome_store> closing(handle);
    require_mpi("store_close");
    closing->store.close();
  });
}
