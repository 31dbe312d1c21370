// SPDX-License-Identifier: BSD-2-Clause
#include "tool/plan/sketch_row.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "sketch/sketch.h"
#include "tool/exact_json.h"

namespace anadrome::tool {

SketchRow sketch_row(const WhatIf& question, std::int64_t arrays) {
  const std::int64_t count = ceil_divide(question.state_bytes, sizeof(double));
  SketchRow row;
  row.arrays = arrays;
  row.ram_bytes = sketch::bytes_of({count, arrays, ANADROME_SKETCH_COUNT}, ANADROME_FLOAT64);
  row.seconds = question.ideal_seconds();
  row.runs = row.ram_bytes <= question.memory;
  return row;
}

std::string sketch_remark(const SketchRow& row) {
  if (!row.runs) return "needs " + format_bytes(row.ram_bytes) + " of memory per rank";
  return counted(row.arrays, "array") +
         " as large as a state; an estimate of gradients that are a sum over steps, and wrong "
         "where the adjoint needs the states";
}

nlohmann::ordered_json sketch_json(const SketchRow& row) {
  nlohmann::ordered_json json = {{"arrays", exact_json(wide(row.arrays))}, {"runs", row.runs}};
  if (!row.runs) {
    json["why_not"] = sketch_remark(row);
    return json;
  }
  json["seconds"] = row.seconds;
  json["ram_bytes"] = exact_json(wide(row.ram_bytes));
  json["remark"] = sketch_remark(row);
  return json;
}

}  // namespace anadrome::tool
