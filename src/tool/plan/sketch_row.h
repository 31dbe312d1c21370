// SPDX-License-Identifier: BSD-2-Clause
// What a sketch would take in place of states: a row beside the schedules, and no rival of theirs,
// since it gives an estimate, of some gradients only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tool/schedules/problems/what_if.h"

namespace anadrome::tool {

struct SketchRow {
  std::int64_t arrays = 0;     ///< each as large as a state; 0: nobody asked
  std::int64_t ram_bytes = 0;  ///< per rank
  double seconds = 0;          ///< every step and every adjoint step once
  bool runs = false;           ///< it fits in the memory
};

SketchRow sketch_row(const WhatIf& question, std::int64_t arrays);
/// How it is run, or why it cannot be.
std::string sketch_remark(const SketchRow& row);
nlohmann::ordered_json sketch_json(const SketchRow& row);

}  // namespace anadrome::tool
