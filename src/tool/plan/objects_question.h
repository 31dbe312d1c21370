// States, tapes or both in one memory, tapes of any size.
#pragma once

#include "tool/plan/question.h"

namespace anadrome::tool {

Question objects_question();

}  // namespace anadrome::tool
