// The flags of questions that have another shape than steps and slots: tapes or states, sizes,
// branches, a link, a graph. As they were written.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace anadrome::tool {

struct QuestionFlags {
  std::string objects, start;                             // states, tapes
  std::string transfer_steps, off_chip;                   // double
  std::string sizes, accounting = "released", workspace;  // least memory
  std::string fast_memory, bandwidth, duplex = "half", allow = "offload,recompute";  // offload
  std::string branches, inputs = "free", ends = "pooled";                            // join
  std::string graph, family = "all", prefer = "time";                                // graph
  std::string objective;
  bool twice = false, single_recompute = false;

  void add_to(CLI::App& plan);
};

}  // namespace anadrome::tool
