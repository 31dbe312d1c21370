// SPDX-License-Identifier: BSD-2-Clause
// As a client of a network file system whose kernel keeps what it read once, though other hosts
// write to the file.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "forwarding_file_system.h"

namespace anadrome::test {

/// For one file, which is read in the same pieces each time.
class CachingFileSystem final : public ForwardingFileSystem {
 public:
  ssize_t read(int descriptor, void* bytes, std::size_t count, off_t offset) override {
    std::string& piece = pieces_[{offset, count}];
    if (piece.empty()) {
      const ssize_t got = ForwardingFileSystem::read(descriptor, bytes, count, offset);
      if (got > 0) piece.assign(static_cast<char*>(bytes), static_cast<std::size_t>(got));
      return got;
    }
    return static_cast<ssize_t>(piece.copy(static_cast<char*>(bytes), count));
  }
  void drop_cached(int descriptor) override {
    pieces_.clear();
    ForwardingFileSystem::drop_cached(descriptor);
  }

 private:
  std::map<std::pair<off_t, std::size_t>, std::string> pieces_;
};

}  // namespace anadrome::test
