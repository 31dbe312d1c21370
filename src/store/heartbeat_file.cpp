// SPDX-License-Identifier: BSD-2-Clause
#include "store/heartbeat_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checksum.h"
#include "base/error.h"
#include "store/block_layout.h"
#include "store/run_files.h"

namespace anadrome::store {
namespace {

// One per page, so that ranks of two nodes never write the same one.
struct Wire {
  std::int64_t beat;
  std::int64_t pid, start;
  std::uint64_t activity;
  std::int64_t ends;
  std::array<char, 72> host;
  std::array<char, 120> machine;
  std::uint64_t sum;  ///< the hash of all before it
};
static_assert(sizeof(Wire) < kPage);

std::uint64_t sum_of(const Wire& wire) {
  std::array<char, sizeof(Wire)> bytes;
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return hash_of({bytes.data(), offsetof(Wire, sum)});
}

template <std::size_t Size>
void put(std::array<char, Size>& place, const std::string& text) {
  place = {};
  std::memcpy(place.data(), text.data(), std::min(text.size(), Size - 1));
}

template <std::size_t Size>
std::string text_of(const std::array<char, Size>& place) {
  return {place.data(), ::strnlen(place.data(), Size)};
}

}  // namespace

std::string HeartbeatFile::path(const std::string& directory, const std::string& run_id) {
  return directory + "/" + std::string(kHeartbeatStem) + run_id;
}

void HeartbeatFile::create(const std::string& path) { File::open(path, O_RDWR | O_CREAT | O_EXCL); }

bool HeartbeatFile::is_one(std::string_view head) {
  Wire wire{};
  for (; head.size() >= sizeof wire;
       head.remove_prefix(std::min<std::size_t>(kPage, head.size()))) {
    std::memcpy(&wire, head.data(), sizeof wire);
    if (wire.beat != 0 && wire.sum == sum_of(wire)) return true;
  }
  return false;
}

HeartbeatFile::HeartbeatFile(const std::string& path) : path_(path) {
  const int there = file_system().open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (there == -ENOENT) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                path +
                    " is not there, which rank 0 made: the watchdog needs a directory that is "
                    "the same for all ranks; set watchdog=0, or another directory");
  }
  if (there < 0) throw_errno(there, "open", path);
  file_system().close(there);
  file_ = File::open(path, O_RDWR);
}

template <class Body>
void HeartbeatFile::with_file(int flags, Body&& body) const {
  if (failure_from([&] { body(File::open(path_, flags)); })) body(file_);
}

void HeartbeatFile::write(std::int64_t rank, const Heartbeat& heartbeat) const {
  Wire wire{};
  wire.beat = heartbeat.beat;
  wire.pid = heartbeat.process.pid;
  wire.start = heartbeat.process.start;
  wire.activity = heartbeat.activity;
  wire.ends = heartbeat.ends ? 1 : 0;
  put(wire.host, heartbeat.process.host);
  put(wire.machine, heartbeat.process.machine);
  wire.sum = sum_of(wire);
  with_file(O_WRONLY, [&](const File& file) { file.write_all(&wire, sizeof wire, rank * kPage); });
}

std::optional<Heartbeat> HeartbeatFile::read(std::int64_t rank) const noexcept {
  std::optional<Heartbeat> heartbeat;
  failure_from([&] {
    Wire wire{};
    with_file(O_RDONLY, [&](const File& file) {
      // Each host writes this file, which hides from some kernels that others changed it, too.
      file_system().drop_cached(file.get());
      file.read_all(&wire, sizeof wire, rank * kPage);
    });
    if (wire.beat == 0 || wire.sum != sum_of(wire)) return;
    heartbeat = Heartbeat{wire.beat,
                          {text_of(wire.host), text_of(wire.machine), wire.pid, wire.start},
                          wire.activity,
                          wire.ends != 0};
  });
  return heartbeat;
}

}  // namespace anadrome::store
