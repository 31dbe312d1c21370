// SPDX-License-Identifier: BSD-2-Clause
#include "base/thread.h"

#include <system_error>
#include <utility>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/platform/platform.h"

namespace anadrome {

std::jthread start_thread(const char* name, const std::string& task,
                          std::function<void(const std::stop_token&)> serve) {
  try {
    std::jthread thread([serve = std::move(serve)](const std::stop_token& stop) {
      Arithmetic::set_default();
      serve(stop);
    });
    platform::name_thread(thread.native_handle(), name);
    return thread;
  } catch (const std::system_error& error) {
    throw Error(ANADROME_ERR_MEMORY,
                "cannot start the thread that " + task + ": " + errno_text(error.code().value()));
  }
}

}  // namespace anadrome
