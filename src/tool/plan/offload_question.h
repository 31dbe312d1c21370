// Keep, offload or recompute each state of an uneven chain.
#pragma once

#include "tool/plan/question.h"

namespace anadrome::tool {

Question offload_question();

}  // namespace anadrome::tool
