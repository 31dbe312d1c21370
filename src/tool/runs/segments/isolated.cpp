// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/isolated.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kWaits = 20;

void limit(decltype(RLIMIT_CPU) resource, rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

[[noreturn]] void serve(int out, std::int64_t seconds, const std::function<std::string()>& body) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<rlim_t>(seconds));
  ::alarm(static_cast<unsigned>(kWaits * seconds));  // what it waits for takes no time of its own
#ifndef __SANITIZE_ADDRESS__                         // its shadow takes terabytes of address space
  limit(RLIMIT_AS, rlim_t{4} << 30);
#endif
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  int code = 1;
  try {
    const std::string text = body();
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t more = ::write(out, text.data() + sent, text.size() - sent);
      if (more <= 0 && errno != EINTR) break;
      if (more > 0) sent += size(more);
    }
    code = sent == text.size() ? 0 : 1;
  } catch (...) {  // the parent learns it from the exit code
  }
  ::_exit(code);
}

}  // namespace

std::string in_child(const std::string& what, std::int64_t seconds,
                     const std::function<std::string()>& body) {
  std::array<int, 2> ends;
  if (::pipe(ends.data()) != 0) {
    throw Error(ANADROME_ERR_IO, "cannot make a pipe to a child: " + errno_text(errno));
  }
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw Error(ANADROME_ERR_MEMORY, "cannot start a child: " + errno_text(errno));
  }
  if (child == 0) {
    ::close(ends[0]);
    serve(ends[1], seconds, body);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t got = ::read(ends[0], piece.data(), piece.size());
    if (got > 0) text.append(piece.data(), size(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  throw Error(ANADROME_ERR_CORRUPT,
              what + " cannot be read as HDF5: " +
                  (WIFSIGNALED(status)
                       ? std::string("the attempt ended with ") + ::strsignal(WTERMSIG(status))
                       : std::string("the attempt failed")));
}

}  // namespace anadrome::tool
