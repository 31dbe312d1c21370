// SPDX-License-Identifier: BSD-2-Clause
// Files whose bytes move at the last moment that is allowed: when somebody waits for them. Memory
// that is used for something else before that shows as wrong bytes, each time.
#pragma once

#include <atomic>

#include "forwarding_file_system.h"

namespace anadrome::test {

class LateFileSystem final : public ForwardingFileSystem {
 public:
  void start(store::FileTransfer& transfer) override {
    transfer.pending = true;
    ++under_way_;
  }
  void finish(store::FileTransfer& transfer) override {
    if (!transfer.pending) return;
    store::FileSystem::start(transfer);
    transfer.pending = false;
    --under_way_;
  }
  /// Transfers for which nobody has waited yet.
  int under_way() const { return under_way_; }

 private:
  std::atomic<int> under_way_ = 0;
};

}  // namespace anadrome::test
