// SPDX-License-Identifier: BSD-2-Clause
// A sweep under the rules of rules.h: every action is carried out on numbers before the caller has
// it. For debug builds and those with sanitizers (ANADROME_CHECK_RULES).
#pragma once

#include <memory>

#include "schedule/branch_sweep.h"
#include "schedule/list_sweep.h"
#include "schedule/pass_sweep.h"
#include "schedule/rules.h"
#include "schedule/stack_sweep.h"

namespace anadrome::schedule {

RuleOptions rules_of(const StackOptions& options, const Planner& planner);
RuleOptions rules_of(const ListOptions& options);
RuleOptions rules_of(const BranchOptions& options);

/// `sweep`, which has these options, under the rules where the build wants it.
std::unique_ptr<Sweep> checked(std::unique_ptr<StackSweep> sweep, const StackOptions& options);
std::unique_ptr<Sweep> checked(std::unique_ptr<ListSweep> sweep, const ListOptions& options);
std::unique_ptr<Sweep> checked(std::unique_ptr<BranchSweep> sweep, const BranchOptions& options);
std::unique_ptr<Sweep> checked_passes(const Remains& remains);

}  // namespace anadrome::schedule
