#include "tool/runs/run_text.h"

#include <cstdint>

#include "base/byte_size.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;

// What files say may be anything: one line of it, without what moves a terminal's cursor.
std::string plain(std::string text) {
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < ' ' || code >= 127) letter = '?';
  }
  return text;
}

std::string word(const json& value) {
  if (value.is_null()) return "?";
  return plain(value.is_string() ? value.get<std::string>() : value.dump());
}

const char* explain(const std::string& state) {
  if (state == "live") return "a process is at work on it";
  if (state == "dead") return "its process ended before the run did";
  if (state == "stopped") return "it was closed after a commit, before its end";
  return "it ended, and kept its files";
}

}  // namespace

std::string describe_run(const json& run, bool verified) {
  const auto state = run["state"].get<std::string>();
  std::string text = run["path"].get<std::string>() + ": " + state + " (" + explain(state) + ")\n";
  text += "  run      " + word(run["run_id"]) + ", sweep " + word(run["sweep"]) + ", " +
          word(run["ranks"]) + " ranks, layout " + word(run["layout"]) + "\n";
  if (const json& holder = run["holder"]; !holder.is_null()) {
    text += "  holder   " + word(holder["text"]) + "\n";
  }
  text += "  on disk  " + std::to_string(run["files"].size()) + " files, " +
          format_bytes(run["bytes"].get<std::int64_t>()) + "\n";
  if (!run["anchors"].is_null()) {
    text += "  states   " + word(run["anchors"]) + " of " + word(run["steps"]) + " steps";
    if (!run["newest_step"].is_null()) {
      text += ", x_" + word(run["first_step"]) + " to x_" + word(run["newest_step"]);
    }
    text += "\n";
  }
  if (const json& resume = run["resume"]; !resume.is_null()) {
    const bool forward = resume["phase"] == "forward";
    text += "  resume   " +
            std::string(forward ? "forward sweep, from step "
                                : "reverse sweep, to be adjoined up to step ") +
            word(resume["position"]) + " (generation " + word(resume["generation"]) + ")\n";
  }
  const auto checked = run["blocks_checked"].get<std::int64_t>();
  const auto unchecked = run["blocks_unchecked"].get<std::int64_t>();
  if (verified && state == "live") {
    text += "  the states of a live run were not read: they change\n";
  } else if (verified) {
    text += "  read     " + std::to_string(checked) + " blocks";
    const auto adjoints = run["adjoints_checked"].get<std::int64_t>();
    if (adjoints > 0)
      text +=
          ", adjoint fields of " + std::to_string(adjoints) + (adjoints == 1 ? " rank" : " ranks");
    if (unchecked > 0) text += ", " + std::to_string(unchecked) + " more have no checksum";
    text += "\n";
  }
  for (const json& problem : run["problems"]) text += "  problem  " + word(problem) + "\n";
  for (const json& file : run["files"]) {
    for (const json& problem : file["problems"]) {
      text += "  problem  " + word(file["name"]) + ": " + word(problem) + "\n";
    }
    for (const json& note : file["notes"]) {
      text += "  note     " + word(file["name"]) + ": " + word(note) + "\n";
    }
  }
  if (state != "live") {
    text += run["healthy"].get<bool>() ? "  healthy\n" : "  not healthy\n";
  }
  return text;
}

}  // namespace anadrome::tool
