// The flags of `anadrome plan`, as they were written, and the questions they ask.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tool/plan/problem.h"
#include "tool/plan/question_flags.h"
#include "tool/plan/what_if.h"

namespace anadrome::tool {

struct PlanFlags {
  CLI::App* app = nullptr;
  std::string steps, schedule;
  bool json = false;
  // what if
  std::string state, memory, step_time, adjoint_time,
      ranks = "1", write_rate, read_rate, disk = "unlimited", tape_size, stiff = "0", svg;
  // in the abstract
  bool abstract = false, actions = false;
  std::string slots, disk_slots, interval, uf = "1", ub = "0", write = "0", read = "0", tape_slots,
                                           costs;
  QuestionFlags own;  ///< of the questions of question.h

  void add_to(CLI::App& plan);
  /// Throws ERR_ARGUMENT on a flag that has no meaning with or without --abstract.
  void check() const;
  /// Both throw ERR_ARGUMENT, naming the flag.
  WhatIf what_if() const;
  Problem problem() const;

  bool given(const char* flag) const { return app->count(flag) > 0; }
  /// Throws ERR_ARGUMENT if it was not given.
  void need(const char* flag) const;
};

}  // namespace anadrome::tool
