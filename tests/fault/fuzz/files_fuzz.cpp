// SPDX-License-Identifier: BSD-2-Clause
// What a run asks of the files in a directory where anybody may write, under libFuzzer: whose each
// is, what a lock says, and heartbeats. The first byte of the input says what the rest lies there
// as; the sum of a lock is put right, too, since mutation alone never gets past it.
#include <fcntl.h>
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/plain_text.h"
#include "store/directory/heartbeat_file.h"
#include "store/directory/lock_record.h"
#include "store/directory/run_files.h"
#include "store/files/directory.h"

namespace {

using namespace anadrome;
using namespace anadrome::store;

constexpr std::array kNames = {"lock",           "lock",      "journal-000000",
                               "adjoint-000000", "states.h5", "heartbeats-0af9"};
constexpr std::size_t kForged = 1;

void require(bool condition) {
  if (!condition) std::abort();
}

const Directory& directory() {
  static const Directory held = [] {
    static std::string path = "/dev/shm/anadrome_fuzz.XXXXXX";
    require(::mkdtemp(path.data()) != nullptr);
    std::atexit([] {
      for (const char* name : kNames) ::unlink((path + "/" + name).c_str());
      ::rmdir(path.c_str());
    });
    return Directory::open(path);
  }();
  return held;
}

void read_record() {
  const File lock = directory().open_file(kLockName, O_RDONLY);
  const LockRecord record = read_lock(lock);
  require(record.heartbeat >= 0 && record.since >= 0 && record.adjoints >= 0);
  const std::string holder = describe_holder(record, calendar_seconds());
  require(plain(holder) == holder);
  is_live(record, Flock::kTaken, calendar_seconds());
}

void read_heartbeats(const std::string& name) {
  const HeartbeatFile file(FilePlace(directory(), name));
  for (const std::int64_t rank : {0, 1, 2})
    if (const auto heartbeat = file.read(rank)) require(heartbeat->beat != 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t what = bytes[0] % kNames.size();
  const std::string name = kNames[what];
  std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  if (what == kForged) text += "sum " + std::to_string(hash_of(text)) + "\n";
  std::ofstream(directory().path_of(name), std::ios::binary) << text;
  const RunFiles files(directory());
  const Failure refused = failure_from([&] { files.require_made(); });
  if (files.made(name)) require(files.foreign().empty() && !refused);
  require(files.ranks_with_adjoints() >= 0);
  if (name == kLockName) read_record();
  if (kind_of(name) == FileKind::kHeartbeats) read_heartbeats(name);
  directory().unlink(name);
  return 0;
}
