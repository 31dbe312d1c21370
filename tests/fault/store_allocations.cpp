// SPDX-License-Identifier: BSD-2-Clause
// store_allocations [--full]
//
// Every allocation of a store fails, once or from then on: a call does what it says or is
// ERR_MEMORY and changes nothing, and the objects are there when there is memory again.
#include <anadrome/store.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "failing_allocations.h"

namespace {

using anadrome::test::fail_allocation;
using Bytes = std::vector<unsigned char>;
namespace fs = std::filesystem;

struct Trial {
  std::string text;
  bool lasting = false;
  int complaints = 0;

  void expect(bool holds, const char* what) {
    if (holds) return;
    std::printf("%s: %s (%s)\n", text.c_str(), what, anadrome_last_error());
    ++complaints;
  }
  // A call that has succeeded; one that lacked memory has not.
  bool done(anadrome_status status, const char* call) {
    expect(status == ANADROME_OK || status == ANADROME_ERR_MEMORY, call);
    return status == ANADROME_OK;
  }
};

bool got(anadrome_store* store, std::int64_t key, const Bytes& expected, anadrome_status& status) {
  Bytes found(expected.size());
  const anadrome_part part = {"u", ANADROME_BYTE, found.size(), found.data()};
  status = anadrome_store_get(store, key, 1, &part);
  return status != ANADROME_OK || found == expected;
}

// A fixed program over a store of 256 KiB, whose objects have up to 40 KiB and need a disk.
// Returns how much it allocated until then.
std::int64_t go(Trial& trial, const std::string& options, const fs::path& directory) {
  anadrome_store* store = nullptr;
  if (!trial.done(anadrome_store_open(MPI_COMM_SELF, options.c_str(), &store), "open")) {
    trial.expect(store == nullptr, "a failed open gives a store");
    // Removing files takes memory, too.
    trial.expect(trial.lasting || fs::is_empty(directory), "a failed open leaves files");
    fail_allocation(0, false, true);
    const anadrome_status status = anadrome_store_open(MPI_COMM_SELF, options.c_str(), &store);
    trial.expect(status == ANADROME_OK, "the next open");
    trial.expect(anadrome_store_close(&store) == ANADROME_OK, "close");
    trial.expect(fs::is_empty(directory), "files are left");
    return 0;
  }
  std::mt19937 random(7);
  std::map<std::int64_t, Bytes> objects;
  for (int i = 0; i < 90; ++i) {
    const auto key = static_cast<std::int64_t>(random() % 25);
    const auto what = random() % 10;
    anadrome_status status = ANADROME_OK;
    if (what < 6) {
      Bytes value(random() % 5 == 0 ? random() % 30 : random() % 40000,
                  static_cast<unsigned char>(i));
      const anadrome_part part = {"u", ANADROME_BYTE, value.size(), value.data()};
      if (trial.done(anadrome_store_put(store, key, 1, &part), "put")) objects[key] = value;
    } else if (what == 6) {
      std::vector<std::int64_t> keys;
      for (const auto& [each, value] : objects) keys.push_back(each);
      trial.done(anadrome_store_expect(store, static_cast<std::int64_t>(keys.size()), keys.data()),
                 "expect");
    } else if (objects.count(key) == 0) {
      continue;
    } else if (what < 9) {
      trial.expect(got(store, key, objects[key], status), "another object was got");
      trial.done(status, "get");
    } else if (trial.done(anadrome_store_drop(store, key), "drop")) {
      objects.erase(key);
    }
  }
  trial.done(anadrome_store_sync(store), "sync");
  const std::int64_t allocations = anadrome::test::allocations();
  fail_allocation(0, false, true);  // from here on there is memory
  std::int64_t count = 0;
  anadrome_store_keys(store, 0, nullptr, &count);
  trial.expect(count == static_cast<std::int64_t>(objects.size()), "other objects are there");
  for (const auto& [key, value] : objects) {
    anadrome_status status = ANADROME_OK;
    trial.expect(got(store, key, value, status) && status == ANADROME_OK, "an object is lost");
  }
  trial.expect(anadrome_store_sync(store) == ANADROME_OK, "sync with memory");
  trial.expect(anadrome_store_close(&store) == ANADROME_OK, "close");
  trial.expect(fs::is_empty(directory), "files are left");
  return allocations;
}

int run(bool full, const fs::path& directory) {
  const std::string options = "memory=256KiB directory=" + directory.string();
  int complaints = 0;
  std::int64_t trials = 0;
  Trial whole{"without failures"};
  fail_allocation(0, false, true);
  go(whole, options, directory);  // what is allocated once in a process
  fail_allocation(0, false, true);
  const std::int64_t count = go(whole, options, directory);
  complaints += whole.complaints;
  for (std::int64_t at = 1; at <= count; at += full ? 1 : 5) {
    for (const bool lasting : {false, true}) {
      alarm(60);
      Trial trial{"allocation " + std::to_string(at) + (lasting ? " and all later ones" : ""),
                  lasting};
      std::fflush(stdout);
      fail_allocation(at, lasting, true);
      go(trial, options, directory);
      complaints += trial.complaints;
      ++trials;
    }
  }
  std::printf("%lld trials, %d complaints\n", static_cast<long long>(trials), complaints);
  return trials < 100 || complaints > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::string directory = (fs::temp_directory_path() / "anadrome-test-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) return 2;
  const int result = run(argc > 1 && std::string(argv[1]) == "--full", directory);
  fs::remove_all(directory);
  MPI_Finalize();
  return result;
}
