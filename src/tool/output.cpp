#include "tool/output.h"

#include <cerrno>
#include <cstdio>

#include "base/error.h"

namespace anadrome::tool {

void put_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(status_of_errno(errno), "standard output: " + errno_text(errno));
  }
}

}  // namespace anadrome::tool
