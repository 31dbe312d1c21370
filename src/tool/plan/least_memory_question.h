// The least memory for a reversal that runs no step more than twice.
#pragma once

#include "tool/plan/question.h"

namespace anadrome::tool {

Question least_memory_question();

}  // namespace anadrome::tool
