// SPDX-License-Identifier: BSD-2-Clause
// The object store through the C interface, on ranks that hold different objects.
#include <anadrome/store.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"

extern char** environ;

namespace {

using anadrome::test::directory;
using anadrome::test::has_part;
using anadrome::test::rank;
using anadrome::test::ranks;
namespace fs = std::filesystem;

struct Handle {
  explicit Handle(const std::string& more = "memory=4MiB") {
    const std::string options = "directory=" + directory() + " " + more;
    status = anadrome_store_open(MPI_COMM_WORLD, options.c_str(), &store);
  }
  ~Handle() { anadrome_store_close(&store); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  anadrome_status put(std::int64_t key, std::vector<double>& values) {
    const anadrome_part part = {"u", ANADROME_FLOAT64, values.size(), values.data()};
    return anadrome_store_put(store, key, 1, &part);
  }
  anadrome_status get(std::int64_t key, std::vector<double>& values) {
    const anadrome_part part = {"u", ANADROME_FLOAT64, values.size(), values.data()};
    return anadrome_store_get(store, key, 1, &part);
  }
  anadrome_store_stats statistics() const {
    anadrome_store_stats stats{};
    stats.size = sizeof stats;
    anadrome_store_statistics(store, &stats);
    return stats;
  }

  anadrome_store* store = nullptr;
  anadrome_status status;
};

std::vector<double> state(std::int64_t key, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<double>(key) + 1e-6 * static_cast<double>(i) + 1000.0 * rank();
  }
  return values;
}

// No rank knows what the others do, how often, and with how much.
TEST(Store, IsADictionaryOnEveryRank) {
  Handle handle;
  ASSERT_EQ(handle.status, ANADROME_OK) << anadrome_last_error();
  std::mt19937_64 random(static_cast<std::uint64_t>(rank()) + 7);
  std::map<std::int64_t, std::vector<double>> expected;
  const char* const full = std::getenv("ANADROME_TEST_FULL");
  const int operations =
      (full != nullptr && std::string(full) == "1" ? 100000 : 2000) * (1 + rank());
  for (int i = 0; i < operations; ++i) {
    const auto key = static_cast<std::int64_t>(random() % 300) - 100 * rank();
    if (random() % 2 == 0) {
      std::vector<double> values = state(i, random() % 20000);
      ASSERT_EQ(handle.put(key, values), ANADROME_OK) << anadrome_last_error();
      expected[key] = std::move(values);
    } else if (const auto found = expected.find(key); found == expected.end()) {
      int yes = 1;
      ASSERT_EQ(anadrome_store_contains(handle.store, key, &yes), ANADROME_OK);
      ASSERT_EQ(yes, 0);
    } else {
      std::vector<double> values(found->second.size());
      ASSERT_EQ(handle.get(key, values), ANADROME_OK) << anadrome_last_error();
      ASSERT_EQ(values, found->second) << key;
      if (random() % 3 == 0) {
        ASSERT_EQ(anadrome_store_drop(handle.store, key), ANADROME_OK);
        expected.erase(found);
      }
    }
  }
  std::int64_t count = 0;
  std::vector<std::int64_t> keys(expected.size());
  ASSERT_EQ(anadrome_store_keys(handle.store, std::ssize(keys), keys.data(), &count), ANADROME_OK);
  ASSERT_EQ(count, std::ssize(expected));
  for (std::size_t i = 0; const auto& [key, values] : expected) ASSERT_EQ(keys[i++], key);
  EXPECT_LE(handle.statistics().memory_bytes, 5 << 20);
  EXPECT_EQ(anadrome_store_close(&handle.store), ANADROME_OK) << anadrome_last_error();
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(fs::is_empty(directory()));
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Store, StaysInItsMemory) {
  constexpr std::int64_t kMemory = std::int64_t{32} << 20, kSlack = std::int64_t{4} << 20;
  std::vector<double> values = state(0, 200000);
  {
    Handle warm("memory=1MiB");  // what HDF5 and the allocator take once
    std::vector<double> few = state(0, 20000);
    for (int key = 0; key < 20; ++key) ASSERT_EQ(warm.put(key, few), ANADROME_OK);
  }
  malloc_trim(0);
  const std::int64_t before = resident_bytes();
  Handle handle("memory=32MiB");
  std::int64_t most = 0;
  for (std::int64_t key = 0; key < 120; ++key) {
    ASSERT_EQ(handle.put(key, values), ANADROME_OK) << anadrome_last_error();
    most = std::max(most, resident_bytes() - before);
  }
  for (std::int64_t key = 120; key-- > 0;) {
    ASSERT_EQ(handle.get(key, values), ANADROME_OK) << anadrome_last_error();
    most = std::max(most, resident_bytes() - before);
  }
  std::vector<double> one(1);
  for (std::int64_t key = 1000; key < 50000; ++key) {
    ASSERT_EQ(handle.put(key, one), ANADROME_OK) << anadrome_last_error();
  }
  most = std::max(most, resident_bytes() - before);
  EXPECT_LE(most, kMemory + kSlack);
  EXPECT_LE(handle.statistics().memory_bytes, kMemory + kSlack);
}

TEST(Store, SaysOnAllRanksWhatItsOptionsLack) {
  const auto refused = [](const std::string& more, anadrome_status status, const char* text) {
    const Handle handle(more);
    EXPECT_EQ(handle.status, status) << more;
    EXPECT_EQ(handle.store, nullptr);
    EXPECT_TRUE(has_part(anadrome_last_error(), text));
  };
  refused("memry=1GiB", ANADROME_ERR_ARGUMENT, "the nearest is 'memory'");
  refused("schedule=async", ANADROME_ERR_ARGUMENT,
          "option schedule is a run's: a store has memory");
  refused("layout=shared", ANADROME_ERR_UNSUPPORTED, "each has files of its own");
  refused("transport=mpio", ANADROME_ERR_UNSUPPORTED, "auto, direct or buffered");
  refused("memory=1KiB", ANADROME_ERR_MEMORY, "at least 256 KiB");
  if (ranks() == 1) return;
  refused(rank() == 0 ? "memory=1MiB" : "memory=2MiB", ANADROME_ERR_ARGUMENT,
          "option memory differs between ranks");
  refused(rank() == 1 ? "memory=x" : "memory=2MiB", ANADROME_ERR_ARGUMENT, "memory");
  Handle first;
  ASSERT_EQ(first.status, ANADROME_OK);
  refused("memory=1MiB", ANADROME_ERR_BUSY, "anadrome-store");
  const Handle second("memory=1MiB name=another");
  EXPECT_EQ(second.status, ANADROME_OK) << anadrome_last_error();
}

TEST(Store, TellsNullFromHandles) {
  Handle handle("memory=1MiB disk=0");
  const anadrome_part nameless = {nullptr, ANADROME_BYTE, 0, nullptr};
  for (const anadrome_status status :
       {anadrome_store_close(nullptr), anadrome_store_drop(nullptr, 1),
        anadrome_store_open(MPI_COMM_NULL, "", nullptr),
        anadrome_store_put(handle.store, 1, 1, nullptr),
        anadrome_store_put(handle.store, 1, 1, &nameless),
        anadrome_store_expect(handle.store, 1, nullptr)})
    EXPECT_EQ(status, ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_store_put(handle.store, 1, 0, nullptr), ANADROME_OK) << "an object of nothing";
  EXPECT_EQ(anadrome_store_sync(handle.store), ANADROME_OK);
}

TEST(Store, ShowsPartsWithoutACopy) {
  Handle handle("memory=1MiB");
  std::vector<double> u = state(3, 30000);
  std::vector<std::int32_t> mesh = {1, 2, 3};
  const std::vector<anadrome_part> both = {{"u", ANADROME_FLOAT64, u.size(), u.data()},
                                           {"mesh", ANADROME_INT32, 3, mesh.data()}};
  ASSERT_EQ(anadrome_store_put(handle.store, 3, 2, both.data()), ANADROME_OK);
  std::vector<anadrome_part> found(2);
  int count = 0;
  ASSERT_EQ(anadrome_store_parts(handle.store, 3, 2, found.data(), &count), ANADROME_OK);
  EXPECT_EQ(count, 2);
  EXPECT_STREQ(found[1].name, "mesh");
  EXPECT_EQ(found[1].type, ANADROME_INT32);
  EXPECT_EQ(found[1].count, 3);
  std::size_t seen = 0;
  for (;;) {
    const void* view = nullptr;
    std::size_t bytes = 0;
    ASSERT_EQ(anadrome_store_view(handle.store, 3, "u", seen, &view, &bytes), ANADROME_OK);
    if (bytes == 0) break;
    EXPECT_EQ(std::memcmp(view, reinterpret_cast<char*>(u.data()) + seen, bytes), 0);
    seen += bytes;
    EXPECT_EQ(anadrome_store_drop(handle.store, 3), ANADROME_ERR_ORDER);
    ASSERT_EQ(anadrome_store_release(handle.store, view), ANADROME_OK);
  }
  EXPECT_EQ(seen, u.size() * sizeof(double));
  const void* view = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(anadrome_store_view(handle.store, 3, "mesh", 4, &view, &bytes), ANADROME_OK);
  EXPECT_EQ(bytes, 8);
  EXPECT_EQ(anadrome_store_close(&handle.store), ANADROME_OK) << "with a view";
}

TEST(Store, LeavesAFileForReadersIfItIsAskedTo) {
  Handle handle("memory=1MiB keep=on");
  for (std::int64_t key = 0; key < 20; ++key) {
    std::vector<double> u = state(key, 10000 + static_cast<std::size_t>(key));
    ASSERT_EQ(handle.put(key, u), ANADROME_OK);
  }
  ASSERT_EQ(anadrome_store_close(&handle.store), ANADROME_OK) << anadrome_last_error();
  char name[40];
  std::snprintf(name, sizeof name, "/objects-rank-%06d.h5", rank());
  const std::string path = directory() + "/anadrome-store" + name;
  EXPECT_GT(fs::file_size(path), 20 * 10000 * sizeof(double)) << "Python's tests read it";
  MPI_Barrier(MPI_COMM_WORLD);
  const fs::directory_iterator files(directory() + "/anadrome-store");
  EXPECT_EQ(std::distance(begin(files), end(files)), ranks()) << "and no segment";
  MPI_Barrier(MPI_COMM_WORLD);
  Handle next("memory=1MiB");
  EXPECT_EQ(next.status, ANADROME_OK) << "what was kept makes room: " << anadrome_last_error();
}

// A program that is killed leaves what the next one removes.
TEST(Store, OfAProcessThatWasKilledIsRemovedByTheNext) {
  if (rank() == 0) {
    const std::string program = ANADROME_TEST_KILLED_STORE;
    std::vector<char*> arguments = {const_cast<char*>(program.c_str()),
                                    const_cast<char*>(directory().c_str()), nullptr};
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const bool of_mpi =
          text.starts_with("OMPI_") || text.starts_with("PMIX_") || text.starts_with("PMI_");
      if (!of_mpi || text.starts_with("OMPI_ALLOW")) environment.push_back(*entry);
    }
    environment.push_back(nullptr);
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(),
                          environment.data()),
              0);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    EXPECT_FALSE(fs::is_empty(directory()));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Handle next("memory=1MiB");
  ASSERT_EQ(next.status, ANADROME_OK) << anadrome_last_error();
  std::vector<double> u = state(1, 1000);
  EXPECT_EQ(next.put(1, u), ANADROME_OK);
  EXPECT_EQ(anadrome_store_close(&next.store), ANADROME_OK);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(fs::is_empty(directory()));
}

}  // namespace
