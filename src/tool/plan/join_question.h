// Branches that meet in one objective.
#pragma once

#include "tool/plan/question.h"

namespace anadrome::tool {

Question join_question();

}  // namespace anadrome::tool
