// SPDX-License-Identifier: BSD-2-Clause
// How failures travel inside the library: thrown as Error, turned into a status at the C boundary.
#pragma once

#include <anadrome/status.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace anadrome {

/// A failure with the status the caller gets and one line that says what failed, where, what to do.
/// The line is kept in place, cut if it is long: an error can be thrown where memory has run out.
class Error : public std::exception {
 public:
  Error(anadrome_status status, std::string_view message) noexcept;
  anadrome_status status() const { return status_; }
  const char* what() const noexcept override { return text_; }

 private:
  anadrome_status status_;
  char text_[1000];
};

/// A failure kept for later: what a thread or a local call met, reported at the next agreement.
/// Copies are made between collective calls, so they never throw: without memory only the message
/// is lost.
struct Failure {
  Failure() = default;
  Failure(anadrome_status failed, std::string text) noexcept
      : status(failed), message(std::move(text)) {}
  explicit Failure(const Error& error) noexcept;
  Failure(const Failure& other) noexcept;
  Failure(Failure&& other) noexcept = default;
  Failure& operator=(const Failure& other) noexcept { return *this = Failure(other); }
  Failure& operator=(Failure&& other) noexcept = default;
  ~Failure() = default;

  anadrome_status status = ANADROME_OK;
  std::string message;
  explicit operator bool() const { return status != ANADROME_OK; }
};

/// "No space left on device" for an errno value, thread-safe; with the limit that was reached,
/// where that is one: "Too many open files (ulimit -n is 1024: raise it, or close files)".
std::string errno_text(int error);

/// The status that fits a failed file operation: ERR_NO_SPACE for a full disk or quota, else
/// ERR_IO.
anadrome_status status_of_errno(int error);

/// The failure in flight, for catch (...) blocks; never throws.
Failure current_failure() noexcept;

/// Runs `body`; what it throws comes back as a Failure.
template <class Body>
Failure failure_from(Body&& body) {
  try {
    body();
    return {};
  } catch (...) {
    return current_failure();
  }
}

const char* status_name(anadrome_status status);

}  // namespace anadrome
