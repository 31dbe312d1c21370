// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/heartbeat_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "store/directory/run_files.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {
namespace {

constexpr std::array kMagic = {'h', 'e', 'a', 'r', 't', 'b', 'e', 'a'};

// One per page, so that ranks of two nodes never write the same one. A torn one begins like one.
struct Wire {
  std::array<char, kMagic.size()> magic;
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

FilePlace HeartbeatFile::place(const Directory& directory, const std::string& run_id) {
  return {directory, std::string(kHeartbeatStem) + run_id};
}

void HeartbeatFile::create(const FilePlace& place) { place.open(O_RDWR | O_CREAT | O_EXCL); }

bool HeartbeatFile::is_one(std::string_view head) {
  constexpr std::string_view kWords(kMagic.data(), kMagic.size());
  for (; !head.empty(); head.remove_prefix(std::min<std::size_t>(kPage, head.size()))) {
    if (head.starts_with(kWords)) return true;
  }
  return false;
}

HeartbeatFile::HeartbeatFile(FilePlace place) : place_(std::move(place)) {
  if (place_.lacks()) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                place_.path() +
                    " is not there, which rank 0 made: the watchdog needs a directory that is "
                    "the same for all ranks; set watchdog=0, or another directory");
  }
  file_ = place_.open(O_RDWR);
}

File HeartbeatFile::open_again(int flags) const noexcept {
  File again;
  const Failure elsewhere = failure_from([&] {
    again = place_.open(flags);
    if (id_of(again) != id_of(file_)) again.close();
  });
  if (elsewhere) again.close();
  return again;
}

void HeartbeatFile::write(std::int64_t rank, const Heartbeat& heartbeat) const {
  Wire wire{};
  wire.magic = kMagic;
  wire.beat = heartbeat.beat;
  wire.pid = heartbeat.process.pid;
  wire.start = heartbeat.process.start;
  wire.activity = heartbeat.activity;
  wire.ends = heartbeat.ends ? 1 : 0;
  put(wire.host, heartbeat.process.host);
  put(wire.machine, heartbeat.process.machine);
  wire.sum = sum_of(wire);
  const auto write = [&](const File& file) { file.write_all(&wire, sizeof wire, rank * kPage); };
  const File again = open_again(O_WRONLY);
  if (!again || failure_from([&] { write(again); })) write(file_);
}

// Each host writes this file, which hides from some kernels that others changed it, too.
HeartbeatFile::Look::Look(const HeartbeatFile& file) noexcept
    : file_(file), again_(file.open_again(O_RDONLY)) {
  file_system().drop_cached((again_ ? again_ : file_.file_).get());
}

std::optional<Heartbeat> HeartbeatFile::Look::read(std::int64_t rank) const noexcept {
  std::optional<Heartbeat> heartbeat;
  failure_from([&] {
    Wire wire{};
    const auto read = [&](const File& file) { file.read_all(&wire, sizeof wire, rank * kPage); };
    if (!again_ || failure_from([&] { read(again_); })) read(file_.file_);
    if (wire.beat == 0 || wire.sum != sum_of(wire)) return;
    heartbeat = Heartbeat{wire.beat,
                          {text_of(wire.host), text_of(wire.machine), wire.pid, wire.start},
                          wire.activity,
                          wire.ends != 0};
  });
  return heartbeat;
}

}  // namespace anadrome::store
