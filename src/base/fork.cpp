// SPDX-License-Identifier: BSD-2-Clause
#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace anadrome {
namespace {

std::atomic<int> count{0};

}  // namespace

int forks() noexcept {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { ++count; });
  static_cast<void>(watched);
  return count;
}

}  // namespace anadrome
