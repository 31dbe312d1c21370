#include "tool/old_spellings.h"

#include <array>
#include <string_view>

namespace anadrome::tool {
namespace {

struct Moved {
  std::string_view word;  ///< an option, or what --schedule named
  const char* command;
};

// A question's own options come before those that it shared with others.
constexpr std::array kMoved = {
    Moved{"--objects", "solve objects"},
    Moved{"--start", "solve objects"},
    Moved{"--double", "solve double"},
    Moved{"--transfer-steps", "solve double"},
    Moved{"--offchip", "solve double"},
    Moved{"--single-recompute", "solve least_memory"},
    Moved{"--sizes", "solve least_memory"},
    Moved{"--accounting", "solve least_memory"},
    Moved{"--workspace", "solve least_memory"},
    Moved{"--fast-memory", "solve offload"},
    Moved{"--bandwidth", "solve offload"},
    Moved{"--duplex", "solve offload"},
    Moved{"--allow", "solve offload"},
    Moved{"offload", "solve offload"},
    Moved{"--branches", "solve join"},
    Moved{"--inputs", "solve join"},
    Moved{"--ends", "solve join"},
    Moved{"join", "solve join"},
    Moved{"--objective", "solve join, or solve least_memory"},
    Moved{"--graph", "solve graph"},
    Moved{"--family", "solve graph"},
    Moved{"--prefer", "solve graph"},
    Moved{"graph", "solve graph"},
    Moved{"uneven_tapes", "solve uneven_tapes"},
    Moved{"--abstract", "count"},
    Moved{"--actions", "count"},
    Moved{"--slots", "count"},
    Moved{"--disk-slots", "count"},
    Moved{"--interval", "count"},
    Moved{"--tape-slots", "count"},
    Moved{"--uf", "count"},
    Moved{"--ub", "count"},
    Moved{"--write", "count"},
    Moved{"--read", "count"},
    Moved{"--costs", "count uneven, solve offload or solve uneven_tapes"},
};

}  // namespace

std::string moved_spelling(std::span<const char* const> words) {
  if (words.empty() || words.front() != std::string_view("plan")) return "";
  for (const Moved& moved : kMoved) {
    std::string_view before;
    for (const std::string_view word : words.subspan(1)) {
      const bool named = before == "--schedule" || word.starts_with("--");
      const std::string_view name = word.starts_with("--") ? word.substr(0, word.find('=')) : word;
      if (named && name == moved.word) {
        const bool option = name.starts_with("--");
        return (option ? "" : "--schedule ") + std::string(name) +
               " is no option of anadrome plan: use anadrome " + moved.command;
      }
      before = word;
    }
  }
  return "";
}

}  // namespace anadrome::tool
