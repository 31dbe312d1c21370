// How failures travel inside the library: thrown as Error, turned into a status at the C boundary.
#pragma once

#include <anadrome/anadrome.h>

#include <stdexcept>
#include <string>

namespace anadrome {

/// A failure with the status the caller gets and one line that says what failed, where, what to do.
class Error : public std::runtime_error {
 public:
  Error(anadrome_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  anadrome_status status() const { return status_; }

 private:
  anadrome_status status_;
};

/// A failure kept for later: what a thread or a local call met, reported at the next agreement.
struct Failure {
  anadrome_status status = ANADROME_OK;
  std::string message;
  explicit operator bool() const { return status != ANADROME_OK; }
};

/// "No space left on device" for an errno value, thread-safe.
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
