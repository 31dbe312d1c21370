// SPDX-License-Identifier: BSD-2-Clause
// A directory of a test's own, removed with everything in it.
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace anadrome::store {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* base = std::getenv("ANADROME_TEST_DIRECTORY");
    path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/unit_store.XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create " + path_);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

}  // namespace anadrome::store
