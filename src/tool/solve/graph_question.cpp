// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <array>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "planners/graph/graph_planner.h"
#include "tool/pictures/sweep_picture.h"

namespace anadrome::tool {
namespace {

using schedule::GraphAction;
using schedule::GraphKind;
using schedule::GraphOptions;
using schedule::GraphPlan;
using schedule::StepGraph;

[[noreturn]] void wrong(const std::string& what) {
  throw Error(ANADROME_ERR_ARGUMENT, "--graph: " + what);
}

std::int64_t number_in(const nlohmann::json& json) {
  if (!json.is_number_integer() || json.get<std::int64_t>() < 0) {
    wrong("times, sizes and nodes are whole numbers from 0 on");
  }
  return json.get<std::int64_t>();
}

// {"nodes": [{"seconds", "bytes"}], "edges": [[from, to]]}.
StepGraph graph_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto has_list = [&json](const char* key) {
    return json.contains(key) && json[key].is_array();
  };
  if (!json.is_object() || !has_list("nodes") || !has_list("edges")) {
    wrong("expected a JSON object with \"nodes\" and \"edges\"");
  }
  StepGraph graph;
  for (const auto& node : json["nodes"]) {
    if (!node.is_object() || !node.contains("seconds") || !node.contains("bytes")) {
      wrong("a node has \"seconds\" and \"bytes\"");
    }
    graph.seconds.push_back(number_in(node["seconds"]));
    graph.bytes.push_back(number_in(node["bytes"]));
  }
  graph.before.resize(graph.bytes.size());
  for (const auto& edge : json["edges"]) {
    if (!edge.is_array() || edge.size() != 2) wrong("an edge is [from, to]");
    const std::int64_t from = number_in(edge[0]), to = number_in(edge[1]);
    if (std::max(from, to) >= graph.nodes()) wrong("an edge goes to a node that is not there");
    graph.before[at(to)].push_back(static_cast<std::int32_t>(from));
  }
  return graph;
}

// Nodes in their order of running against time; the adjoint of one takes as long as itself.
SpanPicture picture_of(const StepGraph& graph, const GraphPlan& plan) {
  SpanPicture picture;
  std::vector<std::int64_t> row(graph.bytes.size());
  std::int64_t next = 0;
  for (const std::int32_t v : schedule::order_of(graph)) row[at(v)] = next++;
  picture.last_step = next;
  for (const GraphAction& action : plan.actions) {
    if (action.kind == GraphKind::kDrop) continue;
    const auto v = static_cast<std::size_t>(action.node);
    const double end = picture.seconds + real(graph.seconds[v]);
    const bool back = action.kind == GraphKind::kBackward;
    const Doing doing = back                                   ? Doing::kAdjoint
                        : action.kind == GraphKind::kRecompute ? Doing::kRecompute
                                                               : Doing::kAdvance;
    picture.spans.push_back(
        {doing, picture.seconds, end, row[v] + (back ? 1 : 0), row[v] + (back ? 0 : 1)});
    picture.seconds = end;
  }
  return picture;
}

struct GraphAsked {
  std::string file, family = "all", prefer = "time";
  std::int64_t memory = 0;
};

schedule::SetFamily family_of(const std::string& name) {
  if (name == "ancestors") return schedule::SetFamily::kAncestors;
  return name == "in-order" ? schedule::SetFamily::kInOrder : schedule::SetFamily::kAll;
}

Answer answer(const GraphAsked& asked) {
  const StepGraph graph = graph_of(text_of_file("--graph", asked.file));
  const std::int64_t bytes = asked.memory;
  GraphOptions options;
  options.family = family_of(asked.family);
  options.prefer_memory = asked.prefer == "memory";
  options.skip_last = false;
  const auto published = schedule::plan_graph(graph, bytes, options);
  options.skip_last = true;
  const auto plan = schedule::plan_graph_within(graph, bytes, options);
  Answer answer;
  nlohmann::ordered_json& json = answer.json;
  json["schedule"] = "graph";
  json["nodes"] = graph.nodes();
  json["family"] = asked.family;
  json["memory"] = bytes;
  // By the published account of memory, and with the last set recomputed.
  json["overhead"] = published ? nlohmann::ordered_json(published->overhead) : nullptr;
  json["cost"] = plan ? nlohmann::ordered_json(plan->overhead) : nullptr;
  json["peak"] = plan ? nlohmann::ordered_json(plan->peak) : nullptr;
  json["sets"] = nlohmann::ordered_json::array();
  answer.possible = plan || published;
  if (!plan) return answer;
  for (const auto& set : plan->sets) json["sets"].push_back(set);
  answer.write_actions = [plan](TextOut& out) {
    for (const GraphAction& action : plan->actions) {
      constexpr std::array kWords = {"forward", "drop", "recompute", "backward"};
      out.put("{\"action\": \"").put(kWords[static_cast<std::size_t>(action.kind)]);
      out.put("\", \"node\": ").integer(action.node).put("}\n");
    }
    out.flush();
  };
  answer.draw = [plan, graph, bytes](TextOut& out) {
    SpanPicture picture = picture_of(graph, *plan);
    picture.title = "graph: a step of " + std::to_string(graph.nodes()) + " nodes";
    picture.remark = std::to_string(plan->overhead) + " recomputed, a peak of " +
                     std::to_string(plan->peak) + " of " + std::to_string(bytes) + " bytes";
    picture.axis = "node";
    draw_spans(picture, out);
  };
  return answer;
}

Ask add_graph_options(Options& options) {
  const auto asked = std::make_shared<GraphAsked>();
  options
      .file(
          "--graph", asked->file,
          {"a step: {\"nodes\": [{\"seconds\", \"bytes\"}], \"edges\": [[from, to]]}", "step.json"})
      ->required();
  options.bytes("--memory", asked->memory, 0, {"memory limit", "2GiB"})->required();
  options.word(
      "--family", asked->family, {"all", "ancestors", "in-order"},
      {"the sets of nodes considered; in-order: the bits do not change", "in-order", "all"});
  options.word("--prefer", asked->prefer, {"time", "memory"},
               {"the quantity to minimise", "memory", "time"});
  return [asked] { return answer(*asked); };
}

}  // namespace

Question graph_question() {
  return {"graph", "The nodes of one step to recompute, so that its adjoint fits in a memory.",
          "--graph step.json --memory 20", add_graph_options};
}

}  // namespace anadrome::tool
