// SPDX-License-Identifier: BSD-2-Clause
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>

#include "base/error.h"
#include "tool/command.h"
#include "tool/output.h"
#include "tool/pictures/recorded_sweep.h"

namespace anadrome::tool {
namespace {

struct Files {
  std::string trace, output;
};

int draw(const Files& files) {
  errno = 0;
  std::ifstream trace(files.trace, std::ios::binary);
  if (!trace) {
    throw Error(ANADROME_ERR_ARGUMENT,
                files.trace + ": " + errno_text(errno == 0 ? EINVAL : errno));
  }
  const RecordedSweep sweep = read_trace(trace, files.trace);
  const auto picture = [&sweep](TextOut& out) { draw_timeline(sweep, out); };
  if (!files.output.empty()) {
    put_in_file("--svg", files.output, picture);
  } else {
    if (::isatty(STDOUT_FILENO) != 0) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "timeline: the picture would go to the terminal; give --svg FILE");
    }
    TextOut out(put_out);
    picture(out);
  }
  return kFine;
}

}  // namespace

Command add_timeline(CLI::App& tool) {
  const auto files = std::make_shared<Files>();
  CLI::App* command = tool.add_subcommand(
      "timeline", "Draw a run as SVG, from the file that its option trace=FILE wrote.");
  command->add_option("TRACE", files->trace, "The file of option trace, for example trace.json")
      ->required();
  command->add_option("--svg", files->output,
                      "The picture, for example timeline.svg (default: standard output)");
  return {command, [files] { return draw(*files); }};
}

}  // namespace anadrome::tool
