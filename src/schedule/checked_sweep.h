// SPDX-License-Identifier: BSD-2-Clause
// A sweep under the rules of rules.h: every action is carried out on numbers before the caller has
// it. For debug builds and those with sanitizers (ANADROME_CHECK_RULES).
#pragma once

#include <memory>

#include "schedule/passes/pass_sweep.h"
#include "schedule/stack/stack_sweep.h"
#include "schedule/words/rules.h"

namespace anadrome::schedule {

RuleOptions rules_of(const StackOptions& options, const Planner& planner);

/// `sweep` under these rules, where the build wants it.
std::unique_ptr<Sweep> checked(std::unique_ptr<Sweep> sweep, const RuleOptions& rules);
std::unique_ptr<Sweep> checked_passes(const Remains& remains);

}  // namespace anadrome::schedule
