// Double checkpointing: two levels with static loops.
#pragma once

#include "tool/plan/question.h"

namespace anadrome::tool {

Question double_question();

}  // namespace anadrome::tool
