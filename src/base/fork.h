// SPDX-License-Identifier: BSD-2-Clause
// A child of fork has the memory of its parent and none of its threads: whatever waits for the I/O
// thread would wait for ever, and the files are the parent's.
#pragma once

namespace anadrome {

/// How often this process came out of fork as the child, its ancestors' forks included.
int forks() noexcept;

/// What was made in this process, or in one that it was forked from.
class MadeHere {
 public:
  bool holds() const { return forks_ == forks(); }

 private:
  int forks_ = forks();
};

}  // namespace anadrome
