// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/run_id.h"

#include <sys/random.h>
#include <unistd.h>

#include <cstdio>

#include "base/checksum.h"
#include "base/clock.h"

namespace anadrome::engine {

RunId new_run_id(Ranks& ranks) {
  std::array<std::uint64_t, 2> id{};
  if (::getentropy(id.data(), sizeof id) != 0) {
    id[0] = static_cast<std::uint64_t>(now_seconds() * 1e9);
    id[1] = static_cast<std::uint64_t>(::getpid());
  }
  ranks.broadcast(std::as_writable_bytes(std::span(id)), 0);
  RunId text;
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(id[0]),
                static_cast<unsigned long long>(id[1]));
  return text;
}

RunWords words_of(const std::string& run_id) { return {hash_of(run_id), hash_of(run_id + "'")}; }

}  // namespace anadrome::engine
