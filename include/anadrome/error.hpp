// SPDX-License-Identifier: BSD-2-Clause
// The exception of the C++ headers. No MPI needed.
#ifndef ANADROME_ERROR_HPP
#define ANADROME_ERROR_HPP

#include <anadrome/status.h>

#include <stdexcept>
#include <string>

namespace anadrome {
// Inline, so that none of these names meets one of the library's own in a static program.
inline namespace client {

/** A call that did not succeed: its status, and what() says what failed, where, and what to do. */
class Error : public std::runtime_error {
 public:
  /** The failure that anadrome_last_error() is about. */
  explicit Error(anadrome_status status)
      : std::runtime_error(std::string(anadrome_status_name(status)) + ": " +
                           anadrome_last_error()),
        status_(status) {}
  /** A failure that C did not see. */
  Error(anadrome_status status, const std::string& why)
      : std::runtime_error(std::string(anadrome_status_name(status)) + ": " + why),
        status_(status) {}

  /** Which failure; ANADROME_STOPPED if some rank asked to stop. */
  anadrome_status status() const noexcept { return status_; }

 private:
  anadrome_status status_;
};

/// @cond private
namespace detail {

inline void check(anadrome_status status) {
  if (status != ANADROME_OK) throw Error(status);
}

}  // namespace detail
/// @endcond

}  // namespace client
}  // namespace anadrome

#endif
