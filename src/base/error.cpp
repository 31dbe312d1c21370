// SPDX-License-Identifier: BSD-2-Clause
#include "base/error.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include "base/plain_text.h"

namespace anadrome {
namespace {

constexpr const char* kNoMemory = "out of memory";  // short: std::string has room for it

std::string text_or_less(const char* text) noexcept {
  try {
    return text;
  } catch (...) {
    return kNoMemory;
  }
}

// The limit that a call ran into, by the name that it is raised by; "" where no limit was.
std::string limit_text(int error) {
  // In the unit of `ulimit`.
  const auto limit = [](decltype(RLIMIT_NOFILE) which, const char* name, rlim_t unit = 1) {
    struct rlimit now {};
    if (::getrlimit(which, &now) != 0 || now.rlim_cur == RLIM_INFINITY) return std::string(name);
    return name + std::string(" is ") + std::to_string(now.rlim_cur / unit);
  };
  constexpr rlim_t kKibibyte = 1024;
  switch (error) {
    case EMFILE:
      return " (" + limit(RLIMIT_NOFILE, "ulimit -n") + ": raise it, or close files)";
    case ENFILE:
      return " (the system's limit on open files, fs.file-max, is reached: close files)";
    case EAGAIN:
      return " (" + limit(RLIMIT_NPROC, "ulimit -u") + " for threads, " +
             limit_text(ENOMEM).substr(2);
    case ENOMEM:
      return " (" + limit(RLIMIT_AS, "ulimit -v", kKibibyte) +
             ": raise it, or the limits of the container or batch job)";
    case EFBIG:
      return " (" + limit(RLIMIT_FSIZE, "ulimit -f", kKibibyte) + ": raise it)";
    default:
      return "";
  }
}

}  // namespace

Error::Error(anadrome_status status, std::string_view message) noexcept : status_(status) {
  const std::size_t length = std::min(message.size(), sizeof text_ - 1);
  std::copy_n(message.data(), length, text_);
  text_[length] = '\0';
  make_plain(text_, length);
}

Failure::Failure(const Error& error) noexcept
    : status(error.status()), message(text_or_less(error.what())) {}

Failure::Failure(const Failure& other) noexcept
    : status(other.status), message(text_or_less(other.message.c_str())) {}

std::string errno_text(int error) {
  char buffer[256] = "unknown error";
  // Two incompatible strerror_r exist; overloads on the result pick the text of either.
  struct Text {
    static const char* of(const char* text, const char*) { return text; }
    static const char* of(int, const char* text) { return text; }
  };
  return Text::of(strerror_r(error, buffer, sizeof buffer), buffer) + limit_text(error);
}

anadrome_status status_of_errno(int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? ANADROME_ERR_NO_SPACE : ANADROME_ERR_IO;
}

Failure current_failure() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return Failure(error);
    } catch (const std::bad_alloc&) {
      return {ANADROME_ERR_MEMORY, kNoMemory};
    } catch (const std::system_error& error) {  // a thread or a lock that the system refused
      return {ANADROME_ERR_MEMORY, error.what()};
    } catch (const std::exception& error) {
      return {ANADROME_ERR_INTERNAL, error.what()};
    } catch (...) {
      return {ANADROME_ERR_INTERNAL, "unknown exception"};
    }
  } catch (...) {  // not even the message could be copied
    return {ANADROME_ERR_MEMORY, kNoMemory};
  }
}

const char* status_name(anadrome_status status) {
  switch (status) {
#define ANADROME_STATUS_NAME(name, value) \
  case name:                              \
    return #name;
    ANADROME_STATUSES(ANADROME_STATUS_NAME)
#undef ANADROME_STATUS_NAME
  }
  return "unknown anadrome_status";
}

}  // namespace anadrome
