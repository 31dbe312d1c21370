// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/nested_picture.h"

namespace anadrome::tool {

void draw_nested(const char* name, const std::string& remark, const Problem& sweep,
                 const Counts& counts, const std::function<ActionSource()>& actions, TextOut& out) {
  WhatIf question;
  question.steps = sweep.record ? sweep.steps : sweep.steps - 1;
  question.state_bytes = 1;
  question.forward = 1;
  question.adjoint = 2;
  question.write_rate = question.read_rate = 4;
  question.tape_bytes = sweep.record ? 1 : 0;
  Estimate estimate;
  estimate.schedule = name;
  estimate.sweep = sweep;
  estimate.counts = counts;
  price(estimate, question, sweep.disk_slots);
  estimate.remark = remark;
  draw_sweep(actions, question, estimate, out);
}

}  // namespace anadrome::tool
