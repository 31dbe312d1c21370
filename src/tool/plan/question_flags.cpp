#include "tool/plan/question_flags.h"

namespace anadrome::tool {

void QuestionFlags::add_to(CLI::App& plan) {
  const char* group = "";
  const auto add = [&](const char* flag, std::string& text, const char* help) {
    plan.add_option(flag, text, help)->group(group);
  };
  group = "States, tapes, or both (--slots or --memory and --state; --tape-size)";
  add("--objects", objects, "state, tape or mixed: what is kept");
  add("--start", start, "charged: x_0 takes a slot; free: it does not (charged, tape: free)");
  group = "Two levels for fixed buffers (--steps; --tape-size in states)";
  plan.add_flag("--double", twice, "double checkpointing")->group(group);
  add("--transfer-steps", transfer_steps, "steps that a copy off chip takes");
  add("--offchip", off_chip, "states that fit off chip");
  group = "Least memory, no step more than twice";
  plan.add_flag("--single-recompute", single_recompute, "this question")->group(group);
  add("--objective", objective, "peak: this question; of --branches: joint (default) or reducible");
  add("--sizes", sizes, "file of the bytes of x_0 .. x_n");
  add("--accounting", accounting, "static: kept states stay to the end; released (default)");
  add("--workspace", workspace, "file of what the reversal of each step needs besides");
  group = "Keep, offload or recompute (--costs)";
  add("--fast-memory", fast_memory, "for all states at a time, as a in --costs");
  add("--bandwidth", bandwidth, "a per time, where --costs has no transfers");
  add("--duplex", duplex, "half (default): a write or a read at a time; full");
  add("--allow", allow, "offload,recompute (default), or one of them");
  group = "Branches that meet (--slots)";
  add("--branches", branches, "steps of each: 20,20,8");
  add("--inputs", inputs, "free (default): from elsewhere; charged: in slots from the start");
  add("--ends", ends, "pooled (default), or apart: in buffers of their own until the turn");
  group = "A step's own graph (--memory)";
  add("--graph", graph, "file of {\"nodes\": [{\"seconds\", \"bytes\"}], \"edges\": [[from, to]]}");
  add("--family", family, "all (default) sets of nodes; ancestors; in-order: bits stay");
  add("--prefer", prefer, "time (default) or memory");
}

}  // namespace anadrome::tool
