// Recomputation within one step.
#pragma once

#include "tool/plan/question.h"

namespace anadrome::tool {

Question graph_question();

}  // namespace anadrome::tool
